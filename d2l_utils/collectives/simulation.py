"""How long protocols take on thousands of machines: recurrences over all workers at once. NumPy only.

A worker that waits for others starts at the maximum of their times, so one vector operation advances all workers by a
message or a step, and 10,000 workers take a second to simulate. Only workers that wait for servers which answer in the
order of arrival need a queue of events. Times are in seconds from a common start; a message of S bytes takes
alpha + S / b seconds, as in `cost_model`.
"""

from collections.abc import Sequence
from heapq import heapify, heappop, heapreplace
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Link = tuple[float, float]  # alpha in seconds, b in bytes/s
Span = tuple[str, float, float, str]  # row, start, end, kind


def ring_ends(ready: Sequence[float] | Array, S: float, alpha: float | Array, b: float | Array) -> Array:
    """Return when each rank has the sum by a ring (Patarasuk and Yuan 2009).

    In each of 2 (n - 1) steps a rank receives S / n bytes once it and its left neighbour have finished the step before.
    If all ranks are ready at once and all links are alike, the time is `cost_model.ring_time`.

    Parameters
    ----------
    ready
        When each rank has its own array of S bytes, shape (n,).
    alpha, b
        Numbers, or arrays of shape (n,) for the link into each rank.

    Returns
    -------
    numpy.ndarray
        Seconds, shape (n,).
    """
    t, n = np.array(ready, dtype=float), len(ready)
    for _ in range(2 * (n - 1)):
        t = np.maximum(t, np.roll(t, 1)) + alpha + S / n / b
    return t


def hierarchical_ends(ready: Sequence[float] | Array, r: int, S: float, inside: Link, outside: Link) -> Array:
    """Return when each rank has the sum by rings in hosts of r consecutive ranks and rings between the hosts.

    Each host reduces and scatters, r rings sum one shard each between the hosts, and each host gathers.

    Parameters
    ----------
    ready
        When each rank has its own array of S bytes, shape (n,).
    inside, outside
        alpha and b of the links in a host and between hosts.

    Returns
    -------
    numpy.ndarray
        Seconds, shape (n,).

    Raises
    ------
    ValueError
        If r does not divide n.
    """
    if len(ready) % r:
        raise ValueError(f"{len(ready)} ranks do not fill hosts of {r}")
    ends = np.array(ready, dtype=float).reshape(-1, r)  # a row for each host
    step_inside = inside[0] + S / r / inside[1]
    step_between = outside[0] + S / len(ready) / outside[1]
    for axis, steps, seconds in (
        (1, r - 1, step_inside),
        (0, 2 * (len(ends) - 1), step_between),
        (1, r - 1, step_inside),
    ):
        for _ in range(steps):
            ends = np.maximum(ends, np.roll(ends, 1, axis)) + seconds
    return ends.ravel()


def server_ends(ready: Sequence[float] | Array, s: int, S: float, alpha: float, b: float) -> Array:
    """Return when each of m workers has pulled the sum from s servers.

    Each server holds S / s bytes. Its link takes one push after another, in the order of arrival, and answers in that
    order once the last has come. A worker's own s messages follow each other too. If all workers are ready at once,
    the last one is done at `cost_model.server_time`.

    Parameters
    ----------
    ready
        When each worker has its own array of S bytes, shape (m,).

    Returns
    -------
    numpy.ndarray
        Seconds, shape (m,).
    """
    ready = np.asarray(ready, dtype=float)
    message = alpha + S / s / b
    order = np.argsort(ready, kind="stable")
    position = np.arange(len(ready))  # in the order of arrival
    push_start = np.maximum.accumulate(ready[order] - position * message) + position * message
    push_end = np.maximum(push_start + message, ready[order] + s * message)
    pull_end = np.empty(len(ready))
    pull_end[order] = push_end.max() + np.maximum(position + 1, s) * message
    return pull_end


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


def asynchronous_ends(compute: Array, s: int, S: float, alpha: float, b: float) -> Array:
    """Return when each worker has pulled after each step, from s servers that wait for no worker.

    A worker computes, pushes S / s bytes to each server and pulls as many. A server's link takes one message after
    another in each direction, in the order of arrival, and a worker's own s messages follow each other. All servers
    see the same messages, so one queue stands for all of them.

    Parameters
    ----------
    compute
        Seconds of each step and worker, shape (steps, m).

    Returns
    -------
    numpy.ndarray
        Seconds, shape (steps + 1, m); row 0 is the start, 0.
    """
    message = alpha + S / s / b
    seconds = compute.T.tolist()  # by worker and step
    pulled = np.zeros((len(compute) + 1, compute.shape[1]))
    finished = [0] * compute.shape[1]  # steps of each worker
    gradients = [(own[0], worker) for worker, own in enumerate(seconds)]  # when each worker's next gradient is ready
    heapify(gradients)
    push_free = pull_free = 0.0  # when the servers' links are free in each direction
    while gradients:
        now, worker = gradients[0]
        push_free = max(push_free, now) + message
        push_end = max(push_free, now + s * message)
        pull_free = max(pull_free, push_end) + message
        pull_end = max(pull_free, push_end + s * message)
        finished[worker] += 1
        pulled[finished[worker], worker] = pull_end
        if finished[worker] < len(compute):
            heapreplace(gradients, (pull_end + seconds[worker][finished[worker]], worker))
        else:
            heappop(gradients)
    return pulled


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
