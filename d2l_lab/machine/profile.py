"""Read the machine profile: where it is kept, whether it is up to date, and what a section gets of it.

It is kept in `_build/machine.json` of the project, or for an installed package in `~/.cache/d2l` (a temporary folder
where that cannot be written to); the environment variable D2L_MACHINE_PROFILE names another file. What a process may
use of a machine changes, with its quota or without its GPUs: the file keeps a profile for each such state, on top that
of the last build or measurement, below it `others`. The program `d2l_lab.machine.measuring` measures what is missing or
out of date: in another state, with another version of the framework, or after FORMAT has been raised; and a product
that failed, once more after a while.
Each figure is the median of several rounds, which the file keeps below `rounds`. This module imports no framework.
"""

import json
import os
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

from d2l_lab.files import cache_folder
from d2l_lab.machine.system import describe

FORMAT = 6  # of the file: raise it when what a figure means or how it is measured changes
COMMON = ("machine", "date", "caches", "bandwidth", "latency", "product")
FRAMEWORK = ("version", "dispatch", "bandwidth", "product")
GPU = ("name", "dispatch", "bandwidth", "product")
STATES = 8  # whose profiles are kept
PAUSE = 600  # seconds before a product that failed is tried once more
LONGEST = 600  # seconds that a measurement may take
PACKAGE = Path(__file__).parents[1]


def profile_for(module: str) -> dict[str, Any]:
    """Return the machine profile for one framework, measured first where it is missing or out of date.

    A measurement takes some seconds, and one line says so.

    Parameters
    ----------
    module : str
        The framework's folder in d2l_utils: "torch", "tensorflow", "jax" or "mxnet".

    Returns
    -------
    dict
        All figures are in SI units.
        ``machine``: {cpu, cores, memory_gb, gpus: names, system}; ``date``: the day it was measured.
        ``caches``: [{level, kind, bytes, shared_by}, …] as the system reports them.
        ``bandwidth``: {"one core", "all cores"}, bytes/s of STREAM's triad over three arrays of 64 MiB or more, which
        a very large last cache may hold.
        ``latency``: {bytes of the working set, as text: seconds of a load that the next one waits for}.
        ``product``: {"float32"}, flop/s of NumPy.
        ``framework``: {version, dispatch, bandwidth, product}, measured with the framework's own operations.
        Its ``dispatch``: {"issue": seconds of a tiny operation, one of many issued before one wait, "wait": seconds
        of one that is waited for alone}, on the first GPU if there is one.
        Its ``bandwidth``, of the CPU: {"L2", "L3", "memory": {"bytes": of an array, "copy": bytes/s read and written by
        a copy into another array that exists, "in place": the same of y = a · y}}. TensorFlow has neither on a CPU:
        y = y + x stands for both, with the bytes of three arrays.
        Its ``product``: {"float32", "bfloat16"}, flop/s of the library that its dense layers use, on the CPU.
        ``gpus``: [{name, dispatch, bandwidth: {"L2", "memory"}, product}, …], the same figures of each GPU.
        A number type in which the framework computes slowly here, or not at all, is left out of ``product``. On a GPU
        that has TF32, TensorFlow and JAX use it for float32 products unless told otherwise; PyTorch does not.

    Raises
    ------
    RuntimeError
        If the machine cannot be measured or the profile cannot be written.
    """
    path = profile_path()
    profile = of_this_machine(read(path))
    if not up_to_date(profile, module):
        print("measuring what this machine can do: once", flush=True)
        measure_missing(module, path, quiet=True)
        profile = of_this_machine(read(path)) or read(path)  # the program may have seen other GPUs than this process
        for line in left_out(profile["frameworks"][module]):
            print(line)
    return figures(profile, module)


def figures(profile: dict[str, Any], module: str) -> dict[str, Any]:
    """Return what a section gets of a profile: the figures of the machine and of one framework, as far as known."""
    part = profile["frameworks"].get(module, {})
    gpus = [{key: gpu[key] for key in GPU if key in gpu} for gpu in part.get("gpus", [])]
    framework = {key: part[key] for key in FRAMEWORK if key in part}
    return {key: profile[key] for key in COMMON if key in profile} | {"framework": framework, "gpus": gpus}


def left_out(part: dict[str, Any]) -> list[str]:
    """Return a line for each product of a framework that failed: an error of this moment, or for good."""
    devices = [("the CPU", part), *((gpu["name"], gpu) for gpu in part.get("gpus", []))]
    found = [(kind, where, error) for where, device in devices for kind, error in device.get("failed", {}).items()]
    return [
        f"a product in {kind} on {where} failed, which is tried again later: {error}" for kind, where, error in found
    ]


def measure_missing(
    module: str,
    path: Path,
    python: str = sys.executable,
    environment: dict[str, str] | None = None,
    folder: Path = PACKAGE.parent,
    quiet: bool = False,
) -> None:
    """Measure what a machine profile lacks, in a process of its own: threads of another framework would take part.

    Parameters
    ----------
    module : str
        The framework's folder in d2l_utils.
    path : Path
        The file of the profile.
    python : str
        The Python that has the framework.
    environment : dict
        Environment variables of the process, in addition to those of this one.
    folder : Path
        The folder that `d2l_lab` is imported from.
    quiet : bool
        Whether to drop what the program prints: one line if it measures.

    Raises
    ------
    RuntimeError
        With the reason in one line, if the program does not start, fails, or takes longer than LONGEST.
    """
    problem = f"no machine profile for {module}"
    try:
        done = subprocess.run(
            [python, "-m", "d2l_lab.machine.measuring", module],
            cwd=folder,
            env=os.environ | (environment or {}) | {"D2L_MACHINE_PROFILE": str(path)},
            stdout=subprocess.DEVNULL if quiet else None,
            stderr=subprocess.PIPE,
            text=True,
            timeout=LONGEST,
        )
    except OSError as error:
        raise RuntimeError(f"{problem}: {python} does not start: {error}") from None
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{problem}: the measurement took longer than {LONGEST} s") from None
    if done.returncode or not path.exists():
        last_line = done.stderr.strip().split("\n")[-1]
        raise RuntimeError(f"{problem}: {last_line or f'exit status {done.returncode}'}")


def profile_path() -> Path:
    """Return the path of the machine profile: below the project, or for an installed package in the cache's folder."""
    if setting := os.environ.get("D2L_MACHINE_PROFILE"):
        return Path(setting).absolute()
    project = PACKAGE.parent
    folder = project / "_build" if (project / "pyproject.toml").exists() else cache_folder()
    return folder / "machine.json"


def read(path: Path) -> dict[str, Any]:
    """Return the content of the file, or {} if it is missing, damaged or of another format."""
    try:
        profile = json.loads(path.read_text(encoding="utf-8"))
        whole = all({"machine", "frameworks"} <= each.keys() for each in (profile, *profile.get("others", [])))
        return profile if whole and profile["format"] == FORMAT else {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def up_to_date(profile: dict[str, Any], module: str) -> bool:
    """Return whether a profile has the framework's part, of the installed version, and no product to try once more."""
    part = profile.get("frameworks", {}).get(module, {})
    return part.get("version") == version(module) and not (left_out(part) and time.time() > part["tried"] + PAUSE)


def of_this_machine(profile: dict[str, Any]) -> dict[str, Any]:
    """Return the profile of this machine, as this process may use it, out of those in the file; {} if there is none."""
    here = describe()
    return next((each for each in states(profile) if each["machine"] == here), {})


def states(profile: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the profiles in the content of a file, each without the others."""
    return [
        {key: each[key] for key in each if key != "others"} for each in (profile, *profile.get("others", [])) if each
    ]


def on_top(profile: dict[str, Any], others: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a file with this profile on top and, out of those in `others`, the ones of other states."""
    below = [each for each in states(others) if each["machine"] != profile["machine"]]
    return profile | {"others": below[: STATES - 1]}


def version(module: str) -> str:
    """Return the installed version of a framework, or "unknown"."""
    for name in (module, f"{module}-cpu"):
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return "unknown"
