"""Time as a picture: rows are workers or devices, length is time, colours are kinds of work."""

from typing import NamedTuple

from matplotlib import pyplot as plt
from matplotlib.colors import to_rgba
from matplotlib.patches import Patch
from matplotlib.transforms import ScaledTranslation

from d2l_utils.plots.curves import COLORS, use_svg_display
from d2l_utils.timing import time_unit

BAR = 0.72  # height of a row's bars; the rows lie 1 apart


class Span(NamedTuple):
    """A stretch of work: the row (worker or device) it stands in, its start and end in seconds, its kind."""

    row: str
    start: float
    end: float
    kind: str


def timeline(spans, *, title=None, axes=None):
    """Draw Spans as bars in the rows of their workers or devices, coloured by kind of work.

    Time counts from the earliest start, in a fitting unit. Spans of one row that overlap in time lie in lanes, one
    above the other. The alternative text of the picture lists them all. ValueError for no span, for a span that ends
    before it starts, and for more kinds than there are colours (6).
    """
    spans = _checked(spans)
    origin = min(span.start for span in spans)
    unit, factor = time_unit(max(span.end for span in spans) - origin)
    spans = [Span(s.row, (s.start - origin) * factor, (s.end - origin) * factor, s.kind) for s in spans]
    rows = {row: i for i, row in enumerate(dict.fromkeys(span.row for span in spans))}
    colors = dict(zip(dict.fromkeys(span.kind for span in spans), COLORS, strict=False))
    use_svg_display()
    tops, heights = _places(spans, rows)
    if axes is None:
        rows_inches = 0.36 * len(rows) * max(1, 0.65 * BAR / min(heights))
        size = (6.5, 0.8 + rows_inches + 0.3 * bool(title) + 0.25 * (len(colors) > 1))
        axes = plt.figure(figsize=size, layout="constrained").add_subplot()
    bars = axes.barh(tops, [s.end - s.start for s in spans], heights, [s.start for s in spans], align="edge")
    for bar, span in zip(bars, spans, strict=True):
        bar.set(facecolor=colors[span.kind], edgecolor=colors[span.kind], linewidth=0.6)
    _dress(axes, rows, unit, title)
    if len(colors) > 1:
        _legend(axes, colors)
    _label(axes, bars, spans)
    axes.set_label(_describe(spans, rows, unit, title))


def _checked(spans):
    spans = [Span(*span) for span in spans]
    if not spans:
        raise ValueError("a timeline needs at least one span")
    for span in spans:
        if not span.start <= span.end:
            raise ValueError(f"a span ends before it starts: {span}")
    if len({span.kind for span in spans}) > len(COLORS):
        raise ValueError(f"a timeline tells {len(COLORS)} kinds of work apart, not {len({s.kind for s in spans})}")
    return spans


def _places(spans, rows):
    """Return the upper edges and the heights of the bars: overlapping spans of a row share its height in lanes."""
    ends, lanes = {row: [] for row in rows}, {}
    for i in sorted(range(len(spans)), key=lambda i: spans[i].start):
        taken = ends[spans[i].row]
        lane = next((lane for lane, end in enumerate(taken) if end <= spans[i].start), len(taken))
        taken[lane : lane + 1] = [spans[i].end]
        lanes[i] = lane
    heights = [BAR / len(ends[span.row]) for span in spans]
    return [rows[span.row] - BAR / 2 + lanes[i] * heights[i] for i, span in enumerate(spans)], heights


def _dress(axes, rows, unit, title):
    axes.set(yticks=range(len(rows)), yticklabels=rows, ylim=(len(rows) - 0.5, -0.5), xlabel=f"time in {unit}")
    axes.set_title(title or "", loc="left")
    axes.margins(x=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)


def _legend(axes, colors):
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


def _label(axes, bars, spans):
    """Write its kind into each bar that has room for it, and part neighbouring bars that are wide enough."""
    axes.figure.draw_without_rendering()
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


def _describe(spans, rows, unit, title):
    """Return the timeline in words: for each row the kinds of work, when, how often and how long in all."""
    sentences = [f"Timeline{f' “{title}”' if title else ''} of {max(s.end for s in spans):.3g} {unit}."]
    for row in rows:
        kinds = {}
        for span in spans:
            if span.row == row:
                kinds.setdefault(span.kind, []).append(span)
        sentences.append(f"{row}: " + "; ".join(_work(kind, group, unit) for kind, group in kinds.items()) + ".")
    return " ".join(sentences)


def _work(kind, spans, unit):
    start, end = min(s.start for s in spans), max(s.end for s in spans)
    if len(spans) == 1:
        return f"{kind} from {start:.3g} to {end:.3g} {unit}"
    total = sum(s.end - s.start for s in spans)
    return f"{len(spans)} × {kind} between {start:.3g} and {end:.3g} {unit}, {total:.3g} {unit} in all"
