"""Answers and solutions as notes at the end of a page, with links both ways, where a builder has no folds to click."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx_design.shared import is_component

from book.pages.problems import KEY, title_of
from book.words import say


def is_note(node: Any) -> bool:
    """Tell whether a node is the fold of an answer or a solution."""
    return is_component(node, "dropdown") and node["has_title"] and node[0].astext() in (say("Answer"), say("Solution"))


class MoveAnswers(SphinxPostTransform):
    """Put a link where an answer stood, and the answer into a section at the end of the page."""

    default_priority = 195  # when the tabs are flat (190), and the folds are no <details> yet (199)
    builders = ("epub",)

    def run(self, **kwargs: Any) -> None:
        problems = self.env.metadata[self.env.docname].get(KEY, [])
        known = {place: title_of(name) for _, name, _, place, _ in problems}
        problem = ""
        notes: list[nodes.container] = []
        for node in list(self.document.findall(nodes.Element)):
            problem = next((known[each] for each in node.get("ids", ()) if each in known), problem)
            if is_note(node):
                notes.append(moved(node, problem or node[0].astext(), len(notes) + 1))
        page = next(self.document.findall(nodes.section), None)
        if notes and page is not None:
            heading = nodes.rubric("", say("Answers and Solutions"))  # a title would be numbered as the page is
            heading["heading-level"] = 2
            page += nodes.section("", heading, *notes, ids=["answers"], classes=["answers"])


def moved(fold: Any, problem: str, number: int) -> nodes.container:
    """Put a link in the place of a fold; return the note, which has a link back."""
    here, there = f"to-answer-{number}", f"answer-{number}"
    forth = nodes.reference("", fold[0].astext(), refid=there, internal=True)
    fold.parent.replace(fold, nodes.paragraph("", "", forth, ids=[here], classes=["to-note"]))
    back = nodes.reference("", problem, refid=here, internal=True)
    title = nodes.paragraph("", "", back, classes=["note-title"])
    return nodes.container("", title, *fold.children[1:], ids=[there], classes=["endnote"])


def setup(app: Sphinx) -> None:
    app.add_post_transform(MoveAnswers)
