"""Predictions beside their measurements: the comparisons that a cell shows one after the other become one table.

A comparison comes as data, in an output of the MIME type that d2l_utils/predictions.py names.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from docutils import nodes
from myst_nb.core.render import load_mime_renders
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from book.pages.tables import row, svg, table
from book.records import HEAD, comparison_of, figures, scale
from d2l_utils.predictions import MIME, Comparison


def comparison_row(comparison: Comparison) -> nodes.row:
    """Return the row of a comparison."""
    name: list[nodes.Node] = [nodes.Text(comparison.name), *kind_of(comparison)]
    if comparison.note:
        name += [nodes.Text(" "), nodes.inline("", comparison.note, classes=["note"])]
    return row(name, *figures(comparison), [svg(scale(comparison))])


def kind_of(comparison: Comparison) -> list[nodes.Node]:
    """Return the word that says what kind of prediction it is; nothing for a model."""
    if comparison.kind == "model":
        return []
    return [nodes.Text(" "), nodes.inline("", comparison.kind, classes=["kind"])]


class ComparisonRenderer:
    """A renderer of MyST-NB for outputs that are comparisons."""

    mime_priority_overrides = [("*", MIME, 1)]

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[nodes.Node] | None:
        """Return the nodes of an output, or None if it is no comparison."""
        if data.mime_type != MIME:
            return None
        return [table(HEAD, [comparison_row(comparison_of(data.content))], "comparisons")]


class JoinComparisons(SphinxTransform):
    """Put the comparisons that a cell shows one after the other into one table."""

    default_priority = 194  # while a cell's outputs still stand side by side

    def apply(self, **kwargs: Any) -> None:
        """Change the page."""
        parents = {id(found.parent): found.parent for found in self.document.findall(is_comparison)}
        for parent in parents.values():
            for joined, group in groupby(list(parent.children), is_comparison):
                if joined:
                    join(list(group))


def is_comparison(node: Any) -> bool:
    """Tell whether a node is an output with a comparison in it."""
    if not isinstance(node, nodes.container) or node.get("nb_element") != "mime_bundle":
        return False
    return any(child.get("mime_type") == MIME for child in node.children)


def join(outputs: Sequence[nodes.Element]) -> None:
    """Move the rows of these outputs into the table of the first, and remove the others."""
    first, *others = (next(output.findall(nodes.tbody)) for output in outputs)
    for body in others:
        first += body.children
    for output in outputs[1:]:
        output.parent.remove(output)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register renderer and transform; MyST-NB keeps the list of renderers that it made."""
    if ComparisonRenderer not in load_mime_renders():
        load_mime_renders().append(ComparisonRenderer)
    app.add_transform(JoinComparisons)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
