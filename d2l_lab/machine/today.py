"""Today's machine: what its pace changes, measured once more in the process whose predictions start from it.

The profile is measured once, and a machine that others share is faster or slower by the hour. So a framework's
dispatch, its passes over memory and its products are measured again within a second, and these figures take the place
of those in the profile, which keeps what is slow to find.
"""

import copy
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from d2l_lab.machine import operations
from d2l_lab.machine.disturbance import Disturbance, observing, reference, set_figure
from d2l_lab.machine.rounds import RUNS, Figure, calls_per_run, run
from d2l_lab.protocol import Framework

BUDGET = 0.7  # seconds after which nothing further is begun
FEWEST = 3  # rounds, whatever they take
PRODUCT = 0.08  # seconds of a product, at most, at the pace of the profile
DIFFERENT = 1.3  # times: from there on a change is worth a word


@dataclass(frozen=True)
class Change:
    """A figure that is another today than when the profile was made."""

    path: operations.Path
    device: str  # the name of a GPU, "" for the CPU
    today: float
    kept: float


@dataclass(frozen=True)
class Today:
    """A profile with today's figures in place of the old ones, which of them changed, and what went wrong."""

    machine: dict[str, Any]
    changes: list[Change]
    failed: dict[str, str]  # by device: figures after the one that failed are the profile's
    disturbance: Disturbance


def measure_today(d2l: Framework, kept: dict[str, Any]) -> Today:
    """Measure the CPU and the first GPU again, for a second at most.

    Every round takes one run of each figure, so that the runs of a figure lie apart. The reference, beside which the
    pace of later measurements is set, is timed in the same rounds.

    Parameters
    ----------
    d2l
        The framework's folder of d2l_utils.
    kept : dict
        The profile, as `d2l_lab.machine.profile.profile_for` returns it; it stays as it is.
    """
    machine = copy.deepcopy(kept)
    parts = {gpu["name"]: gpu for gpu in machine["gpus"][:1]} | {"": machine["framework"]}
    with observing() as seen:
        d2l.synchronize()  # and nothing of the framework's start counts
        deadline = time.monotonic() + BUDGET
        figures, failed = {}, {}
        for device, part in parts.items():
            try:
                for path, figure in _figures(d2l, 0 if device else -1, part):
                    if time.monotonic() > deadline:
                        break
                    figures[device, path] = figure, calls_per_run(figure.call)
            except Exception as error:  # a framework raises what it likes, such as for want of memory
                failed[device] = operations.in_a_line(error)
        seconds: dict[tuple[str, operations.Path], list[float]] = {key: [] for key in figures}
        references = list[dict[str, float]]()
        while len(references) < FEWEST or (len(references) < RUNS and time.monotonic() < deadline):
            for key, (figure, number) in figures.items():
                seconds[key].append(run(figure.call, number))
            references.append(reference())
        set_figure(references)
    changes = []
    for (device, path), (figure, _) in figures.items():
        place = parts[device]
        for folder in path[:-1]:
            place = place[folder]
        change = Change(path, device, figure.of(statistics.median(seconds[device, path])), place[path[-1]])
        place[path[-1]] = change.today
        if not 1 / DIFFERENT <= change.today / change.kept <= DIFFERENT:
            changes.append(change)
    return Today(machine, changes, failed, seen.disturbance)


def _figures(d2l: Framework, i: int, part: dict[str, Any]) -> Iterator[tuple[operations.Path, Figure]]:
    """Yield what is measured of GPU i, or of the CPU for -1, each prepared when its turn comes."""
    device, most = operations.device_and_rows(d2l, i)
    yield from operations.dispatch(d2l.tiny_sum(d2l.try_gpu(max(i, 0))), d2l.synchronize).items()
    size = part["bandwidth"]["memory"]["bytes"]
    for name, (call, times) in d2l.memory_passes(device, size).items():
        yield ("bandwidth", "memory", name), Figure(call, operations.rate(times * size))
    for kind, rate in part["product"].items():
        rows = most
        while 2 * rows**3 > PRODUCT * rate:
            rows //= 2
        yield ("product", kind), operations.product(partial(d2l.product, device), rows, kind)
