"""Time as a picture: rows are workers or devices, length is time, colours are kinds of work."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import Patch, Rectangle
from matplotlib.transforms import ScaledTranslation

from d2l_lab.instruments.timing import time_unit
from d2l_lab.plots.curves import COLORS, use_svg_display

BAR = 0.72  # height of a row's bars; the rows lie 1 apart


class Span(NamedTuple):
    """A stretch of work: the row (worker or device) it stands in, its start and end in seconds, its kind."""

    row: str
    start: float
    end: float
    kind: str


def timeline(
    spans: Iterable[tuple[str, float, float, str]], *, title: str | None = None, axes: Axes | None = None
) -> None:
    """Draw spans of work as bars in the rows of their workers or devices, coloured by kind of work.

    Time counts from the earliest start, in a fitting unit. Spans of one row that overlap in time lie in lanes, one
    above the other. The alternative text of the picture lists them all.

    Parameters
    ----------
    spans : iterable of Span
        The work; the rows stand in the order in which they first appear.
    title : str
        What stands above the picture.
    axes : matplotlib.axes.Axes
        Where to draw; a new figure of fitting size by default.

    Raises
    ------
    ValueError
        For no span, for a span that ends before it starts, and for more kinds than there are colours (6).
    """
    unit, scaled = _in_fitting_unit(_checked(spans))
    rows = {row: i for i, row in enumerate(dict.fromkeys(span.row for span in scaled))}
    colors = dict(zip(dict.fromkeys(span.kind for span in scaled), COLORS, strict=False))
    use_svg_display()
    tops, heights = _places(scaled, rows)
    if axes is None:
        axes = _new_axes(len(rows), min(heights), has_title=bool(title), has_legend=len(colors) > 1)
    bars = axes.barh(tops, [s.end - s.start for s in scaled], heights, [s.start for s in scaled], align="edge")
    for bar, span in zip(bars, scaled, strict=True):
        bar.set(facecolor=colors[span.kind], edgecolor=colors[span.kind], linewidth=0.6)
    _set_axes(axes, rows, unit, title)
    if len(colors) > 1:
        _add_legend(axes, colors)
    _label(axes, bars, scaled)
    axes.set_label(_describe(scaled, rows, unit, title))


def _checked(spans: Iterable[tuple[str, float, float, str]]) -> list[Span]:
    """Return the spans as a list; ValueError if they cannot be drawn."""
    checked = [Span(*span) for span in spans]
    if not checked:
        raise ValueError("a timeline needs at least one span")
    for span in checked:
        if not span.start <= span.end:  # also if one of the two is NaN
            raise ValueError(f"a span ends before it starts: {span}")
    kinds = {span.kind for span in checked}
    if len(kinds) > len(COLORS):
        raise ValueError(f"a timeline tells {len(COLORS)} kinds of work apart, not {len(kinds)}")
    return checked


def _in_fitting_unit(spans: list[Span]) -> tuple[str, list[Span]]:
    """Return a unit of time, and the spans in it, counted from the earliest start."""
    origin = min(span.start for span in spans)
    unit, factor = time_unit(max(span.end for span in spans) - origin)
    return unit, [Span(s.row, (s.start - origin) * factor, (s.end - origin) * factor, s.kind) for s in spans]


def _places(spans: list[Span], rows: dict[str, int]) -> tuple[list[float], list[float]]:
    """Return the upper edges and the heights of the bars: overlapping spans of a row share its height in lanes."""
    lane_ends: dict[str, list[float]] = {row: [] for row in rows}
    lanes = {}
    for i in sorted(range(len(spans)), key=lambda i: spans[i].start):
        ends = lane_ends[spans[i].row]
        lane = next((lane for lane, end in enumerate(ends) if end <= spans[i].start), len(ends))
        ends[lane : lane + 1] = [spans[i].end]
        lanes[i] = lane
    heights = [BAR / len(lane_ends[span.row]) for span in spans]
    return [rows[span.row] - BAR / 2 + lanes[i] * heights[i] for i, span in enumerate(spans)], heights


def _new_axes(rows: int, lowest_bar: float, has_title: bool, has_legend: bool) -> Axes:
    """Return the axes of a new figure, which is as high as its rows, title and legend need."""
    height = 0.8 + 0.36 * rows * max(1, 0.65 * BAR / lowest_bar)
    if has_title:
        height += 0.3
    if has_legend:
        height += 0.25
    return plt.figure(figsize=(6.5, height), layout="constrained").add_subplot()


def _set_axes(axes: Axes, rows: dict[str, int], unit: str, title: str | None) -> None:
    axes.set(yticks=range(len(rows)), yticklabels=rows, ylim=(len(rows) - 0.5, -0.5), xlabel=f"time in {unit}")
    axes.set_title(title or "", loc="left")
    axes.margins(x=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)


def _add_legend(axes: Axes, colors: dict[str, str]) -> None:
    """Explain the colours below the axis, at a fixed distance from it."""
    below = axes.transAxes + ScaledTranslation(0, -0.48, axes.figure.dpi_scale_trans)
    axes.legend(
        handles=[Patch(color=color, label=kind) for kind, color in colors.items()],
        loc="upper left",
        bbox_to_anchor=(0, 0),
        bbox_transform=below,
        ncols=4,
        borderaxespad=0,
        borderpad=0,
        frameon=False,
        handlelength=1,
        handleheight=1,
    )


def _label(axes: Axes, bars: Iterable[Rectangle], spans: list[Span]) -> None:
    """Write its kind into each bar that has room for it, and part neighbouring bars that are wide enough."""
    figure: Any = axes.figure
    figure.draw_without_rendering()
    for bar, span in zip(bars, spans, strict=True):
        box = bar.get_window_extent()
        if box.width > 6:
            bar.set_edgecolor("white")
        center = (bar.get_x() + bar.get_width() / 2, bar.get_y() + bar.get_height() / 2)
        ink = "black" if bar.get_facecolor() == to_rgba(COLORS[1]) else "white"  # the only light colour
        text = axes.text(*center, span.kind, ha="center", va="center", color=ink, size=9)
        room = text.get_window_extent()
        if room.width + 8 > box.width or room.height > box.height:
            text.remove()


def _describe(spans: list[Span], rows: dict[str, int], unit: str, title: str | None) -> str:
    """Return the timeline in words: for each row the kinds of work, when, how often and how long in all."""
    name = f"Timeline “{title}”" if title else "Timeline"
    sentences = [f"{name} of {max(s.end for s in spans):.3g} {unit}."]
    for row in rows:
        kinds: dict[str, list[Span]] = {}
        for span in spans:
            if span.row == row:
                kinds.setdefault(span.kind, []).append(span)
        sentences.append(f"{row}: " + "; ".join(_work(kind, group, unit) for kind, group in kinds.items()) + ".")
    return " ".join(sentences)


def _work(kind: str, spans: list[Span], unit: str) -> str:
    """Return the spans of one kind in one row in words."""
    start, end = min(s.start for s in spans), max(s.end for s in spans)
    if len(spans) == 1:
        return f"{kind} from {start:.3g} to {end:.3g} {unit}"
    total = sum(s.end - s.start for s in spans)
    return f"{len(spans)} × {kind} between {start:.3g} and {end:.3g} {unit}, {total:.3g} {unit} in all"
