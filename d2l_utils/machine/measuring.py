"""Measure what the profile of this machine lacks: `python -m d2l_utils.machine.measuring torch` does it for one framework.

The framework is imported only if its part of the profile is missing or out of date. What it is asked for is what each of
the four modules defines by the same names: a tiny sum, a product, a copy, and its GPUs.
"""

import importlib
import json
import os
import sys
from contextlib import contextmanager, suppress
from datetime import date

from d2l_utils.machine.profile import MEASURING, code, describes_here, has_part, place, read, sealed, version
from d2l_utils.machine.system import caches, cores, describe

try:
    import fcntl
except ImportError:  # Windows has none: two processes at once may then measure twice
    fcntl = None

# A library counts the machine's cores by itself, also those that a container's quota withholds.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def main(module):
    """Bring the profile up to date for the framework whose module here is `module`."""
    path = place()
    try:
        with alone(path):
            kept = read(path)
            if describes_here(kept) and has_part(kept, module):
                return
            print(f"measuring what this machine can do with {module}: once", flush=True)
            probes = load_probes()
            kept = kept if describes_here(kept) else measure_machine(probes)
            kept["frameworks"][module] = measure_framework(probes, module)
            write(path, kept)
    except OSError as error:
        sys.exit(f"the profile cannot be kept: {error}")


def load_probes():
    """Return the module that measures. Its NumPy starts one thread for each core, whatever number is set."""
    before = dict(os.environ)
    os.environ |= dict.fromkeys(THREADS, str(cores()))
    try:
        return importlib.import_module("d2l_utils.machine.probes")
    finally:
        os.environ.clear()
        os.environ |= before


def measure_machine(probes):
    """Return what needs no framework, measured before one is imported, whose threads would take part."""
    sizes = probes.WORKING_SETS
    return {
        "code": code(*MEASURING),
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


def measure_framework(probes, module):
    """Return the framework's part. Its products use all cores unless OMP_NUM_THREADS says otherwise."""
    os.environ.setdefault("OMP_NUM_THREADS", str(cores()))
    d2l = importlib.import_module(f"d2l_utils.{module}")

    def rates(device, n):
        return probes.product_rates(lambda n, kind: d2l._product(device, n, kind), n, ("float32", "bfloat16"))

    return {
        "version": version(module),
        "code": code(f"{module}/__init__.py"),
        "date": date.today().isoformat(),
        "dispatch": probes.dispatch(d2l._tiny_sum(d2l.try_gpu()), d2l.synchronize),
        "product": rates(d2l.try_gpu(-1), 2000),
        "gpus": [
            {
                "name": name,
                "bandwidth": probes.copy_bandwidth(d2l._copy(d2l.try_gpu(i), 2**29), 2**29),
                "product": rates(d2l.try_gpu(i), 8192),
            }
            for i, name in enumerate(d2l._gpu_names())
        ],
    }


@contextmanager
def alone(path):
    """Wait until no other process measures for this file; where the system can make no lock, go on."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_name(f".{path.name}.lock"), "w") as lock:
        with suppress(OSError):
            if fcntl:
                fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def write(path, kept):
    """Put the profile in place in one step; OSError leaves the old one as it was, and no other file."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(json.dumps(sealed(kept), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


if __name__ == "__main__":
    main(sys.argv[1])
