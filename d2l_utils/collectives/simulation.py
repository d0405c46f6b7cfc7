"""What machines that nobody here has would take: protocols as recurrences over all workers at once. NumPy only.

Who waits for given others begins at the maximum of their times, so that one vector operation moves all workers on by a
message or a step, and 10,000 of them take a second. Only where workers wait for servers that answer in the order of
arrival it takes a queue of events. Times are in seconds from a common start; a message of S bytes takes alpha + S / b
seconds, as in costs.py.
"""

from heapq import heapify, heappop, heapreplace

import numpy as np


def ring_ends(ready, S, alpha, b):
    """Return when each rank has the sum by a ring, shape (n,): `ready` is when it has its own array of S bytes.

    In each of 2 (n - 1) steps a rank receives S / n bytes once it and its left neighbour have finished the step before
    (Patarasuk and Yuan 2009). `alpha` and `b` are numbers, or arrays with a link's into each rank. If all are ready at
    once and all links alike, the time is `costs.ring_time`.
    """
    t, n = np.array(ready, dtype=float), len(ready)
    for _ in range(2 * (n - 1)):
        t = np.maximum(t, np.roll(t, 1)) + alpha + S / n / b
    return t


def hierarchical_ends(ready, r, S, inside, outside):
    """Return when each rank has the sum, shape (n,), with r ranks a host: hosts hold consecutive ranks.

    A reduce-scatter within each host, a ring for each of its r shards between the hosts, an all-gather within. `inside`
    and `outside` are pairs of alpha and b. ValueError if r does not divide n.
    """
    if len(ready) % r:
        raise ValueError(f"{len(ready)} ranks do not fill hosts of {r}")
    hosts = np.array(ready, dtype=float).reshape(-1, r)
    within, between = inside[0] + S / r / inside[1], outside[0] + S / len(ready) / outside[1]
    for axis, steps, seconds in ((1, r - 1, within), (0, 2 * (len(hosts) - 1), between), (1, r - 1, within)):
        for _ in range(steps):
            hosts = np.maximum(hosts, np.roll(hosts, 1, axis)) + seconds
    return hosts.ravel()


def server_ends(ready, s, S, alpha, b):
    """Return when each of m workers has the sum from s servers, shape (m,); `ready` is when it has its S bytes.

    Each server holds S / s bytes. Its link takes one push after another, in the order of arrival, and answers in that
    order once the last is there. A worker's own s messages follow each other too. If all are ready at once, the last
    is done at `costs.server_time`.
    """
    ready, places, message = np.asarray(ready, dtype=float), np.arange(len(ready)), alpha + S / s / b
    order = np.argsort(ready, kind="stable")
    begun = np.maximum.accumulate(ready[order] - places * message) + places * message
    pushed = np.maximum(begun + message, ready[order] + s * message)
    done = np.empty(len(ready))
    done[order] = pushed.max() + np.maximum(places + 1, s) * message
    return done


def training_ends(compute, staleness=0):
    """Return when each worker has finished each step, shape (steps + 1, m): row 0 is the start, 0.

    `compute` are the seconds of each step and worker, shape (steps, m), with what an exchange takes. A worker is at
    most `staleness` steps ahead of the slowest: 0 is synchronous, math.inf asynchronous (Ho et al. 2013).
    """
    finish = np.zeros((len(compute) + 1, compute.shape[1]))
    for t, seconds in enumerate(compute):
        begin = finish[t]
        if t >= staleness:
            begin = np.maximum(begin, finish[t - staleness].max())
        finish[t + 1] = begin + seconds
    return finish


def asynchronous_ends(compute, s, S, alpha, b):
    """Return when each worker has pulled after each step, shape (steps + 1, m), from s servers that wait for nobody.

    `compute` as in `training_ends`. A worker computes, pushes S / s bytes to each server and pulls as many. A server's
    link takes one message after another in each direction, in the order of arrival, and a worker's own s follow each
    other. All servers see the same, so one queue stands for them.
    """
    message, done = alpha + S / s / b, np.zeros((len(compute) + 1, compute.shape[1]))
    seconds, steps = compute.T.tolist(), [0] * compute.shape[1]
    events = [(own[0], worker) for worker, own in enumerate(seconds)]  # the next gradients
    heapify(events)
    taken = given = 0.0  # when the links of the servers are free
    while events:
        now, worker = events[0]
        taken = max(taken, now) + message
        pushed = max(taken, now + s * message)
        given = max(given, pushed) + message
        pulled = max(given, pushed + s * message)
        steps[worker] += 1
        done[steps[worker], worker] = pulled
        if steps[worker] < len(compute):
            heapreplace(events, (pulled + seconds[worker][steps[worker]], worker))
        else:
            heappop(events)
    return done


def training_spans(compute, finish, worker="worker"):
    """Return what `timeline` draws of a training run: for each worker Spans of computing and of waiting before it.

    `compute` and `finish` as in `training_ends`, or as measured, with the start of all workers as row 0 of `finish`.
    The rows are called `worker` and a number.
    """
    found = []
    for i, (own, ends) in enumerate(zip(compute.T, finish.T, strict=True)):
        for seconds, start, end in zip(own, ends, ends[1:], strict=False):
            row, begin = f"{worker} {i}", max(start, end - seconds)
            if begin - start > 1e-3 * seconds:
                found.append((row, start, begin, "wait"))
            found.append((row, begin, end, "compute"))
    return found
