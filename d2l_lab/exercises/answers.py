"""What a reader's function is checked against, and what the reader is told: whether it holds, never how it is done."""

import copy
import reprlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

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


def examine(name: str, answer: Callable[..., Any], cases: tuple[Case, ...]) -> str:
    """Run an answer against cases in turn, up to the first that fails; return a mark and what became of it.

    A function that returns None counts as not written yet. One that raises an error fails.
    """
    for case in cases:
        call = f"{name}({', '.join(_short(argument) for argument in case.arguments)})"
        try:
            result = answer(*copy.deepcopy(case.arguments))
        except Exception as error:  # whatever a reader's code may do
            return f"{MISSED} {call} raised {type(error).__name__}: {error}"
        if result is None:
            return f"{OPEN} {name} returns nothing yet: write it in the cell above"
        if not _is_right(result, case.right):
            return f"{MISSED} {call} returned {_short(result)}\n  Hint: {case.hint}"
    return f"{HELD} {name}: {len(cases)} cases hold"


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
