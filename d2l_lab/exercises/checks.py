"""The check that a notebook calls, with the cases of all sections."""

from collections.abc import Callable
from typing import Any

from d2l_lab.exercises import compute, kernels, parallel, serving, storage
from d2l_lab.exercises.answers import examine

CASES = {**compute.CASES, **kernels.CASES, **storage.CASES, **parallel.CASES, **serving.CASES}


def check(name: str, answer: Callable[..., Any]) -> None:
    """Run the reader's function for an exercise against several cases, and print what became of it.

    The line begins with ✓ if all cases hold, ✗ with the first that fails, and a hint, or – for a function that
    returns nothing yet.

    Parameters
    ----------
    name
        The exercise: the name that its function has in the text.
    answer
        The reader's function.

    Raises
    ------
    TypeError
        If the answer is not a function.
    ValueError
        If there is no exercise of this name.
    """
    if name not in CASES:
        raise ValueError(f"there is no exercise {name!r} to check; there are: {' '.join(sorted(CASES))}")
    if not callable(answer):
        raise TypeError(f"check takes the function itself, {name} without parentheses, not {answer!r:.40}")
    print(examine(name, answer, CASES[name]))
