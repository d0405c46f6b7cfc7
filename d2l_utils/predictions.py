"""Predictions: figures of the text that are stated before they are measured. Standard library only."""

import math
from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any, Literal

from d2l_utils.display import show
from d2l_utils.timing import Measurement, three_digits, time_unit

MIME = "application/vnd.d2l.prediction+json"
PREFIXES = (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0))
UNITS = ("s", "B", "B/s", "flop", "flop/s", "×", "")
WIDTH = 8  # characters to each side of the prediction, at the middle of the drawing
SPAN = 4.0  # the factor at either end of the drawing

Kind = Literal["estimate", "model"]


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
        "model" for what a section arrives at, "estimate" for a figure before its terms were measured.
    """

    name: str
    value: float
    unit: str = "s"
    kind: Kind = "model"

    def __str__(self) -> str:
        return f"{self.name}: predicted {quantity(self.value, self.unit)}"

    def compare(self, measured: Measurement | float) -> None:
        """Show the prediction beside its measurement: a line and a small drawing on a logarithmic scale.

        Parameters
        ----------
        measured
            A Measurement, or a number in the prediction's unit where there is no spread (a count, an exact size).

        Raises
        ------
        TypeError, ValueError
            If what was measured is not a number above 0.
        """
        if isinstance(measured, Measurement):
            median, low, high = measured.median, measured.low, measured.high
        else:
            median = low = high = _positive(measured, "a measurement")
        show(Comparison(self.name, self.kind, self.unit, self.value, median, low, high))


@dataclass(frozen=True)
class Comparison:
    """A prediction and its measurement: median and quartiles, all in SI units."""

    name: str
    kind: Kind
    unit: str
    predicted: float
    measured: float
    low: float
    high: float

    @property
    def factor(self) -> float:
        """The measurement over the prediction."""
        return self.measured / self.predicted

    def __str__(self) -> str:
        predicted, measured = (quantity(value, self.unit) for value in (self.predicted, self.measured))
        spread = "" if self.low == self.high else f" ({bare(self.low, self)}–{bare(self.high, self)})"
        figures = f"predicted {predicted:<10} measured {measured + spread:<22}"
        return f"{self.name:<30} {figures} {three_digits(self.factor):>5} ×  {drawing(self)}"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {MIME: asdict(self), "text/plain": str(self)}


def predict(name: str, value: float, unit: str = "s", kind: Kind = "model") -> Prediction:
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
        "model" for a figure with all its terms measured, "estimate" for one made before that.

    Raises
    ------
    TypeError, ValueError
        If the value is not a number above 0, or the unit or the kind is unknown.
    """
    if unit not in UNITS:
        raise ValueError(f"unknown unit {unit!r} of {name!r}; known: {', '.join(map(repr, UNITS))}")
    if kind not in ("estimate", "model"):
        raise ValueError(f"a prediction is an 'estimate' or a 'model', not {kind!r}")
    prediction = Prediction(name, _positive(value, f"the prediction {name!r}"), unit, kind)
    print(prediction)
    return prediction


def quantity(value: float, unit: str) -> str:
    """Return a figure with its unit, to three digits: 0.0056 of "s" gives "5.60 ms"."""
    if unit == "s":
        prefixed, factor = time_unit(value)
        return f"{three_digits(value * factor)} {prefixed}"
    if unit in ("×", ""):
        plain = f"{value:,.0f}" if unit == "" and value >= 1000 else three_digits(value).removesuffix(".00")
        return f"{plain} {unit}".strip()
    prefix, factor = _prefix(value)
    return f"{three_digits(value / factor)} {prefix}{unit}"


def bare(value: float, comparison: Comparison) -> str:
    """Return a figure in the unit that the comparison's median is shown in, without that unit."""
    if comparison.unit == "s":
        return three_digits(value * time_unit(comparison.measured)[1])
    if comparison.unit in ("×", ""):
        return three_digits(value)
    return three_digits(value / _prefix(comparison.measured)[1])


def drawing(comparison: Comparison) -> str:
    """Return a logarithmic scale in text: ┃ is the prediction, ● the median, ━ its spread; arrows leave the scale."""
    median, low, high = (
        _place(v / comparison.predicted) for v in (comparison.measured, comparison.low, comparison.high)
    )
    scale = ["─"] * (2 * WIDTH + 1)
    for place in range(low, high + 1):
        scale[place] = "━"
    scale[WIDTH] = "┃"
    outside = comparison.factor > SPAN or comparison.factor < 1 / SPAN
    scale[median] = ("▶" if comparison.factor > 1 else "◀") if outside else "●"
    return "".join(scale)


def _place(factor: float) -> int:
    """Return the character of the drawing at which a multiple of the prediction lies, at most at either end."""
    place = WIDTH + round(WIDTH * math.log(factor) / math.log(SPAN))
    return min(2 * WIDTH, max(0, place))


def _prefix(value: float) -> tuple[str, float]:
    """Return the prefix in which a figure reads best, and its factor."""
    return next(((prefix, factor) for prefix, factor in PREFIXES if value >= factor), PREFIXES[-1])


def _positive(value: Any, what: str) -> float:
    """Return a number as a float; TypeError or ValueError if it is none above 0."""
    number = value.item() if hasattr(value, "item") else value
    if isinstance(number, bool) or not isinstance(number, Real):
        raise TypeError(f"{what} is a number, not {value!r}")
    result = float(number)
    if not 0 < result < math.inf:
        raise ValueError(f"{what} is a number above 0, not {number!r}")
    return result
