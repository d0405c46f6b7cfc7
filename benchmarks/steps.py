"""Measure a training step: `benchmarks/steps.py FRAMEWORK [--quick]`, in its environment, after `make notebooks`.

Compares data parallelism from scratch, the code in the notebook of the section on multiple GPUs, with the framework's
own, in step_FRAMEWORK.py: LeNet, a minibatch of 64, two devices. Without two GPUs these are stand-ins on
the CPU with a thread each. Both must reach the same parameters; then they take turns, and times are medians.
"""

import argparse
import contextlib
import dis
import io
import json
import linecache
import os
import statistics
import sys
import tempfile
from pathlib import Path
from types import CodeType

import numpy as np
from turns import load, take_turns, timed

from d2l_lab.processes.job import launch, return_value

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
WARM_UP, REPEATS = (1, 3) if "D2L_QUICK" in os.environ else (10, 51)
NEEDED = {"d2l", "devices", "X", "y", "lr", "lenet", "init_lenet", "one_step", "stepper"}  # of the section


def names_of(code, *operations):
    """Return the names that code, with the functions in it, loads or stores by these operations of the interpreter."""
    found = {step.argval for step in dis.get_instructions(code) if step.opname in operations}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found |= names_of(inner, *operations)
    return found


def only_needed(cells, needed):
    """Return those of the compiled cells that define needed names, or names that these cells need in turn."""
    kept, needed = [], set(needed)
    for code in reversed(cells):
        if needed & names_of(code, "STORE_NAME"):
            kept.insert(0, code)
            needed |= names_of(code, "LOAD_NAME", "LOAD_GLOBAL")
    return kept


def section(framework):
    """Return the names that the section's cells define, as far as they are needed; what the cells print is dropped."""
    path = ROOT / "_build" / "notebooks" / framework / "multiple-gpus.ipynb"
    names = {"__name__": "section"}
    if not path.exists():
        sys.exit(f"error: there is no {path}: `make notebooks` writes it")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    compiled = []
    for i, cell in enumerate(cells):
        source, name = "".join(cell["source"]), f"<{path.name}, cell {i}>"
        if cell["cell_type"] != "code" or source.startswith("%"):
            continue
        linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name  # TensorFlow reads it
        compiled.append(compile(source, name, "exec"))
        if "stepper" in names_of(compiled[-1], "STORE_NAME"):
            break
    with contextlib.redirect_stdout(io.StringIO()):
        for code in only_needed(compiled, NEEDED):
            exec(code, names)
    return names


def race(names, build, numpy=np.asarray, ready=lambda: None):
    """Check a framework's own step against the section's, time both, and return the medians.

    `build(lr)` returns a function that makes one step of the framework's own, from the start of the section's
    `init_lenet`, and waits for it; and a function that returns the parameters, each in the section's shape. `numpy`
    turns a parameter into a NumPy array, `ready` is called before each of the framework's own steps, off the clock.
    """
    scratch = names["one_step"](2, len(names["X"]))[0]
    step, parameters = build(names["lr"])
    ready()
    step()
    apart = farthest(map(numpy, parameters()), scratch)
    moved = farthest(map(numpy, names["init_lenet"]()), scratch)
    assert apart <= WITHIN < 1e-3 < moved, f"parameters are {apart:.1e} apart, the step moved {moved:.1e}"
    step, _ = build(STILL)

    def own():
        ready()
        return timed(step)

    section_step = {k: names["stepper"](k, len(names["X"])) for k in (1, 2)}
    candidates = {"one device": lambda: timed(section_step[1]), "from scratch": lambda: timed(section_step[2])}
    found = take_turns(candidates | {"own": own}, WARM_UP + REPEATS)
    medians = {name: statistics.median(times[WARM_UP:]) for name, times in found.items()}
    return_value(medians | {"apart": apart})


def turned(params):
    """Return parameters with dense weights the other way round: the section has inputs first, layers have outputs."""
    return [param.T if param.ndim == 2 else param for param in params]


def farthest(a, b):
    """Return the largest difference between two networks' parameters."""
    return max(float(np.abs(x - y).max()) for x, y in zip(a, b, strict=True))


def main():
    """Print the medians of a framework's steps."""
    parser = argparse.ArgumentParser(description="Measure a training step.")
    parser.add_argument("framework", choices=list(OWN))
    parser.add_argument("--quick", action="store_true", help="few repeats, to try the program")
    options = parser.parse_args()
    framework = options.framework
    worker, n = Path(__file__).with_name(f"step_{framework}.py"), 2 if framework == "pytorch" else 1
    environment = QUIET | ({"D2L_QUICK": 1} if options.quick else {})
    with tempfile.TemporaryDirectory() as folder:
        found = launch([str(worker), f"{folder}/rendezvous"], n, environment=environment)[0]
    print(f"a step of LeNet in {framework}; parameters {found['apart']:.0e} apart; {load()}")
    titles = {"one device": "one device", "from scratch": "two, from scratch", "own": f"two, {OWN[framework]}"}
    for name, title in titles.items():
        print(f"{title:>32} {1e3 * found[name]:7.2f} ms   over from scratch {found[name] / found['from scratch']:.2f}")


if __name__ == "__main__":
    main()
