"""What the operating system reports about this machine.

Standard library only: the set-up uses this module before anything is installed.
"""

import math
import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import Any

SIZE_SUFFIXES = {"K": 2**10, "M": 2**20, "G": 2**30}
MACOS_CACHES = {
    "l1dcachesize": (1, "data"),
    "l1icachesize": (1, "instruction"),
    "l2cachesize": (2, "unified"),
    "l3cachesize": (3, "unified"),
}


def describe() -> dict[str, Any]:
    """Return what this machine is.

    Returns
    -------
    dict
        ``cpu`` (its model), ``cores`` and ``memory_gb`` (what this process may use), ``gpus`` (a list of names) and
        ``system``.
    """
    return {"cpu": cpu(), "cores": cores(), "memory_gb": memory(), "gpus": gpus(), "system": system()}


def cpu() -> str:
    """Return the name of the processor's model."""
    for line in contents(Path("/proc/cpuinfo")).splitlines():
        if line.startswith("model name"):
            return " ".join(line.partition(":")[2].split())
    if platform.system() == "Darwin":
        return answer("sysctl", "-n", "machdep.cpu.brand_string")
    return platform.processor() or platform.machine()


def cores() -> int:
    """Return the number of CPUs (hardware threads) that this process may use; a fraction of one counts as a whole."""
    numbers = [len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1]
    for limit in cgroup_limits("cpu.max"):
        quota, period = limit.split()
        if quota.isdigit():
            numbers.append(math.ceil(int(quota) / int(period)))
    return min(numbers)


def memory() -> int:
    """Return the memory in GiB that this process may use."""
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    sizes += [int(limit) for limit in cgroup_limits("memory.max") if limit.isdigit()]
    return round(min(sizes) / 2**30)


def cgroup_limits(
    name: str, root: Path = Path("/sys/fs/cgroup"), membership: Path = Path("/proc/self/cgroup")
) -> list[str]:
    """Return the limits that the control groups (version 2) around this process set, its own group's first.

    Parameters
    ----------
    name : str
        The file of a limit, such as "cpu.max".
    root, membership : Path
        Where the groups are mounted, and the file that names this process's own.
    """
    found = []
    for line in contents(membership).splitlines():
        if line.startswith("0::/"):
            own = root / line.removeprefix("0::/")
            groups = [group for group in (own, *own.parents) if group.is_relative_to(root)]
            found += [contents(group / name) for group in groups]
    return [limit for limit in found if limit]


def contents(path: Path) -> str:
    """Return the text of a file without surrounding white space, or "" if it cannot be read."""
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def gpus() -> list[str]:
    """Return the names of the NVIDIA GPUs; an empty list if there is no driver or no GPU."""
    return answer("nvidia-smi", "--query-gpu=name", "--format=csv,noheader").splitlines()


def system() -> str:
    """Return the name of the operating system."""
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, AttributeError, KeyError):
        return platform.platform(terse=True)


def answer(*command: str) -> str:
    """Return what a command prints, or "" if it is missing, fails or takes longer than 30 s."""
    if not shutil.which(command[0]):
        return ""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def caches(folder: Path = Path("/sys/devices/system/cpu/cpu0/cache")) -> list[dict[str, Any]]:
    """Return the caches of the first core as the system reports them; a virtual machine may report too much.

    Returns
    -------
    list of dict
        ``level``, ``kind``, ``bytes`` and ``shared_by`` (a number of cores, None if unknown); empty if the system
        reports no caches.
    """
    if platform.system() == "Darwin":
        found = [_macos_cache(name) for name in MACOS_CACHES]
    else:
        found = [_linux_cache(path) for path in sorted(folder.glob("index*"))]
    return [cache for cache in found if cache]


def _macos_cache(name: str) -> dict[str, Any] | None:
    """Return one cache, of the fast cores where there are two kinds; None if the system does not report it."""
    size = answer("sysctl", "-n", f"hw.perflevel0.{name}") or answer("sysctl", "-n", f"hw.{name}")
    if not size.isdigit() or int(size) == 0:
        return None
    level, kind = MACOS_CACHES[name]
    return {"level": level, "kind": kind, "bytes": int(size), "shared_by": 1 if level == 1 else None}


def _linux_cache(path: Path) -> dict[str, Any] | None:
    """Return one cache; None if the system does not report its level, kind or size."""
    level, kind, size = (contents(path / name) for name in ("level", "type", "size"))
    if not (level and kind and size):
        return None
    threads = _count(contents(path / "shared_cpu_list"))
    threads_per_core = _count(contents(path.parents[1] / "topology" / "thread_siblings_list"))
    return {
        "level": int(level),
        "kind": kind.lower(),
        "bytes": int(size.rstrip("KMG")) * SIZE_SUFFIXES.get(size[-1], 1),
        "shared_by": max(1, threads // threads_per_core) if threads and threads_per_core else None,
    }


def _count(ranges: str) -> int:
    """Return how many numbers a list such as "0-3,8" has; 0 if it is empty."""
    total = 0
    for part in ranges.split(","):
        if part:
            first, _, last = part.partition("-")
            total += int(last or first) - int(first) + 1
    return total
