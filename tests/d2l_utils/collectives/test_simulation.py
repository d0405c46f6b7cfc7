"""The recurrences of the simulation against the formulas of the cost model and against events taken one by one."""

from heapq import heappop, heappush
from math import inf

import numpy as np
import pytest

from d2l_utils.collectives.cost_model import hierarchical_time, ring_time, server_time
from d2l_utils.collectives.simulation import (
    asynchronous_ends,
    hierarchical_ends,
    ring_ends,
    server_ends,
    training_ends,
    training_spans,
)

S, ALPHA, B = 160e6, 1e-5, 16e9
LINK = (ALPHA, B)
INSIDE = (2e-6, 300e9)
RNG = np.random.default_rng(0)


def by_rounds(ready, steps, cost, left):
    """Return when each rank has received its last message, each sent once both ranks have the one before it."""
    ends, seconds = list(ready), np.broadcast_to(cost, len(ready))
    for _ in range(steps):
        ends = [max(end, ends[left(rank)]) + seconds[rank] for rank, end in enumerate(ends)]
    return ends


def training_by_events(compute, staleness):
    """Return when each worker has finished each step: who is too far ahead waits for the slowest."""
    steps, m = compute.shape
    finish, done, waiting = np.zeros((steps + 1, m)), [0] * m, []
    events = [(compute[0, worker], worker) for worker in range(m)]
    events.sort()
    while events:
        now, worker = heappop(events)
        done[worker] += 1
        finish[done[worker], worker] = now
        waiting.append(worker)
        for idle in [other for other in waiting if done[other] <= min(done) + staleness]:
            waiting.remove(idle)
            if done[idle] < steps:
                heappush(events, (now + compute[done[idle], idle], idle))
    return finish


def servers_by_events(compute, s, message):
    """Return when each worker has pulled after each step: a queue for each server and direction, message by message."""
    steps, m = compute.shape
    free = np.zeros((2, s))
    done, step = np.zeros((steps + 1, m)), [0] * m
    events = [(compute[0, worker], worker) for worker in range(m)]
    while events:
        events.sort()
        now, worker = events.pop(0)
        for direction in free:
            for server in range(s):
                direction[server] = max(direction[server], now) + message
            now = max([now + s * message, *direction])
        step[worker] += 1
        done[step[worker], worker] = now
        if step[worker] < steps:
            events.append((now + compute[step[worker], worker], worker))
    return done


@pytest.mark.parametrize("n", [1, 2, 3, 7, 100])
def test_a_ring_is_what_its_messages_make_one_by_one_and_the_formula_if_all_are_ready_at_once(n):
    ready, alpha, b = RNG.exponential(0.1, n), RNG.exponential(ALPHA, n), B * RNG.random(n)
    expected = by_rounds(ready, 2 * (n - 1), alpha + S / n / b, lambda rank: rank - 1)
    assert ring_ends(ready, S, alpha, b) == pytest.approx(expected)
    assert ring_ends(np.zeros(n), S, *LINK) == pytest.approx(ring_time(n, S, *LINK))


@pytest.mark.parametrize(("r", "N"), [(1, 1), (1, 5), (8, 1), (4, 3), (8, 25)])
def test_rings_in_hosts_and_between_them_are_what_their_messages_and_the_formula_say(r, N):
    ready, inside, between = RNG.exponential(0.01, r * N), INSIDE[0] + S / r / INSIDE[1], ALPHA + S / r / N / B
    scattered = by_rounds(ready, r - 1, inside, lambda rank: rank // r * r + (rank - 1) % r)
    summed = by_rounds(scattered, 2 * (N - 1), between, lambda rank: rank - r)
    expected = by_rounds(summed, r - 1, inside, lambda rank: rank // r * r + (rank - 1) % r)
    assert hierarchical_ends(ready, r, S, INSIDE, LINK) == pytest.approx(expected)
    expected = hierarchical_time(r, N, S, INSIDE, LINK)
    assert hierarchical_ends(np.zeros(r * N), r, S, INSIDE, LINK) == pytest.approx(expected)


def test_a_host_that_is_not_full_is_refused():
    with pytest.raises(ValueError, match="10 ranks do not fill hosts of 4"):
        hierarchical_ends(np.zeros(10), 4, S, INSIDE, LINK)


@pytest.mark.parametrize(("m", "s"), [(1, 1), (5, 1), (6, 4), (8, 8), (3, 7), (100, 10)])
def test_servers_queue_as_their_messages_do_one_by_one_and_the_last_worker_is_done_at_the_formula_s_time(m, s):
    ready, message = RNG.exponential(0.1, m), ALPHA + S / s / B
    pushed, link = np.zeros(m), 0.0
    for worker in np.argsort(ready):
        link = max(link, ready[worker]) + message
        pushed[worker] = max(link, ready[worker] + s * message)
    link, expected = max(pushed), np.zeros(m)
    for worker in np.argsort(ready):
        link += message
        expected[worker] = max(link, max(pushed) + s * message)
    assert server_ends(ready, s, S, *LINK) == pytest.approx(expected)
    assert max(server_ends(np.zeros(m), s, S, *LINK)) == pytest.approx(server_time(m, s, S, *LINK))


@pytest.mark.parametrize("staleness", [0, 1, 3, 50, inf])
@pytest.mark.parametrize("m", [1, 2, 5])
def test_training_is_what_its_steps_make_one_by_one(m, staleness):
    compute = RNG.exponential(1, (20, m))
    assert training_ends(compute, staleness) == pytest.approx(training_by_events(compute, staleness))


@pytest.mark.parametrize(("m", "s"), [(1, 1), (4, 1), (5, 3), (2, 6), (40, 1)])
def test_asynchronous_servers_are_what_their_messages_make_one_by_one(m, s):
    compute = RNG.exponential(0.02, (15, m))
    expected = servers_by_events(compute, s, ALPHA + S / s / B)
    assert asynchronous_ends(compute, s, S, *LINK) == pytest.approx(expected)


@pytest.mark.parametrize("staleness", [0, 2])
def test_spans_cover_a_run_without_gaps(staleness):
    compute = RNG.exponential(1, (6, 3))
    finish = training_ends(compute, staleness)
    found = training_spans(compute, finish, "rank")
    assert sum(end - start for _, start, end, kind in found if kind == "compute") == pytest.approx(compute.sum())
    for worker in range(3):
        own = [span for span in found if span[0] == f"rank {worker}"]
        assert [end for _, _, end, _ in own[:-1]] == pytest.approx([start for _, start, _, _ in own[1:]])
        assert (own[0][1], own[-1][2]) == (0, pytest.approx(finish[-1, worker]))
