"""What this machine is, as the system tells; threads that keep to a core, reads past the page cache.

Standard library only; sizes in bytes unless a name says otherwise.
"""

import functools
import math
import mmap
import os
import platform
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path


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


def vector_bits(information=Path("/proc/cpuinfo")):
    """Return the width of a core's vector registers in bits, by the flags of the processor; 128 where none are told."""
    flags = set(contents(information).split())
    return 512 if "avx512f" in flags else 256 if "avx2" in flags else 128


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


def pinned_threads(number):
    """Return a ThreadPoolExecutor whose threads keep to one CPU each, as far apart as this process may choose.

    Where there are fewer CPUs than threads, or the system offers no choice (macOS), the system places them.
    """
    cpus = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if len(cpus) < number:
        return ThreadPoolExecutor(number)
    homes = iter(cpus[i * (len(cpus) - 1) // max(1, number - 1)] for i in range(number))
    return ThreadPoolExecutor(number, initializer=lambda: os.sched_setaffinity(0, {next(homes)}))


def open_direct(path):
    """Return a file, opened to be read past the page cache: whole pages, into memory that begins with one (mmap's).

    Where the system or the file system offers no such reads, it is opened as usual, and one line says so.
    """
    if hasattr(os, "O_DIRECT") and _reads(path):  # Linux
        return open(path, "rb", buffering=0, opener=_past_cache)
    if sys.platform == "darwin":
        return open(path, "rb", buffering=0, opener=_uncached)
    _say_once()
    return open(path, "rb", buffering=0)


def _past_cache(path, flags):
    return os.open(path, flags | os.O_DIRECT)


def _uncached(path, flags):
    from fcntl import F_NOCACHE, fcntl

    handle = os.open(path, flags)
    fcntl(handle, F_NOCACHE, 1)
    return handle


def _reads(path):
    """Tell whether the file system opens and reads the file past the cache: some refuse only the read."""
    try:
        with open(path, "rb", buffering=0, opener=_past_cache) as file, mmap.mmap(-1, mmap.PAGESIZE) as page:
            file.readinto(page)
    except OSError:
        return False
    return True


@functools.cache
def _say_once():
    print("reads here come through the page cache")
