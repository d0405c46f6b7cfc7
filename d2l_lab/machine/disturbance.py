"""What slowed a measurement: the processor time that others took meanwhile, and the pace at which the machine ran.

The system counts what other programs and the hypervisor take of the processors. Neighbours on a rented host leave no
trace there, although they take bandwidth, caches and the other thread of a core. So a reference is timed now and then,
a pass over memory and products of small matrices, and set beside the figure that it had when today's machine was
measured. This module imports no framework.
"""

import math
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import numpy as np
import psutil

from d2l_lab.instruments.words import say
from d2l_lab.machine.system import caches, cores, usable

MOST = 0.1  # of the cores: if others take more, a measurement is disturbed
SLOWEST = 0.75  # of the reference's own pace: below it, a measurement is disturbed
SHORTEST = 0.3  # seconds of a stretch in which others are looked for: processor time is counted in ticks
LEAST = 0.05  # seconds, five ticks: less of others' time than that is noise
SHARE = 1 / 20  # of a stretch, at most, goes to references
APART = 0.5  # seconds between two references
COST = 0.005  # seconds of a reference, as long as it has no figure
ENOUGH = 3  # references without which nothing is said of the pace: one alone may have met with an interruption
SMALL = 64  # rows of a matrix: so small a product is computed in the calling thread, without those of the library

# A thread's own processor time leaves out what others' turns take, which are counted above. Windows has it in ticks.
_clock = time.thread_time if time.get_clock_info("thread_time").resolution < 1e-5 else time.perf_counter
# Seconds of the reference's parts when today's machine was measured, or else during the first stretch that was long
# enough. Both are behind other work of this process, whose threads may spin for a while yet, as in all later ones.
_figure: dict[str, float] = {}


@dataclass(frozen=True)
class Disturbance:
    """What was seen of others while something was measured.

    Parameters
    ----------
    others : float
        The cores that other programs and the hypervisor took.
    cores : int
        The cores that this process may use; 0 if others were not looked for.
    pace : float
        The reference's pace beside its own figure; 1 if it was not timed.
    """

    others: float = 0.0
    cores: int = 0
    pace: float = 1.0

    @property
    def disturbed(self) -> bool:
        """Whether others took more than a tenth of the cores, or the pace fell below three quarters."""
        return self._crowded or self.pace < SLOWEST

    @property
    def _crowded(self) -> bool:
        return self.others > MOST * self.cores

    @property
    def factor(self) -> float:
        """By how many times it can have lengthened a time: by the cores that were left, or by the pace."""
        left = self.cores - self.others
        return max(1 / self.pace, self.cores / left if left > 0 else math.inf if self.cores else 1.0, 1.0)

    def words(self, say: Callable[..., str] = say) -> str:
        """Return what disturbed, in the words of `say`; "" if nothing did."""
        found = []
        if self._crowded and self.cores == 1:
            found.append(say("other programs took {others} of 1 core", others=f"{self.others:.1f}"))
        elif self._crowded:
            found.append(say("other programs took {others} of {n} cores", others=f"{self.others:.1f}", n=self.cores))
        if self.pace < SLOWEST:
            found.append(say("the machine ran at {pace} of its pace", pace=f"{self.pace:.2g}"))
        return say(", and ").join(found)


class Observation:
    """A stretch of time under observation, from its construction to its end; nothing is observed with D2L_QUICK=1."""

    def __init__(self) -> None:
        self.disturbance = Disturbance()  # what was seen, once the stretch has ended
        self._off = os.environ.get("D2L_QUICK") == "1"
        if self._off:
            return
        _parts()  # makes and warms them up, the first time
        self._references: list[dict[str, float]] = []
        self._spent = self._last = 0.0
        self._used, self._start = used_by_others(), time.perf_counter()

    def tick(self) -> None:
        """Time the reference if it is due, at most twice a second: call this between runs that are timed.

        No work of this process may be under way, since it would slow the reference.
        """
        if not self._off:
            self._tick(APART if len(self._references) >= ENOUGH else 0.0)

    def _tick(self, apart: float) -> None:
        now = time.perf_counter()
        affordable = self._spent + (sum(_figure.values()) or COST) <= SHARE * (now - self._start)
        if affordable and now - self._last >= apart:
            self._references.append(reference())
            self._last = time.perf_counter()
            self._spent += self._last - now

    def end(self) -> None:
        """Set `disturbance` to what was seen of the stretch. `observing` calls this."""
        if self._off:
            return
        seconds, used = time.perf_counter() - self._start, used_by_others() - self._used
        for _ in range(max(1, ENOUGH - len(self._references))):
            self._tick(0.0)
        if not _figure and len(self._references) >= ENOUGH:
            set_figure(self._references)
        others, here = 0.0, 0
        if seconds >= SHORTEST:
            others, here = (taken(used, seconds) if used > LEAST else 0.0), cores()
        self.disturbance = Disturbance(others, here, pace(self._references))


@contextmanager
def observing() -> Iterator[Observation]:
    """Observe what others do during a block: `with observing() as seen: …`, and then `seen.disturbance`."""
    seen = Observation()
    yield seen
    seen.end()


def used_by_others() -> float:
    """Return the seconds for which the usable CPUs have worked for others, or were withheld by the hypervisor.

    Others are neither this process nor its descendants, nor those that one of them waited for.
    """
    each = psutil.cpu_times(percpu=True)
    names = ("user", "nice", "system", "steal")
    busy = sum(getattr(each[cpu], name, 0.0) for cpu in usable() if cpu < len(each) for name in names)
    family = psutil.Process().children(recursive=True)
    return busy - sum(os.times()[:4]) - sum(_processor_time(process) for process in family)


def _processor_time(process: psutil.Process) -> float:
    """Return the seconds that a process and those that it waited for have computed; 0 if it is gone."""
    try:
        return sum(process.cpu_times()[:4])  # user and system, of its own and of those
    except psutil.Error:
        return 0.0


def taken(used: float, seconds: float) -> float:
    """Return how many of the cores that this process may use others kept busy.

    They worked for `used` seconds on all CPUs together while `seconds` passed. Where a limit leaves us a part of the
    CPUs, others may use the rest.
    """
    free = len(usable()) - used / seconds
    return min(float(cores()), max(0.0, cores() - free))


def reference() -> dict[str, float]:
    """Return the seconds of each part of the reference, which takes some milliseconds in the calling thread."""
    found = {}
    for name, work in _parts().items():
        start = _clock()
        work()
        found[name] = _clock() - start
    return found


@cache
def _parts() -> dict[str, Callable[[], object]]:
    """Return the parts of the reference, after a warm-up; their arrays are kept, as taking memory would cost more."""
    size = max([cache["bytes"] for cache in caches() if cache["level"] == 3], default=0)
    x = np.ones(min(max(size, 2**25), 2**27) // 4, dtype=np.float32)  # as large as the L3, and copied to another
    y = np.empty_like(x)
    factor = np.full((SMALL, SMALL), 1 / SMALL, dtype=np.float32)
    many = np.broadcast_to(factor, (256, SMALL, SMALL))
    products = np.empty(many.shape, many.dtype)
    parts: dict[str, Callable[[], object]] = {
        "pass": lambda: np.copyto(y, x),
        "product": lambda: np.matmul(many, factor, out=products),
    }
    for work in parts.values():
        work()
    return parts


def set_figure(references: Sequence[dict[str, float]]) -> None:
    """Keep the median of these references as the figure beside which later ones are set."""
    for name in references[0]:
        _figure[name] = statistics.median(found[name] for found in references)


def pace(references: Sequence[dict[str, float]]) -> float:
    """Return the pace of the slower part, in the median of the references; 1 if there are too few, or no figure."""
    if len(references) < ENOUGH or not _figure:
        return 1.0
    return min(seconds / statistics.median(found[name] for found in references) for name, seconds in _figure.items())
