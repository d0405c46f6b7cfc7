"""What the records in a notebook's outputs say, in words and as small drawings: comparisons and running totals.

Pages and slides show the same figures.
"""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from d2l_utils.predictions import NEAR, Comparison, bare, on_scale, quantity
from d2l_utils.timing import three_digits

Row = dict[str, Any]  # of a running total: {lever, seconds, low, high, promised, accuracy, kept}
HEAD = ("prediction", "predicted", "measured", "factor", "on a scale")
HALF, HEIGHT = 60, 16  # of the drawing: the width to each side of the prediction, and its height
FIELDS = ("name", "kind", "unit", "predicted", "measured", "low", "high", "otherwise")
TOTAL_HEAD = ("lever", "a step", "promised", "obtained", "faster", "accuracy")
NONE = "–"
LEFT_OUT = "no gain here: left out"


def comparison_of(record: dict[str, Any]) -> Comparison:
    """Return the comparison that a record holds, whatever else is in it."""
    return Comparison(**{field: record[field] for field in FIELDS if field in record})


def figures(comparison: Comparison) -> list[str]:
    """Return the figures of a comparison in words: predicted, measured with its quartiles, factor."""
    predicted, measured = (quantity(value, comparison.unit) for value in (comparison.predicted, comparison.measured))
    low, high = bare(comparison.low, comparison), bare(comparison.high, comparison)
    spread = "" if comparison.low == comparison.high else f" ({low}–{high})"
    return [predicted, measured + spread, f"{three_digits(comparison.factor)} ×"]


def scale(comparison: Comparison) -> str:
    """Return a drawing of measured over predicted: a logarithmic scale from a quarter to four times the prediction.

    It shows the prediction in the middle, the band of 1.5 ×, the quartiles as a bar and the median as a mark.
    """
    place, low, high = (
        x(value / comparison.predicted) for value in (comparison.measured, comparison.low, comparison.high)
    )
    near = HALF * on_scale(NEAR)
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
    return HALF * on_scale(factor)


def mark(comparison: Comparison, x: float, y: float) -> str:
    """Return the mark of a prediction: a disc for a model, a square for a saving, a diamond for an estimate."""
    if comparison.kind == "model":
        return f'<circle class="model" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
    if comparison.kind == "saving":
        return f'<rect class="model" x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7"/>'
    return f'<path class="estimate" d="M{x - 5:.1f} {y:.1f}l5 -5l5 5l-5 5z"/>'


def total_figures(rows: Sequence[Row]) -> Iterator[tuple[Row, tuple[str, ...]]]:
    """Yield each row of a running total with its figures in words, in the order of TOTAL_HEAD after the lever."""
    before = rows[0]["seconds"]
    for place, each in enumerate(rows):
        promised = quantity(each["promised"], "s") if each["promised"] else NONE
        obtained = quantity(before - each["seconds"], "s") if place else NONE
        yield each, (quantity(each["seconds"], "s"), promised, obtained, faster(rows[0], each), accuracy(each))
        before = each["seconds"] if each["kept"] else before


def accuracy(found: Row) -> str:
    """Return the accuracy of a row in words."""
    return f"{100 * found['accuracy']:.1f} %"


def faster(first: Row, found: Row) -> str:
    """Return how many times as fast as the first row a row is."""
    return f"{three_digits(first['seconds'] / found['seconds'])} ×"
