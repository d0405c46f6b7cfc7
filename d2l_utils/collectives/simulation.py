"""How long training takes on thousands of machines that wait for each other. NumPy only.

A worker that waits for others starts at the maximum of their times, so one vector operation advances all workers by a
step, and 10,000 workers take a second to simulate. Times are in seconds from a common start.
"""

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Span = tuple[str, float, float, str]  # row, start, end, kind


def training_ends(compute: Array, staleness: Any = 0) -> Array:
    """Return when each worker has finished each step if none may be too far ahead of the slowest (Ho et al. 2013).

    Parameters
    ----------
    compute
        Seconds of each step and worker, an exchange included, shape (steps, m).
    staleness
        The number of steps that a worker may be ahead, an int or math.inf: 0 is synchronous, math.inf asynchronous.

    Returns
    -------
    numpy.ndarray
        Seconds, shape (steps + 1, m); row 0 is the start, 0.
    """
    finish = np.zeros((len(compute) + 1, compute.shape[1]))
    for t, seconds in enumerate(compute):
        begin = finish[t]
        if t >= staleness:
            begin = np.maximum(begin, finish[t - staleness].max())
        finish[t + 1] = begin + seconds
    return finish


def training_spans(compute: Array, finish: Array, worker: str = "worker") -> list[Span]:
    """Return what `timeline` draws of a training run: for each worker its spans of computing and of waiting.

    Parameters
    ----------
    compute, finish
        As in `training_ends`, or as measured, with the start of all workers as row 0 of `finish`.
    worker
        What a row is called, in front of its number.
    """
    found = []
    for i, (own, ends) in enumerate(zip(compute.T, finish.T, strict=True)):
        row = f"{worker} {i}"
        for seconds, start, end in zip(own, ends, ends[1:], strict=False):
            begin = max(start, end - seconds)
            if begin - start > 1e-3 * seconds:
                found.append((row, start, begin, "wait"))
            found.append((row, begin, end, "compute"))
    return found
