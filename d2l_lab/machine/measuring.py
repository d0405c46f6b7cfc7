"""Measure what the profile of this machine lacks: `python -m d2l_lab.machine.measuring torch` for one framework.

The framework is imported only if its part of the profile is missing or out of date. Each of the four modules defines
what is measured by the same names: a tiny sum, a product, a copy, and its GPUs.
"""

import importlib
import json
import os
import sys
from datetime import date
from functools import partial
from typing import Any

from d2l_lab.files import locked, write_atomically
from d2l_lab.machine.profile import FORMAT, of_this_machine, profile_path, read, up_to_date, version
from d2l_lab.machine.system import caches, cores, describe

KINDS = ("float32", "bfloat16")
GPU_ARRAYS = {"L2": 2**23, "memory": 2**29}  # bytes of an array


def main(module: str) -> None:
    """Bring the profile up to date for a framework's folder of d2l_utils; SystemExit says in a line what failed."""
    path = profile_path()
    try:
        with locked(path.with_name(f".{path.name}.lock")):
            profile = read(path)
            if not up_to_date(profile, module):
                print(f"measuring what this machine can do with {module}: once", flush=True)
                write_atomically(path, json.dumps(measured(profile, module), indent=1, ensure_ascii=False) + "\n")
    except OSError as error:
        sys.exit(f"cannot write {path}: {error}; let the variable D2L_MACHINE_PROFILE name a file that can be written")


def measured(profile: dict[str, Any], module: str) -> dict[str, Any]:
    """Return the profile with the framework's part measured, and all else too if it is of another machine."""
    try:
        if not of_this_machine(profile):
            profile = measure_machine()
        parts = profile["frameworks"] | {module: measure_framework(module)}
    except OSError as error:
        sys.exit(f"the measurement failed: {error}")
    return profile | {"frameworks": parts}


def measure_machine() -> dict[str, Any]:
    """Return what needs no framework, measured before one is imported, whose threads would take part."""
    from d2l_lab.machine import probes  # here: numba takes a second to import, and most calls measure nothing

    sizes = probes.WORKING_SETS
    return {
        "format": FORMAT,
        "date": date.today().isoformat(),
        "machine": describe(),
        "caches": caches(),
        # 64 MiB an array; where many cores share it, 8 MiB for each, so that no part fits into a core's caches.
        "bandwidth": {
            "one core": probes.triad_bandwidth(1, 2**23),
            "all cores": probes.triad_bandwidth(cores(), max(2**23, cores() * 2**20)),
        },
        "latency": {str(size): seconds for size, seconds in zip(sizes, probes.latencies(sizes), strict=True)},
        "product": {"float32": probes.numpy_product(2000)},
        "frameworks": {},
    }


def measure_framework(module: str) -> dict[str, Any]:
    """Return the framework's part. Its products use all cores unless OMP_NUM_THREADS says otherwise."""
    from d2l_lab.machine import probes

    os.environ.setdefault("OMP_NUM_THREADS", str(cores()))
    d2l = importlib.import_module(f"d2l_utils.{module}")
    return {
        "version": version(module),
        "date": date.today().isoformat(),
        "dispatch": probes.dispatch(d2l._tiny_sum(d2l.try_gpu()), d2l.synchronize),
        "bandwidth": probes.bandwidths(partial(d2l._passes, d2l.try_gpu(-1)), probes.array_sizes(caches())),
        "product": probes.product_rates(partial(d2l._product, d2l.try_gpu(-1)), 2000, KINDS),
        "gpus": [
            {
                "name": name,
                "dispatch": probes.dispatch(d2l._tiny_sum(d2l.try_gpu(i)), d2l.synchronize),
                "bandwidth": probes.bandwidths(partial(d2l._passes, d2l.try_gpu(i)), GPU_ARRAYS),
                "product": probes.product_rates(partial(d2l._product, d2l.try_gpu(i)), 8192, KINDS),
            }
            for i, name in enumerate(d2l._gpu_names())
        ],
    }


if __name__ == "__main__":
    main(sys.argv[1])
