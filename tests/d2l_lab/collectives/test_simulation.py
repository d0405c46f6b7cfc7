"""The recurrence of the simulation against events taken one by one."""

from heapq import heappop, heappush
from math import inf

import numpy as np
import pytest

from d2l_lab.collectives.simulation import training_ends

RNG = np.random.default_rng(0)


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


@pytest.mark.parametrize("staleness", [0, 1, 3, 50, inf])
@pytest.mark.parametrize("m", [1, 2, 5])
def test_training_is_what_its_steps_make_one_by_one(m, staleness):
    compute = RNG.exponential(1, (20, m))
    assert training_ends(compute, staleness) == pytest.approx(training_by_events(compute, staleness))
