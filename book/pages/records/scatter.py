"""All predictions of a framework as pictures: times against times, and for all else the factor alone. Pure functions.

A mark is a link to its cell. Its words appear in the picture while it is pointed at or has the focus.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from book.pages.records.colours import colour
from book.record_html import figures, mark
from book.words import say
from d2l_lab.instruments.predictions import Comparison, Kind, on_scale, quantity
from d2l_lab.instruments.timing import NEAR

SIDE = 330  # of the square in which times lie
LEFT, TOP = 62, 34  # the labels and the words of a mark stand there
STEP = 9  # from one mark to the next in a stack


@dataclass(frozen=True)
class Dot:
    """A comparison, the section that it stands in, the place that gives it its colour, and the cell's address."""

    comparison: Comparison
    section: str
    place: int
    address: str
    guess: str = ""  # the key of a guess, of a prediction that may be guessed first


def times(dots: Sequence[Dot], kind: str = "") -> str:
    """Return the picture of predictions in seconds, of the class `kind`: predicted to the right, measured upwards."""
    logs = [math.log10(value) for dot in dots for value in (dot.comparison.predicted, dot.comparison.measured)]
    low, high = math.floor(min(logs)), math.ceil(max(logs))
    high = max(high, low + 1)
    unit = SIDE / (high - low)

    def place(value: float) -> float:
        return (math.log10(value) - low) * unit

    lines, labels = [], []
    for power in range(low, high + 1):
        at, words = place(10.0**power), quantity(10.0**power, "s").replace(".00", "").replace(".0", "")
        lines.append(f"M{at:.1f} 0V{SIDE}M0 {SIDE - at:.1f}H{SIDE}")
        labels.append(f'<text class="right" x="-6" y="{SIDE - at + 4:.1f}">{words}</text>')
        labels.append(f'<text class="middle" x="{at:.1f}" y="{SIDE + 16}">{words}</text>')
    off, across, upwards = math.log10(NEAR) * unit, say("predicted"), say("measured")
    corners = [(0, 0), (0, off), (SIDE - off, SIDE), (SIDE, SIDE), (SIDE, SIDE - off), (off, 0)]
    band = " ".join(f"{x:.1f},{SIDE - y:.1f}" for x, y in corners)
    body = [
        f'<polygon class="band" points="{band}"/><path class="grid" d="{"".join(lines)}"/>',
        f'<path class="axis" d="M0 {SIDE}L{SIDE} 0"/>{"".join(labels)}',
        f'<text class="middle" x="{SIDE / 2}" y="{SIDE + 34}">{across}</text>',
        f'<text class="middle" transform="rotate(-90)" x="{-SIDE / 2}" y="{8 - LEFT}">{upwards}</text>',
    ]
    for dot in dots:
        x, y = place(dot.comparison.predicted), SIDE - place(dot.comparison.measured)
        body.append(linked(dot, x, y))
    what = say("{n} predictions of times against their measurements, on logarithmic axes", n=len(dots))
    return picture(body, SIDE + 40, what, kind, f'data-low="{low}" data-decade="{unit:.6g}"')


def factors(dots: Sequence[Dot]) -> str:
    """Return the picture of savings and of predictions in other units: measured over predicted, equal ones stacked."""
    heights: Counter[int] = Counter()
    marks = []
    for dot in dots:
        column = round(SIDE / 2 * on_scale(dot.comparison.factor) / STEP)
        heights[column] += 1
        marks.append((dot, SIDE / 2 + column * STEP, heights[column]))
    height = STEP * max(heights.values()) + 6
    near, across = SIDE / 2 * on_scale(NEAR), say("measured over predicted")
    body = [f'<rect class="band" x="{SIDE / 2 - near:.1f}" y="0" width="{2 * near:.1f}" height="{height}"/>']
    body.append(f'<path class="axis" d="M0 {height}H{SIDE}M{SIDE / 2} 0V{height}"/>')
    for factor, words in ((1 / 4, "¼ ×"), (1 / 2, "½ ×"), (1, "1 ×"), (2, "2 ×"), (4, "4 ×")):
        at = SIDE / 2 * (1 + on_scale(factor))
        body.append(f'<text class="middle" x="{at:.1f}" y="{height + 16}">{words}</text>')
    body.append(f'<text class="middle" x="{SIDE / 2}" y="{height + 34}">{across}</text>')
    body += [linked(dot, x, height - STEP * (level - 0.5), dot.comparison.beyond) for dot, x, level in marks]
    what = say("{n} savings and predictions in other units: measured over predicted", n=len(dots))
    return picture(body, height + 40, what, scale=f'data-half="{SIDE / 2}"')


def linked(dot: Dot, x: float, y: float, beyond: int = 0) -> str:
    """Return a mark at a place of the picture, or the arrow of one beyond it, with its link and its words."""
    predicted, measured, factor = figures(dot.comparison)
    first = say("{name} ({section})", name=dot.comparison.name, section=dot.section)
    second = say(
        "predicted {predicted}, measured {measured}: {factor}", predicted=predicted, measured=measured, factor=factor
    )
    kinds = {"estimate": say(", an estimate"), "saving": say(", a saving"), "count": say(", a count")}
    kind = kinds.get(dot.comparison.kind, "")
    disturbed = dot.comparison.disturbance.disturbed
    if disturbed:
        kind += say(", disturbed")
    words = (
        f'<tspan x="{4 - LEFT}" y="-22">{escape(first)}</tspan><tspan x="{4 - LEFT}" dy="14">{escape(second)}</tspan>'
    )
    label = escape(first + kind + say(": ") + second)
    guess = f' data-guess="{escape(dot.guess)}" data-y="{y:.1f}" data-measured="{dot.comparison.measured:.6g}"'
    key = guess + f' data-unit="{dot.comparison.unit}"' if dot.guess else ""
    link = f'<a href="{escape(dot.address)}" aria-label="{label}"{key}><title>{label}</title>'
    shown = coloured(mark(dot.comparison, x, y, beyond), dot.place, disturbed)
    return f'{link}{shown}<text class="words">{words}</text></a>'


def coloured(shown: str, place: int, disturbed: bool = False) -> str:
    """Return a mark in the colour of the section at this place, which book.css and epub.css take up, or a pale one."""
    pale = ' opacity="0.45"' if disturbed else ""
    return f'<g color="{colour(place)}"{pale}>{shown}</g>'


def picture(body: Sequence[str], height: float, what: str, kind: str = "", scale: str = "") -> str:
    """Return a drawing of these parts, whose origin is the upper left corner of its axes.

    The attributes `scale` are what guess.js needs to draw a guess beside its mark.
    """
    box = f"{-LEFT} {-TOP} {LEFT + SIDE + 20} {TOP + height}"
    classes = f"scatter {kind}".strip()
    about = f'class="{classes}" viewBox="{box}" role="group" aria-label="{escape(what)}" {scale}'
    return f"<svg {about}>{''.join(body)}</svg>"


def key(kind: Kind, place: int | None = None) -> str:
    """Return the mark of a kind, as a list of the colours shows it: in that of the section at a place, or black."""
    sample = Comparison("", kind, "", 1, 1, 1, 1)
    shown = mark(sample, 0, 0) if place is None else coloured(mark(sample, 0, 0), place)
    return f'<svg class="key" viewBox="-6 -6 12 12" aria-hidden="true">{shown}</svg>'
