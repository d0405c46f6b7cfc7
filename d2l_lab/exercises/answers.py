"""What a reader's function is checked against, and what the reader is told: whether it holds, never how it is done."""

import copy
import math
import reprlib
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from d2l_lab.instruments.timing import NEAR, Measurement, three_digits, time_unit
from d2l_lab.instruments.words import say, say_line, say_record

HELD, MISSED, OPEN = "✓", "✗", "–"


@dataclass(frozen=True)
class Case:
    """A call of the reader's function, and what it should return.

    Parameters
    ----------
    arguments
        Those of the call. The function gets copies.
    right
        Numbers, alone or in tuples, lists and arrays, which the result has to equal but for rounding; or a function
        that takes the result and tells whether it is right.
    hint
        A sentence that leads a reader who misses this case on, without giving the solution.
    """

    arguments: tuple[Any, ...]
    right: Any
    hint: str


@dataclass(frozen=True)
class Guess:
    """What an exercise has a reader predict.

    Parameters
    ----------
    unit
        "s" for seconds, "" for a share, a ratio or a count.
    hint
        A sentence that leads a reader whose prediction misses on, without giving the figure.
    """

    unit: str
    hint: str


def examine(name: str, answer: Callable[..., Any], cases: tuple[Case, ...]) -> str:
    """Run an answer against cases in turn, up to the first that fails; return a mark and what became of it.

    A function that returns None counts as not written yet. One that raises an error fails.
    """
    for case in cases:
        call = f"{name}({', '.join(_short(argument) for argument in case.arguments)})"
        try:
            result = answer(*copy.deepcopy(case.arguments))
        except Exception as error:  # whatever a reader's code may do
            kind = type(error).__name__
            return say_line("✗ {call} raised {kind}: {message}", call=call, kind=kind, message=error)
        if result is None:
            return say_line("– {exercise} returns nothing yet: write it in the cell above", exercise=name)
        if not _is_right(result, case.right):
            return say_line("✗ {call} returned {result}", call=call, result=_short(result)) + _hint(case.hint)
    return say_line("✓ {exercise}: {n} cases hold", exercise=name, n=len(cases))


def weigh(name: str, answer: float | None, measured: Callable[[], Measurement | float], guess: Guess) -> str:
    """Measure what a reader has predicted; return a mark and both figures, with a hint unless they are near.

    A prediction of None counts as not made yet, and nothing is measured.

    Raises
    ------
    TypeError, ValueError
        If the prediction is no number above 0.
    """
    if answer is None:
        return say_line("– {exercise}: predict first, with a number in the cell above", exercise=name)
    predicted, found = _above_zero(answer, f"a prediction of {name}"), measured()
    seen = found.disturbance.words() if isinstance(found, Measurement) else ""
    actual = _above_zero(found.median if isinstance(found, Measurement) else found, f"what was measured of {name}")
    off = max(actual / predicted, predicted / actual)
    about = {"exercise": name, "predicted": _figure(predicted, guess.unit), "measured": _figure(actual, guess.unit)}
    about["disturbed"] = say("; disturbed: {observed}", observed=seen) if seen else ""
    if off <= NEAR:
        return say_line(
            "✓ {exercise}: predicted {predicted}, measured {measured}, within {near} ×{disturbed}", near=NEAR, **about
        )
    about["times"] = three_digits(off)
    missed = say_line("✗ {exercise}: predicted {predicted}, measured {measured}, off by {times} ×{disturbed}", **about)
    return missed + _hint(guess.hint)


def _hint(hint: str) -> str:
    """Return the line of a hint, below another."""
    return "\n  " + say_line("Hint: {hint}", hint=say_record(hint))


def _above_zero(value: Any, what: str) -> float:
    number = value.item() if hasattr(value, "item") else value
    if isinstance(number, bool) or not isinstance(number, Real):
        raise TypeError(f"{what} is a number, not {value!r:.40}")
    result = float(number)
    if not (math.isfinite(result) and result > 0):
        raise ValueError(f"{what} is a number above 0, not {number!r}")
    return result


def _figure(value: float, unit: str) -> str:
    if not unit:
        return three_digits(value).removesuffix(".00")
    name, factor = time_unit(value)
    return f"{three_digits(value * factor)} {name}"


def _is_right(result: Any, right: Any) -> bool:
    """Tell whether a result is what a case asks for; one that cannot be compared is not."""
    try:
        if callable(right):
            return bool(right(result))
        found, wanted = np.asarray(result, dtype=float), np.asarray(right, dtype=float)
        return found.shape == wanted.shape and np.allclose(found, wanted, rtol=1e-6, atol=1e-12)
    except Exception:  # a result of the wrong kind or shape
        return False


def _short(value: Any) -> str:
    """Return a value in at most some sixty characters: an array by its shape, unless it is small."""
    if isinstance(value, np.ndarray) and value.size > 6:
        return f"<array of shape {value.shape}>"
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    return " ".join(_SHORT.repr(value).split())


_SHORT = reprlib.Repr()
_SHORT.maxother = _SHORT.maxstring = 60
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = 8
