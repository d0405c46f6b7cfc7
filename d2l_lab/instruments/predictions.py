"""Predictions: figures of the text that are stated before they are measured. Standard library only."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any, Literal, get_args

from d2l_lab.instruments.display import show, show_line, wrapped
from d2l_lab.instruments.timing import NEAR, Disturbed, Measurement, column_scale, three_digits, time_unit
from d2l_lab.instruments.words import say, say_line, say_record
from d2l_lab.machine.disturbance import Disturbance

MIME = "application/vnd.d2l.prediction+json"
PREFIXES = (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0))
UNITS = ("s", "B", "B/s", "flop", "flop/s", "×", "")
WIDTH = 8  # characters to each side of the prediction, at the middle of the drawing
SPAN = 4.0  # the factor at either end of the drawing
_lines: dict[str, Callable[[], None]] = {}  # of predictions without a comparison: what takes each away
_missed: dict[str, bool] = {}  # by the names of predictions: whether the last comparison was a miss
_disturbed = Disturbed()  # of what was measured since the last comparison, the terms of its prediction too
_today = [Disturbance()]  # while today's machine was measured, on which estimates rest

Kind = Literal["estimate", "model", "saving", "count"]


@dataclass(frozen=True)
class Prediction:
    """A figure that is yet to be measured.

    Parameters
    ----------
    name
        What is predicted, in a few words.
    value
        The figure in SI units, above 0.
    unit
        One of UNITS: seconds, bytes, bytes/s, flops, flop/s, a ratio ("×") or a count ("").
    kind
        "model" for what a section arrives at, "estimate" for a figure from counts and the machine profile alone,
        "saving" for what a change is to take off a time, "count" for an exact figure of what somebody else's code does.
    closes
        The name of the prediction or lever whose gap this one is to explain, "" for none.
    """

    name: str
    value: float
    unit: str = "s"
    kind: Kind = "model"
    closes: str = ""

    def __str__(self) -> str:
        about = {"name": say_record(self.name), "figure": quantity(self.value, self.unit)}
        if self.kind == "saving":
            return say_line("{name}: promised to save {figure}", **about)
        return say_line("{name}: predicted {figure}", **about)

    def compare(self, measured: Measurement | float, if_missed: str = "", guess: float | None = None) -> None:
        """Show the prediction beside its measurement: a line and a small drawing on a logarithmic scale.

        If the two are more than 1.5 times apart, a second line says so, and what is known of it.

        Parameters
        ----------
        measured
            A Measurement, or a number in the prediction's unit where there is no spread (a count, an exact size). Of a
            saving it may be 0 or less.
        if_missed
            A sentence for the second line: what the reader can look at if the prediction misses.
        guess
            Your own guess of the measurement, in the prediction's unit: a last line says by how much it is off.

        Raises
        ------
        TypeError, ValueError
            If what was measured is not a number, or not above 0 and no saving; or if a guess is no number above 0.
        """
        if isinstance(measured, Measurement):
            median, low, high, own = measured.median, measured.low, measured.high, measured.disturbance
        else:
            median = low = high = _number(measured, "a measurement", above=None if self.kind == "saving" else 0)
            own = Disturbance()
        own_guess = 0 if guess is None else _number(guess, "a guess", above=0)
        seen = _disturbed.since(own, *_today * (self.kind == "estimate"))
        Comparison(
            *(self.name, self.kind, self.unit, self.value, median, low, high, " ".join(if_missed.split())),
            *(seen.others, seen.cores, seen.pace, self.closes, _missed.get(self.closes, False)),
        ).show()
        if own_guess:
            times = three_digits(max(own_guess / median, median / own_guess)) if median > 0 else "∞"
            print(
                say_line(
                    "your guess, {figure}, is off by {times} ×", figure=quantity(own_guess, self.unit), times=times
                )
            )


@dataclass(frozen=True)
class Comparison:
    """A prediction and its measurement: median and quartiles, all in SI units.

    Beside them: what to look at if it misses; the fields of a Disturbance; the name of the prediction whose gap this
    one is to explain, and whether that one missed.
    """

    name: str
    kind: Kind
    unit: str
    predicted: float
    measured: float
    low: float
    high: float
    if_missed: str = ""
    others: float = 0.0
    cores: int = 0
    pace: float = 1.0
    closes: str = ""
    explains: bool = False

    @property
    def factor(self) -> float:
        """The measurement over the prediction; 0 or less for a saving that is none."""
        return float(self.measured / self.predicted)

    @property
    def beyond(self) -> int:
        """Where the measurement lies: −1 below the scale of the drawing, 1 above it, 0 on it."""
        return (self.factor > SPAN) - (self.factor < 1 / SPAN)

    @property
    def scale(self) -> float:
        """The size of a figure whose unit suits both prediction and measurement."""
        return column_scale((self.predicted, self.measured)) or abs(self.measured)

    @property
    def missed(self) -> bool:
        """Whether the prediction is off by more than 1.5 ×."""
        return not 1 / NEAR <= self.factor <= NEAR

    @property
    def disturbance(self) -> Disturbance:
        """What others did at worst while it, or what its prediction rests on, was measured."""
        return Disturbance(self.others, self.cores, self.pace)

    def note(self, say: Callable[..., str] = say) -> str:
        """Return what is known of it in the words of `say`: of a miss, of a disturbance, of the gap that it explains.

        Of a miss: what disturbed it; and, unless that can have been as large, that the run's own spread covers it, or
        what its author wants looked at.
        """
        words, seen = self._miss(say), self.disturbance
        if not words and self.explains:
            words = say("explains the gap of “{name}”", name=say_record(self.closes))
        if seen.disturbed:
            observed = say("disturbed: {observed}", observed=seen.words(say))
            words = say("{miss}; {disturbed}", miss=words, disturbed=observed) if words else observed
        if not self.missed or (seen.disturbed and self._off <= NEAR * self._disturbed_by):
            return words
        if self.low < self.predicted < self.high:
            return say("{miss}, but the prediction is within this run's own spread", miss=words)
        reason = say_record(self.if_missed)
        return say("{miss}. {reason}", miss=words, reason=reason) if reason else words

    @property
    def _off(self) -> float:
        """How many times apart predicted and measured are; infinity if the effect was not there at all."""
        return max(self.factor, 1 / self.factor) if self.factor > 0 else math.inf

    @property
    def _disturbed_by(self) -> float:
        """How many times what disturbed it can have changed it: any, if it is a small difference of large times."""
        return math.inf if self.kind == "saving" else self.disturbance.factor

    def _miss(self, say: Callable[..., str]) -> str:
        """Return by how much the prediction missed, "" if it did not."""
        if not self.missed:
            return ""
        if self.factor <= 0:
            return say("no such effect")
        return say("off by {times} ×", times=three_digits(self._off))

    def __str__(self) -> str:
        predicted, measured = (quantity(value, self.unit, self.scale) for value in (self.predicted, self.measured))
        low, high = bare_quartiles(self, self.scale)
        spread = f" ({low} to {high})" if self.low < 0 else f" ({low}–{high})"  # a dash would look like a minus
        spread = "" if self.low == self.high else spread
        verbs = say("predicted"), say("measured")
        if self.kind == "saving":
            verbs = say("promised"), say("obtained")
        figures = f"{verbs[0]:<9} {predicted:<10} {verbs[1]} {measured + spread:<22}"
        line = f"{say_record(self.name):<30} {figures} {three_digits(self.factor):>5} ×  {drawing(self)}"
        return f"{line}\n{wrapped(self.note())}" if self.note() else line

    def show(self) -> None:
        """Show it, and take the line of its prediction away where the same cell of a notebook has printed that."""
        stated = Prediction(self.name, self.predicted, self.unit, self.kind)
        _lines.pop(str(stated), lambda: None)()
        _missed[self.name] = self.missed
        show(self)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {MIME: asdict(self), "text/plain": str(self)}


def rest_on(disturbance: Disturbance) -> None:
    """Take down what others did while today's machine was measured: estimates rest on its figures."""
    _today[:] = [disturbance]


def predict(
    name: str, value: float, unit: str = "s", kind: Kind = "model", closes: Prediction | str | None = None
) -> Prediction:
    """State a figure before it is measured, print it, and return it for its method `compare`.

    Parameters
    ----------
    name
        What is predicted, in a few words.
    value
        The figure in SI units.
    unit
        "s", "B", "B/s", "flop", "flop/s", "×" for a ratio or "" for a count.
    kind
        "estimate" for a figure from counts and the machine profile alone, "model" for one with a term that a cell
        measured, "saving" for the seconds that a change is to save, "count" for an exact figure of what somebody else's
        code does, such as its collectives.
    closes
        The prediction, or the name of the lever, whose gap this one explains.

    Raises
    ------
    TypeError, ValueError
        If the value is not a number above 0, or the unit or the kind is unknown.
    """
    if unit not in UNITS:
        raise ValueError(f"unknown unit {unit!r} of {name!r}; known: {', '.join(map(repr, UNITS))}")
    if kind not in get_args(Kind):
        raise ValueError(f"a prediction is of the kind {' or '.join(map(repr, get_args(Kind)))}, not {kind!r}")
    gap = closes.name if isinstance(closes, Prediction) else closes or ""
    prediction = Prediction(name, _number(value, f"the prediction {name!r}", above=0), unit, kind, gap)
    _lines[str(prediction)] = show_line(str(prediction))
    return prediction


def quantity(value: float, unit: str, scale: float | None = None) -> str:
    """Return a figure with its unit, to three digits: 0.0056 of "s" gives "5.60 ms".

    The prefix is the one in which a figure of the size `scale` reads best; without a scale, this one.
    """
    prefixed, factor = unit_of(value if scale is None else scale, unit)
    if unit == "" and abs(value) >= 1000:
        return f"{value:,.0f}".replace("-", "−")
    digits = three_digits(value * factor)
    return f"{digits.removesuffix('.00') if unit in ('×', '') else digits} {prefixed}".strip()


def unit_of(value: float, unit: str) -> tuple[str, float]:
    """Return the unit in which a figure reads best, and how many of it make one of `unit`."""
    size = abs(value)
    if unit in ("×", "") or size == 0:
        return unit, 1.0
    if unit == "s":
        return time_unit(size)
    prefix, factor = next(((prefix, factor) for prefix, factor in PREFIXES if size >= factor), PREFIXES[-1])
    return f"{prefix}{unit}", 1 / factor


def bare_quartiles(comparison: Comparison, scale: float) -> tuple[str, str]:
    """Return the quartiles of a measurement without their unit, in which a figure of the size `scale` reads best."""
    factor = unit_of(scale, comparison.unit)[1]
    return three_digits(comparison.low * factor), three_digits(comparison.high * factor)


def drawing(comparison: Comparison) -> str:
    """Return a logarithmic scale in text: ┃ is the prediction, ● the median, ━ its spread; arrows leave the scale."""
    median, low, high = (
        _place(v / comparison.predicted) for v in (comparison.measured, comparison.low, comparison.high)
    )
    scale = ["─"] * (2 * WIDTH + 1)
    for place in range(low, high + 1):
        scale[place] = "━"
    scale[WIDTH] = "┃"
    scale[median] = {-1: "◀", 0: "●", 1: "▶"}[comparison.beyond]
    return "".join(scale)


def _place(factor: float) -> int:
    """Return the character of the drawing at which a multiple of the prediction lies, at most at either end."""
    return round(WIDTH * (1 + on_scale(factor)))


def on_scale(factor: float) -> float:
    """Return where a multiple of the prediction lies: −1 at a quarter or less, 0 at the prediction, 1 at 4 or more."""
    return math.log(min(SPAN, max(1 / SPAN, factor))) / math.log(SPAN)


def _number(value: Any, what: str, above: float | None) -> float:
    """Return a finite number as a float; TypeError or ValueError if it is none, or not above a bound."""
    number = value.item() if hasattr(value, "item") else value
    if isinstance(number, bool) or not isinstance(number, Real):
        raise TypeError(f"{what} is a number, not {value!r}")
    result = float(number)
    if not math.isfinite(result) or (above is not None and result <= above):
        raise ValueError(f"{what} is a number{'' if above is None else f' above {above}'}, not {number!r}")
    return result
