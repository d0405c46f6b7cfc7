"""Measure what the profile of this machine lacks: `python -m d2l_lab.machine.measuring torch` for one framework.

The framework is imported only if its part of the profile is missing or out of date.
"""

import importlib
import json
import os
import sys
import time
from collections.abc import Sequence
from datetime import date
from functools import partial
from typing import Any, cast

from d2l_lab.files import locked, write_atomically
from d2l_lab.machine.profile import FORMAT, left_out, of_this_machine, on_top, profile_path, read, up_to_date, version
from d2l_lab.machine.system import caches, cores, describe
from d2l_lab.protocol import Framework

KINDS = ("float32", "bfloat16")
GPU_ARRAYS = {"L2": 2**23, "memory": 2**29}  # bytes of an array
CPU_ROWS, GPU_ROWS = 2000, 8192  # of the arrays of a product


def main(module: str) -> None:
    """Bring the profile up to date for a framework's folder of d2l_utils; SystemExit says in a line what failed."""
    os.environ.pop("D2L_QUICK", None)  # what is measured here is kept, whatever run asked for it first
    path = profile_path()
    try:
        with locked(path.with_name(f".{path.name}.lock")):
            known = read(path)
            profile = of_this_machine(known)
            if not up_to_date(profile, module):
                print(f"measuring what this machine can do with {module}: once", flush=True)
                profile = measured(profile, module)
                for line in left_out(profile["frameworks"][module]):
                    print(line, flush=True)
            write_atomically(path, json.dumps(on_top(profile, known), indent=1, ensure_ascii=False) + "\n")
    except OSError as error:
        sys.exit(f"cannot write {path}: {error}; let the variable D2L_MACHINE_PROFILE name a file that can be written")


def measured(profile: dict[str, Any], module: str) -> dict[str, Any]:
    """Return the profile with the framework's part measured, and all else too if there is none of this machine.

    Of a part that is of the installed version, only what failed is measured again.
    """
    try:
        profile = profile or measure_machine()
        part = profile["frameworks"].get(module, {})
        part = try_again(part, module) if part.get("version") == version(module) else measure_framework(module)
    except OSError as error:
        sys.exit(f"the measurement failed: {error}")
    return profile | {"frameworks": profile["frameworks"] | {module: part | {"tried": round(time.time())}}}


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

    d2l = framework(module)
    return {
        "version": version(module),
        "date": date.today().isoformat(),
        "dispatch": probes.dispatch(d2l.tiny_sum(d2l.try_gpu()), d2l.synchronize),
        "bandwidth": probes.bandwidths(partial(d2l.memory_passes, d2l.cpu()), probes.array_sizes(caches())),
        **products(d2l, d2l.cpu(), CPU_ROWS, KINDS),
        "gpus": [
            {
                "name": name,
                "dispatch": probes.dispatch(d2l.tiny_sum(d2l.try_gpu(i)), d2l.synchronize),
                "bandwidth": probes.bandwidths(partial(d2l.memory_passes, d2l.try_gpu(i)), GPU_ARRAYS),
                **products(d2l, d2l.try_gpu(i), GPU_ROWS, KINDS),
            }
            for i, name in enumerate(d2l.gpu_names())
        ],
    }


def try_again(part: dict[str, Any], module: str) -> dict[str, Any]:
    """Return the framework's part with what failed of its products measured again; all other figures stay."""
    d2l = framework(module)

    def again(figures: dict[str, Any], device: Any, rows: int) -> dict[str, Any]:
        found = products(d2l, device, rows, list(figures["failed"]))
        return figures | found | {"product": figures["product"] | found["product"]}

    gpus = [again(gpu, d2l.try_gpu(i), GPU_ROWS) for i, gpu in enumerate(part["gpus"])]
    return again(part, d2l.cpu(), CPU_ROWS) | {"gpus": gpus}


def products(d2l: Framework, device: Any, rows: int, kinds: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the rates of a framework's products of square arrays on a device, and what failed of them."""
    from d2l_lab.machine import probes

    rates, failed = probes.product_rates(partial(d2l.product, device), rows, kinds)
    return {"product": rates, "failed": failed}


def framework(module: str) -> Framework:
    """Return a framework's folder of d2l_utils, with a thread for each core unless OMP_NUM_THREADS says otherwise."""
    os.environ.setdefault("OMP_NUM_THREADS", str(cores()))
    return cast(Framework, importlib.import_module(f"d2l_utils.{module}"))


if __name__ == "__main__":
    main(sys.argv[1])
