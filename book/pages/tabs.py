"""Framework tabs: neighbouring cells and paragraphs of single frameworks become one set of tabs.

The merged notebook holds, one after the other, what each framework has to say at a place: prose in the directive
{tagged}, code in cells that are tagged with one framework. A transform gathers such neighbours into a tab set of
sphinx-design, with one tab for each framework of the page. A framework that has nothing to say there gets an empty tab,
so that a reader of its text sees the text of no other.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from sphinx_design.shared import create_component, is_component

from book import FRAMEWORKS


class Tagged(SphinxDirective):
    """Prose of a cell with tags: that of a framework, of a solution, or of both."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return a container with the class `tag_<tag>` for each tag, as MyST-NB makes it for a code cell."""
        self.assert_has_content()
        node = nodes.container(classes=["prose", *(f"tag_{word}" for word in self.arguments[0].split())])
        self.set_source_info(node)
        node += self.parse_content_to_nodes()
        return [node]


def framework_of(node: nodes.Node) -> str | None:
    """Return the framework that a node belongs to, or None when it is everybody's."""
    if not isinstance(node, nodes.container):
        return None
    tags = [name for name in FRAMEWORKS if f"tag_{name}" in node["classes"]]
    return tags[0] if len(tags) == 1 else None


def frameworks_of(document: nodes.document) -> list[str]:
    """Return the frameworks that have text or code of their own in a document, in the book's order."""
    present = {framework_of(node) for node in document.findall(nodes.container)}
    return [name for name in FRAMEWORKS if name in present]


def results_after(cell: Any) -> list[Any]:
    """Return the cells after a shared one that show what it printed in each framework."""
    after = cell.parent.children[cell.parent.index(cell) + 1 :]
    return list(itertools.takewhile(lambda node: framework_of(node) and "tag_remove-input" in node["classes"], after))


def gather(
    document: nodes.document,
    belongs: Callable[[Any], bool],
    gathered: Callable[[list[Any]], Sequence[nodes.Node]],
) -> None:
    """Replace each run of neighbouring nodes that belong together by what `gathered` makes of them."""
    for parent in {id(node.parent): node.parent for node in document.findall(belongs)}.values():
        children: list[nodes.Node] = []
        for inside, group in itertools.groupby(parent.children, key=belongs):
            members = list(group)
            children += gathered(members) if inside else members
        parent.children = []
        parent.extend(children)


def tab_set(members: Sequence[Any], frameworks: Sequence[str]) -> nodes.Element:
    """Return one tab set that holds `members`, each in the tab of its framework."""
    panels = {name: [node for node in members if framework_of(node) == name] for name in frameworks}
    first = next(name for name in frameworks if panels[name])
    result = create_component("tab-set", classes=["sd-tab-set", "frameworks"])
    result.source, result.line = members[0].source, members[0].line
    for name, panel in panels.items():
        label = nodes.rubric("", FRAMEWORKS[name], classes=["sd-tab-label"], sync_group="tab", sync_id=name)
        classes = ["panel", f"only-{name}", *([] if panel else ["empty"])]
        content = create_component("tab-content", children=panel, classes=classes)
        result += create_component("tab-item", ["sd-tab-item"], children=[label, content], selected=name == first)
    return result


class GatherTabs(SphinxTransform):
    """Put runs of neighbouring framework nodes into tab sets."""

    default_priority = 198  # while the containers of outputs are in place: MyST-NB chooses between formats later

    def apply(self, **kwargs: Any) -> None:
        frameworks = frameworks_of(self.document)
        gather(self.document, lambda node: bool(framework_of(node)), lambda members: [tab_set(members, frameworks)])


class FlattenTabs(SphinxPostTransform):
    """Show the tabs one below the other, where nothing can switch them, each under its name if there are several."""

    default_priority = 190
    builders = ("epub", "singlehtml", "text")  # LaTeX and man pages are flat by themselves

    def run(self, **kwargs: Any) -> None:
        for found in list(self.document.findall(lambda node: is_component(node, "tab-set"))):
            if "frameworks" not in found["classes"]:
                continue
            flat: list[nodes.Node] = []
            for label, content in (item.children for item in found.children):
                if content.children and not self.config.d2l_only:
                    flat.append(nodes.paragraph("", "", nodes.strong("", label.astext())))
                flat += content.children
            # Not replace_self: it hands the classes of the tab set on to the first node.
            found.parent.replace(found, flat)


def setup(app: Sphinx) -> None:
    app.add_directive("tagged", Tagged)
    app.add_transform(GatherTabs)
    app.add_post_transform(FlattenTabs)
