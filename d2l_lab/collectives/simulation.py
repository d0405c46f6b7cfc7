"""How long training takes on thousands of machines that wait for each other. NumPy only.

A worker that waits for others starts at the maximum of their times, so one vector operation advances all workers by a
step, and 10,000 workers take a second to simulate. Times are in seconds from a common start.
"""

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


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
