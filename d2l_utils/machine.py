"""What this machine is, as the system tells, and what it can do, as measured. All figures in SI units.

A disturbance can only make a run slower, and a card says what the machine can do: each figure is the best of several
runs after a warm-up, as in STREAM. The seconds of an operation's dispatch alone are a median.

`python -m d2l_utils.machine` prints as JSON what needs no framework.
"""

import json
import math
import os
import platform
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from time import perf_counter

from .timing import measure  # NumPy is imported only to measure: make asks for the description alone

WORKING_SETS = [2**14, 2**18, 2**22, 2**26, 2**28]  # bytes: 16 KiB, 256 KiB, 4 MiB, 64 MiB, 256 MiB


def describe():
    """Return a dict of cpu (model), cores and memory_gb (both what may be used), gpus (a list) and system."""
    return {"cpu": cpu(), "cores": cores(), "memory_gb": memory(), "gpus": gpus(), "system": system()}


def cpu():
    """Return the name of the processor's model."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    if platform.system() == "Darwin":
        return answer("sysctl", "-n", "machdep.cpu.brand_string")
    return platform.processor() or platform.machine()


def cores():
    """Return the number of CPUs (hardware threads) that this process may use, a part of one counted as a whole."""
    number = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    quotas = [line.split() for line in limits("cpu.max")]
    return min([number, *(math.ceil(int(quota) / int(period)) for quota, period in quotas if quota.isdigit())])


def memory():
    """Return the memory in GiB that this process may use."""
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return round(min([size, *(int(line) for line in limits("memory.max") if line.isdigit())]) / 2**30)


def limits(name, root=Path("/sys/fs/cgroup"), told=Path("/proc/self/cgroup")):
    """Return what the control groups (version 2) around this process say on `name`: texts, its own group's first."""
    own = [line.removeprefix("0::/") for line in contents(told).splitlines() if line.startswith("0::/")]
    groups = [folder for path in own for folder in (root / path, *(root / path).parents)]
    return [text for folder in groups if folder.is_relative_to(root) and (text := contents(folder / name))]


def contents(path):
    """Return the text of a file without space around it, or '' if it cannot be read."""
    with suppress(OSError):
        return path.read_text().strip()
    return ""


def gpus():
    """Return the names of the NVIDIA GPUs."""
    return answer("nvidia-smi", "--query-gpu=name", "--format=csv,noheader").splitlines()


def system():
    """Return the name of the operating system."""
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, AttributeError, KeyError):
        return platform.platform(terse=True)


def answer(*command):
    """Return what `command` prints, or '' when it cannot, or not within 30 s."""
    if not shutil.which(command[0]):
        return ""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def caches(folder=Path("/sys/devices/system/cpu/cpu0/cache")):
    """Return the caches of the first core: dicts of level, kind, bytes and shared_by (cores, None if not told).

    They are what the system reports, which in a virtual machine may be more than acts; [] where it reports none.
    """
    found = [cache for path in sorted(folder.glob("index*")) if (cache := _linux_cache(path))]
    if platform.system() == "Darwin":
        names = {
            "l1dcachesize": (1, "data"),
            "l1icachesize": (1, "instruction"),
            "l2cachesize": (2, "unified"),
            "l3cachesize": (3, "unified"),
        }
        sizes = {  # of the fast cores, where there are two kinds
            name: answer("sysctl", "-n", f"hw.perflevel0.{name}") or answer("sysctl", "-n", f"hw.{name}")
            for name in names
        }
        found = [
            {"level": level, "kind": kind, "bytes": int(sizes[name]), "shared_by": 1 if level == 1 else None}
            for name, (level, kind) in names.items()
            if sizes[name].isdigit() and int(sizes[name])
        ]
    return found


def _linux_cache(path):
    """Return one cache, or None where its level, kind or size is not told."""
    level, kind, size = (contents(path / name) for name in ("level", "type", "size"))
    if not (level and kind and size):
        return None
    sharing = _count(contents(path / "shared_cpu_list"))
    in_a_core = _count(contents(path.parents[1] / "topology" / "thread_siblings_list"))
    return {
        "level": int(level),
        "kind": kind.lower(),
        "bytes": int(size.rstrip("KMG")) * {"K": 2**10, "M": 2**20, "G": 2**30}.get(size[-1], 1),
        "shared_by": max(1, sharing // in_a_core) if sharing and in_a_core else None,
    }


def _count(ranges):
    """Return how many numbers a list such as '0-3,8' has, 0 if it is empty."""
    ends = [[int(end) for end in part.split("-")] for part in ranges.split(",") if part]
    return sum(pair[-1] - pair[0] + 1 for pair in ends)


def measure_common():
    """Return what needs no framework: a dict of caches, bandwidth, latency and product, in about three seconds."""
    return {
        "caches": caches(),
        # 64 MiB an array; where many cores share it, 8 MiB for each, so that no part fits into a core's caches.
        "bandwidth": {
            "one core": triad_bandwidth(1, 2**23),
            "all cores": triad_bandwidth(cores(), max(2**23, cores() * 2**20)),
        },
        "latency": {str(size): seconds for size, seconds in zip(WORKING_SETS, latencies(WORKING_SETS), strict=True)},
        "product": {"float32": numpy_product(2000)},
    }


def best(function, runs=5):
    """Return the seconds of the fastest of several runs, after one to warm up."""
    function()
    seconds = []
    for _ in range(runs):
        start = perf_counter()
        function()
        seconds.append(perf_counter() - start)
    return min(seconds)


def triad_bandwidth(threads, length):
    """Return the bytes a second that STREAM's triad moves in `threads` threads, over three float64 arrays.

    As STREAM does, each thread touches its part of the arrays first, so that the pages lie near to it, and 24 bytes
    count for each element: the line of `a` that the processor may fetch before it writes to it is left out.
    """
    import numpy as np

    from .kernels import triad

    arrays = [np.empty(length) for _ in range(3)]
    ends = [length * i // threads for i in range(threads + 1)]
    parts = [[array[start:end] for array in arrays] for start, end in pairwise(ends)]
    passes = 4

    def touch(part):
        for array in part:
            array.fill(1)

    def move(part):
        for _ in range(passes):
            triad(*part, 3.0)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(touch, parts))
        seconds = best(lambda: list(pool.map(move, parts)))
    return 24 * length * passes / seconds


def latencies(sizes):
    """Return a list, in the order of `sizes`, of the seconds of a load that the next one waits for.

    The sizes are those of working sets in bytes, each a power of two and at least 64.
    """
    import numpy as np

    from .kernels import chase, lay_ring

    ring, found = np.empty(max(sizes) // 8, dtype=np.int64), []
    for size in sizes:
        lay_ring(ring, size)
        steps, place = 2**21 if size < 2**20 else 2**18, 0

        def walk(steps=steps):
            nonlocal place
            place = chase(ring, place, steps)  # from where the last run ended, so that it finds nothing fetched by it

        found.append(best(walk) / steps)
    return found


def numpy_product(n):
    """Return the flop/s of NumPy's product of two n × n float32 matrices."""
    import numpy as np

    x = np.random.default_rng(0).random((n, n), dtype=np.float32)
    y = np.empty_like(x)
    return 2 * n**3 / best(lambda: np.matmul(x, x, out=y))


def dispatch(add, synchronize, calls=1000):
    """Return the seconds of one call of `add`, a tiny operation: many are issued one after another, then waited for."""

    def issue():
        for _ in range(calls):
            last = add()
        synchronize(last)

    return measure(issue, repeats=9, budget=0.5).median / calls


def product_rates(prepare, n, kinds, longest=1.0):
    """Return {kind: flop/s} of products of two n × n matrices, without a kind whose product lasts over `longest` s.

    `prepare(n, kind)` returns a function that computes one product and waits for it. A kind for which either raises
    an error is left out too, but for float32, which every framework has.
    """
    rates = {}
    for kind in kinds:
        with suppress(*() if kind == "float32" else (Exception,)):  # a kind that is missing has an error of its own
            probe = min(measure(prepare(n // 8, kind), repeats=3, budget=0.1).seconds)
            if probe * 8**3 < 4 * longest:  # small products are slower for each flop, by a factor of four at most
                seconds = min(measure(prepare(n, kind), repeats=5, budget=0.3).seconds)
                rates |= {kind: 2 * n**3 / seconds} if seconds < longest else {}
    return rates


def copy_bandwidth(copy, size):
    """Return the bytes a second that `copy` reads and writes; it copies `size` bytes and waits for that."""
    return 2 * size / min(measure(copy, repeats=5, budget=1.0).seconds)


if __name__ == "__main__":
    print(json.dumps(measure_common()))
