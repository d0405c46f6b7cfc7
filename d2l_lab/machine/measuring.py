"""Measure what the profile of this machine lacks: `python -m d2l_lab.machine.measuring torch` for one framework.

The framework is imported only if its part of the profile is missing or out of date.
"""

import copy
import importlib
import json
import os
import statistics
import sys
import time
from collections.abc import Sequence
from datetime import date
from functools import partial
from typing import Any, cast

from d2l_lab.files import locked, write_atomically
from d2l_lab.machine import operations
from d2l_lab.machine.disturbance import observing
from d2l_lab.machine.profile import FORMAT, left_out, of_this_machine, on_top, profile_path, read, up_to_date, version
from d2l_lab.machine.rounds import Figure, in_rounds, medians, tree
from d2l_lab.machine.system import caches, cores, describe
from d2l_lab.protocol import Framework

KINDS = ("float32", "bfloat16")
CONTRADICTION = 1.5  # times the triad's bandwidth: as it counts, three quarters of what it moves


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
                with observing() as seen:
                    profile = measured(profile, module)
                for line in left_out(profile["frameworks"][module]):
                    print(line, flush=True)
                if seen.disturbance.disturbed:
                    print(f"while this machine was measured, {seen.disturbance.words()}", flush=True)
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
        if part.get("version") == version(module):
            part = try_again(part, module)
        else:
            profile, part = settled(profile, measure_framework(module), module)
    except OSError as error:
        sys.exit(f"the measurement failed: {error}")
    return profile | {"frameworks": profile["frameworks"] | {module: part | {"tried": round(time.time())}}}


def measure_machine() -> dict[str, Any]:
    """Return what needs no framework, measured before one is imported, whose threads would take part."""
    from d2l_lab.machine import probes  # here: numba takes a second to import, and most calls measure nothing

    figures: dict[tuple[str, ...], Figure] = {
        ("bandwidth", "one core"): probes.triad_bandwidth(1, 2**23),
        ("bandwidth", "all cores"): probes.all_cores_bandwidth(),
        **{("latency", str(size)): probes.latency(size) for size in probes.WORKING_SETS},
        ("product", "float32"): probes.numpy_product(operations.CPU_ROWS),
    }
    rounds = tree(in_rounds(figures))
    about = {"format": FORMAT, "date": date.today().isoformat(), "machine": describe(), "caches": caches()}
    return about | medians(rounds) | {"rounds": rounds, "frameworks": {}}


def measure_framework(module: str) -> dict[str, Any]:
    """Return the framework's part. Its products use all cores unless OMP_NUM_THREADS says otherwise."""
    d2l = framework(module)
    names = d2l.gpu_names()
    sizes = {-1: operations.array_sizes(caches())} | dict.fromkeys(range(len(names)), operations.GPU_ARRAYS)
    figures, failed = dict[tuple[int, tuple[str, ...]], Figure](), {}
    for i, arrays in sizes.items():
        device, rows = operations.device_and_rows(d2l, i)
        tiny = d2l.tiny_sum(d2l.try_gpu(max(i, 0)))  # the CPU's is that of the first GPU, if there is one
        found, failed[i] = products(d2l, device, rows, KINDS)
        found |= operations.dispatch(tiny, d2l.synchronize)
        found |= operations.bandwidths(partial(d2l.memory_passes, device), arrays)
        figures |= {(i, path): figure for path, figure in found.items()}
    rounds = in_rounds(figures)

    def part(i: int) -> dict[str, Any]:
        mine = tree({path: values for (device, path), values in rounds.items() if device == i})
        found = {"dispatch": {}, "bandwidth": {}, "product": {}} | medians(mine)
        for level, size in sizes[i].items():
            found["bandwidth"][level] = {"bytes": size} | found["bandwidth"][level]
        return found | {"failed": failed[i], "rounds": mine}

    about = {"version": version(module), "date": date.today().isoformat()}
    return about | part(-1) | {"gpus": [{"name": name} | part(i) for i, name in enumerate(names)]}


def settled(profile: dict[str, Any], part: dict[str, Any], module: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the profile and the framework's part after a second look at figures of memory that contradict each other.

    No pass of a framework in place moves more than CONTRADICTION times what the triad on all cores does. If it seems
    to, both are measured again, and each figure is the median of all rounds.
    """
    triad, passes = profile["bandwidth"]["all cores"], part["bandwidth"]["memory"]
    if passes["in place"] <= CONTRADICTION * triad:
        return profile, part
    from d2l_lab.machine import probes

    d2l = framework(module)
    mine = operations.bandwidths(partial(d2l.memory_passes, d2l.cpu()), {"memory": passes["bytes"]})
    path, all_cores = ("bandwidth", "memory", "in place"), ("bandwidth", "all cores")
    again = in_rounds({path: mine[path], all_cores: probes.all_cores_bandwidth()})
    return with_rounds(profile, all_cores, again[all_cores]), with_rounds(part, path, again[path])


def with_rounds(figures: dict[str, Any], path: Sequence[str], more: Sequence[float]) -> dict[str, Any]:
    """Return a profile, or a part of one, with more rounds of the figure at `path`."""
    figures = copy.deepcopy(figures)
    *folders, name = path
    place, rounds = figures, figures["rounds"]
    for folder in folders:
        place, rounds = place[folder], rounds[folder]
    rounds[name] += more
    place[name] = statistics.median(rounds[name])
    return figures


def try_again(part: dict[str, Any], module: str) -> dict[str, Any]:
    """Return the framework's part with what failed of its products measured again; all other figures stay."""
    d2l = framework(module)

    def again(figures: dict[str, Any], device: Any, rows: int) -> dict[str, Any]:
        found, failed = products(d2l, device, rows, list(figures["failed"]))
        rounds = tree(in_rounds(found)).get("product", {})
        known = figures["rounds"]
        return figures | {
            "product": figures["product"] | medians(rounds),
            "failed": failed,
            "rounds": known | {"product": known["product"] | rounds},
        }

    gpus = [again(gpu, *operations.device_and_rows(d2l, i)) for i, gpu in enumerate(part["gpus"])]
    return again(part, *operations.device_and_rows(d2l, -1)) | {"gpus": gpus}


def products(
    d2l: Framework, device: Any, rows: int, kinds: Sequence[str]
) -> tuple[dict[tuple[str, ...], Figure], dict[str, str]]:
    """Return the figures of a framework's products of square arrays on a device, and what failed of them."""
    return operations.products(partial(d2l.product, device), rows, kinds)


def framework(module: str) -> Framework:
    """Return a framework's folder of d2l_utils, with a thread for each core unless OMP_NUM_THREADS says otherwise."""
    os.environ.setdefault("OMP_NUM_THREADS", str(cores()))
    return cast(Framework, importlib.import_module(f"d2l_utils.{module}"))


if __name__ == "__main__":
    main(sys.argv[1])
