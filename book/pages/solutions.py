"""What stands one click away: the solutions of exercises, and code that only claims or draws.

A solution may be told in a dropdown titled "Solution", for everybody or for each framework, and shown in code cells
tagged `solution`. Neighbours of that kind become one fold, with text, code and results in it.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx_design.shared import create_component, is_component

from book.pages.tabs import framework_of, frameworks_of, is_result, results_after

TITLE = "Solution"
FOLDS = {"tag_claims": "how it is checked", "tag_drawing": "how it is drawn"}


def fold(
    title: str, children: Sequence[nodes.Node], opened: bool = False, classes: Sequence[str] = ()
) -> nodes.Element:
    """Return a fold; builders that cannot fold show its title and its children one below the other."""
    return create_component(
        "dropdown",
        children=[nodes.rubric("", title), *children],
        opened=opened,
        type="dropdown",
        has_title=True,
        icon=None,
        chevron=None,
        container_classes=list(classes),
        title_classes=[],
        body_classes=[],
    )


class FoldCode(SphinxTransform):
    """Show what a cell of nothing but claims, or one that only draws, has found, and fold its code."""

    default_priority = 194  # before solutions and tabs are gathered, while a cell's outputs still follow it

    def apply(self, **kwargs: Any) -> None:
        """Change the page."""
        for cell in list(self.document.findall(nodes.container)):
            folds = [words for tag, words in FOLDS.items() if tag in cell["classes"]]
            if not folds:
                continue
            code = [part for part in cell if part["nb_element"] == "cell_code_source"]
            results = results_after(cell)
            if not code or (len(cell) == len(code) and not results):
                continue  # an output, or a cell that did not run: its code is all there is
            for part in [*results, *code]:
                part.parent.remove(part)
            cell.extend([*results, fold(folds[0], code, classes=["how"])])


def is_text(node: Any) -> bool:
    """Tell whether a node is the dropdown that tells a solution."""
    return is_component(node, "dropdown") and node["has_title"] and node[0].astext() == TITLE


def is_code(node: nodes.Node) -> bool:
    """Tell whether a node is a cell of a solution."""
    return isinstance(node, nodes.container) and "tag_solution" in node["classes"]


def pieces(node: Any) -> Iterator[Any]:
    """Yield a framework's prose in parts: each solution in it by itself, marked as this framework's."""
    if not framework_of(node) or not any(is_text(child) for child in node.children):
        yield node
        return
    for telling, group in itertools.groupby(node.children, is_text):
        if not telling:
            part = node.copy()
            part.extend(group)
            yield part
            continue
        for text in group:
            text["classes"].append(f"tag_{framework_of(node)}")
            yield text


def gathered(children: Sequence[nodes.Node], frameworks: Sequence[str]) -> list[nodes.Node]:
    """Return `children` with each solution in one fold; a framework's prose within a solution goes with it."""
    found: list[nodes.Node] = []
    parts: list[Any] = []  # of the solution at hand
    loose: list[nodes.Node] = []  # prose after it, which belongs to it if another part follows
    for node in itertools.chain.from_iterable(pieces(child) for child in children):
        if is_text(node):
            if loose or begins_another(node, parts):
                found += [*solution(parts, frameworks), *loose]
                parts, loose = [], []
            parts.append(node)
        elif is_code(node) or (parts and not loose and is_result(node)):
            parts += [*loose, node]
            loose = []
        elif parts and framework_of(node) and "prose" in node["classes"]:
            loose.append(node)
        else:
            found += [*solution(parts, frameworks), *loose, node]
            parts, loose = [], []
    return [*found, *solution(parts, frameworks), *loose]


def begins_another(text: nodes.Node, parts: Sequence[nodes.Node]) -> bool:
    """Tell whether a text cannot belong to a solution: another one is there for all, or for the same framework."""
    owners = {framework_of(part) for part in parts if is_text(part)}
    return bool(owners) and (framework_of(text) is None or not owners.isdisjoint({None, framework_of(text)}))


def solution(parts: Sequence[Any], frameworks: Sequence[str]) -> list[nodes.Element]:
    """Return the fold of a solution; one for each framework where not all of `frameworks` have a part of it."""
    if not parts:
        return []
    owners = {framework_of(part) for part in parts}
    if None in owners or owners >= set(frameworks):
        return [folded(parts)]
    folds: list[nodes.Element] = []
    for name in [name for name in frameworks if name in owners]:
        own = [part for part in parts if framework_of(part) == name]
        for part in own:
            part["classes"].remove(f"tag_{name}")  # the fold around it says so
        folds.append(nodes.container("", folded(own), classes=["prose", f"tag_{name}"]))
    return folds


def folded(parts: Sequence[Any]) -> nodes.Element:
    """Return one fold with the parts of a solution, a framework's text as its prose."""
    inside: list[nodes.Node] = []
    for part in parts:
        name, content = framework_of(part), part.children[1:]
        if not is_text(part):
            inside.append(part)
        elif name:
            inside.append(nodes.container("", *content, classes=["prose", f"tag_{name}"]))
        else:
            inside += content
    return fold(TITLE, inside, classes=["solution"])


class GatherSolutions(SphinxTransform):
    """Put the parts of each solution into one fold."""

    default_priority = 196  # while cells are still children of sections, before the tabs are gathered

    def apply(self, **kwargs: Any) -> None:
        """Change the page."""
        frameworks = frameworks_of(self.document)
        parents: dict[int, nodes.Element] = {}
        for node in self.document.findall(lambda node: is_text(node) or is_code(node)):
            parent = node.parent.parent if framework_of(node.parent) else node.parent
            parents[id(parent)] = parent
        for parent in parents.values():
            children = gathered(parent.children, frameworks)
            parent.children = []
            parent.extend(children)


class LightMarkers(SphinxPostTransform):
    """Leave the arrow of a fold to the style sheet: sphinx-design repeats its drawing in each."""

    default_priority = 200  # behind sphinx-design's own (199)
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Change the page."""
        for node in self.document.findall(nodes.inline):
            if "sd-summary-state-marker" in node["classes"]:
                node.clear()


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the transforms."""
    app.add_transform(FoldCode)
    app.add_transform(GatherSolutions)
    app.add_post_transform(LightMarkers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
