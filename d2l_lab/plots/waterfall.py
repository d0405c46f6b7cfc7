"""A waterfall: what a step takes after each change, and what each change saved beside what was promised."""

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib import pyplot as plt
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from d2l_lab.instruments.timing import three_digits
from d2l_lab.plots.curves import COLORS, INK, use_svg_display


class Bar(NamedTuple):
    """A row: its name, the seconds that remain, those saved and promised (None if there are none), if it stays."""

    name: str
    seconds: float
    saved: float | None
    promised: float | None
    kept: bool


def waterfall(bars: Sequence[Bar]) -> None:
    """Draw the rows from the top: what remains, what was saved, and a mark where the promise would have led.

    Parameters
    ----------
    bars : sequence of Bar
        The rows, the one before any change first. One that is not kept is drawn grey.
    """
    use_svg_display()
    _, axes = plt.subplots(figsize=(6.4, 0.7 + 0.38 * len(bars)))
    for row, bar in enumerate(bars):
        remains, saved = 1e3 * bar.seconds, 1e3 * (bar.saved or 0)
        axes.barh(row, remains, color=COLORS[0] if bar.kept else "#BBBBBB", height=0.68)
        if saved > 0:
            axes.barh(row, saved, left=remains, color="white", edgecolor=COLORS[2], hatch="////", height=0.66)
        end = max(remains, remains + saved)
        if bar.promised is not None:
            promised = remains + saved - 1e3 * bar.promised
            axes.plot([promised] * 2, [row - 0.44, row + 0.44], color=COLORS[1], linewidth=2.5)
            end = max(end, promised)
        text = three_digits(remains) + ("" if bar.kept else ", left out")
        axes.annotate(text, (end, row), (4, 0), textcoords="offset points", va="center", color=INK)
    axes.set_yticks(range(len(bars)), [bar.name for bar in bars])
    axes.invert_yaxis()
    axes.margins(x=0.22)
    axes.set_xlim(left=0)
    axes.set_xlabel("milliseconds a step")
    axes.spines[["top", "right"]].set_visible(False)
    handles = [
        Patch(color=COLORS[0], label="a step"),
        Patch(facecolor="white", edgecolor=COLORS[2], hatch="////", label="saved"),
        Line2D([], [], color=COLORS[1], linewidth=2.5, label="promised"),
    ]
    below = (0.4, -1.05 / len(bars))
    axes.legend(handles=handles, loc="upper center", bbox_to_anchor=below, ncols=3, frameon=False)
    axes.set_label(_describe(bars))


def _describe(bars: Sequence[Bar]) -> str:
    """Return the alternative text."""
    rows = []
    for bar in bars:
        parts = [f"{bar.name}: {three_digits(1e3 * bar.seconds)} ms"]
        if bar.promised is not None and bar.saved is not None:
            promised = three_digits(1e3 * (bar.seconds + bar.saved - bar.promised))
            parts.append(f"promised {promised} ms")
        if not bar.kept:
            parts.append("left out")
        rows.append(", ".join(parts))
    return "Waterfall of the milliseconds a step: " + "; ".join(rows) + "."
