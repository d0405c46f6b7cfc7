"""What stands one click away: stubs of exercises with their checks, solutions, and code that only claims or draws.

Neighbouring cells tagged `solution`, of prose and of code, for everybody or for one framework, become one fold, and so
do those tagged `exercise`.
"""

from collections.abc import Sequence
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx_design.shared import create_component

from book.pages.tabs import framework_of, frameworks_of, gather, results_after
from book.words import say


def fold(
    title: str, children: Sequence[nodes.Node], opened: bool = False, classes: Sequence[str] = ()
) -> nodes.Element:
    """Return a fold; builders that cannot fold show its title and its children one below the other."""
    parts = [nodes.rubric("", title), *children]
    settings: dict[str, Any] = {"opened": opened, "type": "dropdown", "has_title": True, "icon": None, "chevron": None}
    settings |= {"container_classes": list(classes), "title_classes": [], "body_classes": []}
    return create_component("dropdown", children=parts, **settings)


class FoldCode(SphinxTransform):
    """Show what a cell of nothing but claims, or one that only draws, has found, and fold its code."""

    default_priority = 194  # before solutions and tabs are gathered, while a cell's outputs still follow it

    def apply(self, **kwargs: Any) -> None:
        titles = {"tag_claims": say("how it is checked"), "tag_drawing": say("how it is drawn")}
        for cell in list(self.document.findall(nodes.container)):
            title = next((words for tag, words in titles.items() if tag in cell["classes"]), "")
            if not title:
                continue
            code = [part for part in cell if part["nb_element"] == "cell_code_source"]
            results = results_after(cell)
            if not code or (len(cell) == len(code) and not results):
                continue  # an output, or a cell that did not run: its code is all there is
            for part in [*results, *code]:
                part.parent.remove(part)
            cell.extend([*results, fold(title, code, classes=["how"])])


def folds_of(parts: Sequence[Any], frameworks: Sequence[str]) -> list[nodes.Element]:
    """Return the fold of a solution; one for each framework where not all of `frameworks` have a part of it."""
    owners = {framework_of(part) for part in parts}
    if None in owners or owners >= set(frameworks):
        return [folded(parts)]
    found: list[nodes.Element] = []
    for name in [name for name in frameworks if name in owners]:
        own = [part for part in parts if framework_of(part) == name]
        for part in own:
            part["classes"].remove(f"tag_{name}")  # the fold around it says so
        found.append(nodes.container("", folded(own), classes=["prose", f"tag_{name}"]))
    return found


def folded(parts: Sequence[Any]) -> nodes.Element:
    inside: list[nodes.Node] = []
    for part in parts:
        everybodys = "prose" in part["classes"] and framework_of(part) is None
        inside += part.children if everybodys else [part]
    return fold(say("Solution"), inside, classes=["solution"])


class GatherFolds(SphinxTransform):
    """Put each exercise, a stub and what checks it with what they printed, into one fold, and each solution too."""

    default_priority = 195  # while cells are still children of sections, before the tabs are gathered

    def apply(self, **kwargs: Any) -> None:
        frameworks, title = frameworks_of(self.document), say("Check your code")
        cells = list(self.document.findall(nodes.container))
        stubs = [cell for cell in cells if "tag_exercise" in cell["classes"]]
        exercises = {id(part) for cell in stubs for part in [cell, *results_after(cell)]}
        solutions = {id(cell) for cell in cells if "tag_solution" in cell["classes"]}
        gather(
            self.document, lambda node: id(node) in exercises, lambda parts: [fold(title, parts, classes=["exercise"])]
        )
        gather(self.document, lambda node: id(node) in solutions, lambda parts: folds_of(parts, frameworks))


class LightMarkers(SphinxPostTransform):
    """Leave the arrow of a fold to the style sheet: sphinx-design repeats its drawing in each."""

    default_priority = 200  # behind sphinx-design's own (199)
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        for node in self.document.findall(nodes.inline):
            if "sd-summary-state-marker" in node["classes"]:
                node.clear()


def setup(app: Sphinx) -> None:
    app.add_transform(FoldCode)
    app.add_transform(GatherFolds)
    app.add_post_transform(LightMarkers)
