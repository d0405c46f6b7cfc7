"""What the operating system reports about this machine.

Standard library only: the set-up uses this module before anything is installed.
"""

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
VECTORS = {"avx512f": 512, "avx2": 256, "": 128}  # bits, by the flag that Linux shows
MACOS_FLAGS = {"avx512f": "avx512f", "avx2": "avx2_0"}


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
    for line in text_of(Path("/proc/cpuinfo")).splitlines():
        if line.startswith("model name"):
            return " ".join(line.partition(":")[2].split())
    if platform.system() == "Darwin":
        return output_of("sysctl", "-n", "machdep.cpu.brand_string")
    return platform.processor() or platform.machine()


def usable() -> list[int]:
    """Return the numbers of the CPUs (hardware threads) on which this process may run."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def cores() -> int:
    """Return how many CPUs this process may use at the same time: as many whole ones as its quota has, but at least 1.

    With more threads, which wait for each other, a part of them would always stand still.
    """
    numbers = [len(usable())]
    for group in control_groups("cpu"):
        limit = text_of(group / "cpu.max").split()  # version 2; in version 1 each number has a file
        limit = limit or [text_of(group / f"cpu.cfs_{name}_us") for name in ("quota", "period")]
        if limit[0].isdigit():  # else "max", or -1
            numbers.append(int(limit[0]) // int(limit[1]))
    return max(1, min(numbers))


def memory() -> int:
    """Return the memory in GiB that this process may use."""
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for group in control_groups("memory"):
        limit = text_of(group / "memory.max") or text_of(group / "memory.limit_in_bytes")
        if limit.isdigit():
            sizes.append(int(limit))
    return round(min(sizes) / 2**30)


def control_groups(controller: str, process: Path = Path("/proc/self")) -> list[Path]:
    """Return the folders of the control groups around this process that are mounted here, of versions 1 and 2.

    Each of them, from the process's own up to the mounted root, may set a limit; a folder may be missing.

    Parameters
    ----------
    controller : str
        What is limited, "cpu" or "memory".
    process : Path
        The folder with the files that name the process's groups, and where they are mounted.
    """
    own: dict[str, str] = {}
    for line in text_of(process / "cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        own |= dict.fromkeys(controllers.split(","), path)  # none are named in version 2
    found: list[Path] = []
    for line in text_of(process / "mountinfo").splitlines():
        place, _, mounted = line.partition(" - ")
        kind, options = mounted.split()[0], mounted.split()[-1].split(",")
        if kind == "cgroup2" or (kind == "cgroup" and controller in options):
            root, mount = place.split()[3:5]
            group = Path(own.get("" if kind == "cgroup2" else controller, root))
            # In a container, the path may be that of the host, of which only what lies below `root` can be seen here.
            group = Path(mount, group.relative_to(root)) if group.is_relative_to(root) else Path(mount)
            found += [each for each in (group, *group.parents) if each.is_relative_to(mount)]
    return found


def text_of(path: Path) -> str:
    """Return the text of a file without surrounding white space, or "" if it cannot be read."""
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def vector_bits(proc: Path = Path("/proc")) -> int:
    """Return the bits of the processor's widest vectors, as its flags name them.

    All 64-bit processors of x86 and of Arm have 128, whatever they name. A virtual machine shows the flags that its
    host passes on. Arm's scalable vectors are as long as Linux lets them be.
    """
    flags = set(text_of(proc / "cpuinfo").split())
    if platform.system() == "Darwin":
        flags = {flag for flag, name in MACOS_FLAGS.items() if output_of("sysctl", "-n", f"hw.optional.{name}") == "1"}
    scalable = text_of(proc / "sys/abi/sve_default_vector_length")  # in bytes
    if "sve" in flags and scalable.isdigit():
        return 8 * int(scalable)
    return max(bits for flag, bits in VECTORS.items() if flag in flags | {""})


def gpus() -> list[str]:
    """Return the names of the NVIDIA GPUs; an empty list if there is no driver or no GPU."""
    return output_of("nvidia-smi", "--query-gpu=name", "--format=csv,noheader").splitlines()


def system() -> str:
    """Return the name of the operating system."""
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, AttributeError, KeyError):
        return platform.platform(terse=True)


def output_of(*command: str) -> str:
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
    size = output_of("sysctl", "-n", f"hw.perflevel0.{name}") or output_of("sysctl", "-n", f"hw.{name}")
    if not size.isdigit() or int(size) == 0:
        return None
    level, kind = MACOS_CACHES[name]
    return {"level": level, "kind": kind, "bytes": int(size), "shared_by": 1 if level == 1 else None}


def _linux_cache(path: Path) -> dict[str, Any] | None:
    """Return one cache; None if the system does not report its level, kind or size."""
    level, kind, size = (text_of(path / name) for name in ("level", "type", "size"))
    if not (level and kind and size):
        return None
    threads = _count(text_of(path / "shared_cpu_list"))
    threads_per_core = _count(text_of(path.parents[1] / "topology" / "thread_siblings_list"))
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
