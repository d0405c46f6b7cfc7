"""What the benchmarks share: candidates that take turns, and how busy the machine was meanwhile."""

import os
import time
from random import Random

from d2l_lab.machine.system import cores


def take_turns(candidates, rounds=3, seconds=0.0):
    """Call each candidate once in each of `rounds` rounds, and for at least so many seconds.

    Their order is drawn by lot in each round, the same lots in every process, so that what else runs on the machine
    disturbs all with equal chance. Returns a list of what each returned, by its name.
    """
    found, lot, deadline = {name: [] for name in candidates}, Random(0), time.perf_counter() + seconds
    while rounds > 0 or time.perf_counter() < deadline:
        rounds -= 1
        for name in lot.sample(list(candidates), len(candidates)):
            found[name].append(candidates[name]())
    return found


def timed(function, *arguments):
    """Return the seconds that a call takes."""
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def load():
    """Return in words how busy the machine was in the last minute."""
    return f"{os.getloadavg()[0]:.1f} processes wanted {cores()} cores (with more than cores, run again later)"
