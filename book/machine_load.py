"""What other programs do meanwhile: how much of the processors that a notebook may use they keep busy."""

import sys
import time

import psutil

from d2l_lab.machine.disturbance import taken, used_by_others
from d2l_lab.machine.system import cores

ROUGH = 0.15  # of the cores: if other programs take more, times are rough
SECONDS = 0.2  # of a look at them


class Watch:
    def __init__(self) -> None:
        self.used, self.start = used_by_others(), time.monotonic()

    def busy(self) -> float:
        """Return the share of the cores that others have kept busy since then, from 0 to 1."""
        return round(taken(used_by_others() - self.used, time.monotonic() - self.start) / cores(), 2)


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
