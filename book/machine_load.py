"""What other programs do meanwhile: how much of the processors that a notebook may use they keep busy."""

import os
import sys
import time

import psutil

from d2l_lab.machine.system import cores, usable

ROUGH = 0.15  # of the cores: if other programs take more, times are rough
SECONDS = 0.2  # of a look at them


def used_by_others() -> float:
    """Return the seconds for which these CPUs have worked for others than this process and those that it waited for."""
    each = psutil.cpu_times(percpu=True)
    names = ("user", "nice", "system", "steal")  # what a virtual machine goes without is stolen
    busy = sum(getattr(each[cpu], name, 0.0) for cpu in usable() if cpu < len(each) for name in names)
    return busy - sum(os.times()[:4])


def share(used: float, seconds: float) -> float:
    """Return the share of the cores which a notebook may use that others kept busy, from 0 to 1.

    They worked for `used` seconds on all CPUs together while `seconds` passed. Where a limit leaves us a part of the
    CPUs, others may use the rest.
    """
    free = len(usable()) - used / seconds
    return round(min(1.0, max(0.0, 1 - free / cores())), 2)


class Watch:
    def __init__(self) -> None:
        self.used, self.start = used_by_others(), time.monotonic()

    def busy(self) -> float:
        """Return the share of the cores that others have kept busy since then."""
        return share(used_by_others() - self.used, time.monotonic() - self.start)


def cpu_seconds() -> dict[tuple[int, str], float]:
    """Return the processor time of each program outside of this process's family, by its number and name."""
    ourselves = psutil.Process()
    family = {process.pid for process in (ourselves, *ourselves.children(recursive=True))}
    found = {}
    for process in psutil.process_iter(["ppid", "name", "cpu_times"]):
        taken = process.info["cpu_times"]
        kernels_own = sys.platform == "linux" and process.info["ppid"] == 2  # a thread that works for programs
        if taken and process.pid not in family and not kernels_own:
            found[process.pid, process.info["name"]] = taken.user + taken.system
    return found


def warn_of_others() -> None:
    """Look at other programs for a moment; say in a line if they take so much that times will be rough."""
    before, watch = cpu_seconds(), Watch()
    time.sleep(SECONDS)
    busy = watch.busy()
    if busy <= ROUGH:
        return
    took: dict[str, float] = {}
    for (number, name), seconds in cpu_seconds().items():
        took[name] = took.get(name, 0.0) + seconds - before.get((number, name), 0.0)
    most = sorted(took, key=lambda name: -took[name])[:3]
    names = ", ".join(name for name in most if took[name] > SECONDS / 10)
    others = f"other programs ({names})" if names else "other programs, which cannot be seen from here,"
    print(f"{others} keep {busy:.0%} of the processors busy: times will be rough", flush=True)
