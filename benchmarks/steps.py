"""Measure a training step: `python benchmarks/steps.py FRAMEWORK`, in its environment, after `make notebooks`.

Sets data parallelism from scratch, by the code that the section on multiple GPUs has in its notebook, beside the
framework's own, in step_FRAMEWORK.py: LeNet, a minibatch of 64, two devices. Without two GPUs these are stand-ins on
the CPU with a thread each. Both must reach the same parameters; then they take turns, and times are medians.
"""

import ast
import contextlib
import io
import json
import linecache
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from random import Random

import numpy as np

from d2l_utils.jobs.job import launch, return_value
from d2l_utils.machine.system import cores

ROOT = Path(__file__).resolve().parent.parent
OWN = {
    "pytorch": "DistributedDataParallel",
    "tensorflow": "MirroredStrategy",
    "jax": "jit, NamedSharding",
    "mxnet": "gluon.Trainer",
}
QUIET = {"TF_CPP_MIN_LOG_LEVEL": 3, "TF_FORCE_GPU_ALLOW_GROWTH": "true", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
WITHIN = 1e-6  # of each other lie the parameters after one step
STILL = 1e-6  # the learning rate of timed steps, that of the section's `stepper`
WARM_UP, REPEATS = 10, 51


def section(framework):
    """Return the names that the section's cells define, up to the one with `stepper`, whose printing is dropped."""
    path, names = ROOT / "_build" / "notebooks" / framework / "multiple-gpus.ipynb", {"__name__": "section"}
    if not path.exists():
        sys.exit(f"error: there is no {path}: `make notebooks` writes it")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    for i, cell in enumerate(cells):
        if cell["cell_type"] == "code" and "stepper" not in names:
            source, name = "".join(cell["source"]), f"<{path.name}, cell {i}>"
            linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name  # TensorFlow reads it
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(ast.parse(source), name, "exec"), names)
    return names


def race(names, build, numpy=np.asarray, ready=lambda: None):
    """Check a framework's own step against the section's, time both, and hand back the medians.

    `build(lr)` returns a function that makes one step of the framework's own, from the start of the section's
    `init_lenet`, and waits for it; and a function that returns the parameters, each in the section's shape. `numpy`
    turns a parameter into a NumPy array, `ready` is called before each of the framework's own steps, off the clock.
    """
    scratch = [numpy(param) for param in names["one_step"](2, len(names["X"]))[0]]
    step, parameters = build(names["lr"])
    ready()
    step()
    apart = farthest(map(numpy, parameters()), scratch)
    moved = farthest(map(numpy, names["init_lenet"]()), scratch)
    assert apart <= WITHIN < 1e-3 < moved, f"parameters are {apart:.1e} apart, the step moved {moved:.1e}"
    step, _ = build(STILL)
    section_step = {k: names["stepper"](k, names["lenet"], names["init_lenet"]) for k in (1, 2)}
    candidates = {"one device": section_step[1], "from scratch": section_step[2], "own": step}
    found, lot = {name: [] for name in candidates}, Random(0)
    for _ in range(WARM_UP + REPEATS):
        for name in lot.sample(list(candidates), len(candidates)):
            if name == "own":
                ready()
            start = time.perf_counter()
            candidates[name]()
            found[name].append(time.perf_counter() - start)
    medians = {name: statistics.median(times[WARM_UP:]) for name, times in found.items()}
    return_value(medians | {"apart": apart})


def farthest(a, b):
    """Return the largest difference between two networks' parameters."""
    return max(float(np.abs(x - y).max()) for x, y in zip(a, b, strict=True))


def main(framework):
    worker, n = Path(__file__).with_name(f"step_{framework}.py"), 2 if framework == "pytorch" else 1
    with tempfile.TemporaryDirectory() as folder:
        found = launch([str(worker), f"{folder}/rendezvous"], n, environment=QUIET)[0]
    print(f"a step of LeNet in {framework}; parameters {found['apart']:.0e} apart", end="; ")
    print(f"{os.getloadavg()[0]:.1f} processes wanted {cores()} cores (with more than cores, run again later)")
    titles = {"one device": "one device", "from scratch": "two, from scratch", "own": f"two, {OWN[framework]}"}
    for name, title in titles.items():
        print(f"{title:>32} {1e3 * found[name]:7.2f} ms   over from scratch {found[name] / found['from scratch']:.2f}")


if __name__ == "__main__":
    main(sys.argv[1])
