"""The edition for one framework, which a document for paper or an e-reader is: the setting `d2l_only` names it.

What belongs to one framework has the class `tag_<framework>`: code, prose and outputs, and also the rows and items in
which a list names a framework. The class `whole-book` marks what makes sense beside all frameworks alone, the class
`edition` what a document has in its place.
"""

from collections.abc import Iterable
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from book import FRAMEWORKS

WHOLE, EDITION = "whole-book", "edition"


def tag(framework: str) -> str:
    """Return the class of what belongs to a framework."""
    return f"tag_{framework}"


def named_in(text: str) -> str | None:
    """Return the framework whose title a text begins with ("JAX 0.10.2") or ends with after a comma, or None."""
    for name, title in FRAMEWORKS.items():
        if text == title or text.startswith((f"{title} ", f"{title}:", f"{title}：")):
            return name
        if text.endswith((f", {title}", f"，{title}")):
            return name
    return None


def mark(found: Iterable[Any]) -> None:
    """Give each of these nodes whose first words name a framework the class of what belongs to it."""
    for node in found:
        name = named_in(node[0].astext())
        if name:
            node["classes"].append(tag(name))


def left_out(node: nodes.Element, only: str) -> bool:
    """Tell whether a page of the whole book, or one for the framework `only`, goes without a node."""
    classes = set(node["classes"])
    if not only:
        return EDITION in classes
    owners = {name for name in FRAMEWORKS if tag(name) in classes}
    return WHOLE in classes or bool(owners) and only not in owners


class KeepOneFramework(SphinxPostTransform):
    """Remove what the edition goes without."""

    default_priority = 185  # before the tabs are shown one below the other (190)

    def run(self, **kwargs: Any) -> None:
        for node in list(self.document.findall(nodes.Element)):
            if left_out(node, self.config.d2l_only):
                node.parent.remove(node)
        for body in list(self.document.findall(nodes.tbody)):
            if not body.children:
                table = body.parent.parent
                table.parent.remove(table)


def setup(app: Sphinx) -> None:
    """Register the setting, which leaves the pages as they were read, and the transform."""
    app.add_config_value("d2l_only", "", "")
    app.add_post_transform(KeepOneFramework)
