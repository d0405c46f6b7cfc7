"""The check that a notebook calls, with the cases of all sections."""

from collections.abc import Callable
from typing import Any

from d2l_lab.exercises import compute, kernels, parallel, serving, storage
from d2l_lab.exercises.answers import Guess, examine, weigh
from d2l_lab.instruments.timing import Measurement

SECTIONS = (compute, kernels, parallel, serving, storage)
CASES = {name: cases for part in SECTIONS for name, cases in part.CASES.items()}
GUESSES: dict[str, Guess] = {name: guess for part in SECTIONS for name, guess in part.GUESSES.items()}


def check(
    name: str,
    answer: Callable[..., Any] | float | None,
    measured: Callable[[], Measurement | float] | None = None,
) -> None:
    """Check the answer to an exercise, and print what became of it.

    A function runs against several cases. A prediction is compared with what `measured` returns, which is called only
    once there is a prediction; the two may be 1.5 times apart. The line begins with ✓ if the answer holds, ✗ with a
    hint if it fails, or – if there is none yet.

    Parameters
    ----------
    name
        The exercise: the name that the text gives its function or prediction.
    answer
        The reader's function, or the prediction: a number above 0, in seconds if it is a time, None for none yet.
    measured
        A function without arguments that measures what was predicted.

    Raises
    ------
    TypeError, ValueError
        If there is no exercise of this name, or the answer is not what the exercise asks for.
    """
    if name in GUESSES:
        if not callable(measured):
            raise TypeError(f"check takes a function that measures {name}, not {measured!r:.40}")
        if callable(answer):
            raise TypeError(f"check takes a number, the prediction of {name}, not a function")
        print(weigh(name, answer, measured, GUESSES[name]))
        return
    if name not in CASES:
        known = " ".join(sorted({*CASES, *GUESSES}))
        raise ValueError(f"there is no exercise {name!r} to check; there are: {known}")
    if not callable(answer):
        raise TypeError(f"check takes the function itself, {name} without parentheses, not {answer!r:.40}")
    print(examine(name, answer, CASES[name]))
