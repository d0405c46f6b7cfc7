"""Predictions beside their measurements: the comparisons that a cell shows one after the other become one table.

A comparison comes as data, in an output of the MIME type that d2l_utils/predictions.py names.
"""

import math
from collections.abc import Sequence
from html import escape
from itertools import groupby
from typing import Any

from docutils import nodes
from myst_nb.core.render import load_mime_renders
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from book.model_errors import NEAR
from book.pages.tables import row, svg, table
from d2l_utils.predictions import MIME, SPAN, Comparison, bare, quantity
from d2l_utils.timing import three_digits

HEAD = ("prediction", "predicted", "measured", "factor", "on a scale")
HALF, HEIGHT = 60, 16  # of the drawing: the width to each side of the prediction, and its height
FIELDS = ("name", "kind", "unit", "predicted", "measured", "low", "high")


def comparison_of(record: dict[str, Any]) -> Comparison:
    """Return the comparison that a record holds, whatever else is in it."""
    return Comparison(**{field: record[field] for field in FIELDS})


def figures(comparison: Comparison) -> list[str]:
    """Return the figures of a comparison in words: predicted, measured with its quartiles, factor."""
    predicted, measured = (quantity(value, comparison.unit) for value in (comparison.predicted, comparison.measured))
    low, high = bare(comparison.low, comparison), bare(comparison.high, comparison)
    spread = "" if comparison.low == comparison.high else f" ({low}–{high})"
    return [predicted, measured + spread, f"{three_digits(comparison.factor)} ×"]


def comparison_row(comparison: Comparison) -> nodes.row:
    """Return the row of a comparison."""
    name: list[nodes.Node] = [nodes.Text(comparison.name)]
    if comparison.kind == "estimate":
        name += [nodes.Text(" "), nodes.inline("", "estimate", classes=["kind"])]
    return row(name, *figures(comparison), [svg(scale(comparison))])


def scale(comparison: Comparison) -> str:
    """Return a drawing of measured over predicted: a logarithmic scale from a quarter to four times the prediction.

    It shows the prediction in the middle, the band of 1.5 ×, the quartiles as a bar and the median as a mark.
    """
    place, low, high = (
        x(value / comparison.predicted) for value in (comparison.measured, comparison.low, comparison.high)
    )
    near = HALF * math.log(NEAR) / math.log(SPAN)
    words = f"measured is {three_digits(comparison.factor)} times what was predicted"
    middle = HEIGHT / 2
    return (
        f'<svg class="scale" viewBox="{-HALF - 6} 0 {2 * HALF + 12} {HEIGHT}" role="img" aria-label="{escape(words)}">'
        f'<rect class="band" x="{-near:.1f}" y="1" width="{2 * near:.1f}" height="{HEIGHT - 2}"/>'
        f'<path class="axis" d="M{-HALF} {middle:g}H{HALF}M0 1V{HEIGHT - 1}"/>'
        f'<path class="spread" d="M{low:.1f} {middle:g}H{high:.1f}"/>'
        f"{mark(comparison, place, middle)}</svg>"
    )


def x(factor: float) -> float:
    """Return where a multiple of the prediction lies in the drawing, at most at either end."""
    return min(HALF, max(-HALF, HALF * math.log(factor) / math.log(SPAN)))


def mark(comparison: Comparison, x: float, y: float) -> str:
    """Return the mark of a prediction: a disc for a model, a diamond for an estimate."""
    if comparison.kind == "model":
        return f'<circle class="model" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
    return f'<path class="estimate" d="M{x - 5:.1f} {y:.1f}l5 -5l5 5l-5 5z"/>'


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
