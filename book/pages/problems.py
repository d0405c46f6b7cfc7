"""All back-of-the-envelope problems and exercises of the book on one page, each with a link to its place.

```{problems}
```

A problem is an admonition whose title begins with "Back-of-the-envelope problem"; an exercise is an item of a numbered
list below the heading "Exercises". Both are listed whole, but for what is folded. Each page notes its own when it is
read; the page that lists them is written after all are read.
"""

from collections.abc import Sequence
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util.nodes import traverse_parent
from sphinx_design.shared import is_component

from book import FRAMEWORKS
from book.pages.lists import Listing, copies, places_of, resolved
from book.pages.tabs import framework_of
from book.words import say

ENVELOPE, EXERCISE = "envelope", "exercise"  # kinds of problems, with which their ids begin
QUESTION = ("?", "？")
# In the metadata of a page: a list of (kind, name, framework or None, id, paragraphs).
KEY = "problems"


class NoteProblems(SphinxTransform):
    """Give each problem of a page a place that a link can lead to, and note it."""

    default_priority = 850

    def apply(self, **kwargs: Any) -> None:
        problems: list[tuple[Any, ...]] = []
        for box in self.document.findall(nodes.admonition):
            beginning = say("Back-of-the-envelope problem")
            if box[0].astext().startswith(beginning):
                title = box[0].astext().removeprefix(beginning).lstrip(": ：")
                problems.append(self.noted(ENVELOPE, title[:1].upper() + title[1:], box, len(problems) + 1))
        for section in self.document.findall(nodes.section):
            if section[0].astext() == say("Exercises"):
                for listed in section.findall(nodes.enumerated_list):
                    problems += self.exercises(listed)
        if problems:
            self.env.metadata[self.env.docname][KEY] = problems

    def exercises(self, listed: Any) -> list[tuple[Any, ...]]:
        """Return what is noted of the items of a list; a list within a solution or an item holds no exercises."""
        if any(isinstance(up, nodes.list_item) or is_component(up, "dropdown") for up in traverse_parent(listed)):
            return []
        numbers = range(listed.get("start", 1), listed.get("start", 1) + len(listed))
        return [self.noted(EXERCISE, str(number), item, number) for number, item in zip(numbers, listed, strict=True)]

    def noted(self, kind: str, name: str, node: Any, number: int) -> tuple[Any, ...]:
        """Give the node of a problem an id; return what is noted of it."""
        framework = next(filter(None, map(framework_of, traverse_parent(node))), None)
        place = nodes.make_id("-".join(filter(None, (kind, str(number), framework))))
        node["ids"].append(place)
        asked = [part for part in node if not isinstance(part, nodes.title) and not is_component(part, "dropdown")]
        return kind, name, framework, place, copies(asked)


def list_problems(app: Sphinx, document: nodes.document, page: str) -> None:
    for place in places_of(document, "problems"):
        sections = app.env.toctree_includes.get(app.config.root_doc, [])
        place.parent.replace(
            place, [listed(app, page, section) for section in sections if KEY in app.env.metadata[section]]
        )


def listed(app: Sphinx, page: str, section: str) -> nodes.section:
    """Return the lists of a section under its title, with links that start from `page`."""
    node = nodes.section("", nodes.title("", app.env.titles[section].astext()), ids=[nodes.make_id(section)])
    for kind, title in ((ENVELOPE, say("Back-of-the-envelope problems")), (EXERCISE, say("Exercises"))):
        problems = [problem for word, *problem in app.env.metadata[section][KEY] if word == kind]
        only = app.config.d2l_only
        entries = [
            entry(app, page, section, *problem) for problem in problems if not only or problem[1] in (None, only)
        ]
        node += [nodes.rubric("", title), nodes.bullet_list("", *entries)] if entries else []
    return node


def entry(
    app: Sphinx, page: str, section: str, name: str, framework: str | None, place: str, asked: Sequence[Any]
) -> nodes.list_item:
    address = app.builder.get_relative_uri(page, section) + (f"?tab={framework}#" if framework else "#") + place
    link = nodes.reference("", title_of(name), refuri=address, internal=True)
    owner = "" if app.config.d2l_only else framework
    words = say(" ({framework})", framework=FRAMEWORKS[owner]) if owner else ""
    words += " " if name.endswith(QUESTION) else say(": ")
    first, *others = (resolved(app, page, section, node) for node in asked)
    return nodes.list_item("", nodes.paragraph("", "", link, nodes.Text(words), *first.children), *others)


def title_of(name: str) -> str:
    """Return what a problem is called outside its section: an exercise has a number for its name."""
    return say("Exercise {number}", number=name) if name.isdigit() else name


def setup(app: Sphinx) -> None:
    app.add_directive("problems", Listing)
    app.add_transform(NoteProblems)
    app.connect("doctree-resolved", list_problems, priority=400)  # before words are linked (500)
