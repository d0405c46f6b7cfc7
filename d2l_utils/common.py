"""The interface: names that are the same in all four frameworks, and the names that each defines for itself."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from d2l_lab.exercises.checks import check
from d2l_lab.instruments.bill import bill
from d2l_lab.instruments.claims import claim
from d2l_lab.instruments.data import DigitImages
from d2l_lab.instruments.framework import your_machine
from d2l_lab.instruments.levers import Levers, running_total, try_lever
from d2l_lab.instruments.memory import memory_of, memory_over_time
from d2l_lab.instruments.predictions import predict
from d2l_lab.instruments.timing import Measurement, Timer, compare, measure, report
from d2l_lab.machine.datasheets import specifications
from d2l_lab.plots.curves import plot
from d2l_lab.plots.timeline import Span, timeline
from d2l_lab.processes.job import Job, launch, return_value

__all__ = [
    "Timer",
    "Measurement",
    "measure",
    "compare",
    "report",
    "memory_of",
    "memory_over_time",
    "claim",
    "check",
    "predict",
    "Levers",
    "running_total",
    "try_lever",
    "bill",
    "your_machine",
    "specifications",
    "launch",
    "Job",
    "return_value",
    "plot",
    "Span",
    "timeline",
    "DigitImages",
]
DEVICES = ["synchronize", "try_gpu", "try_all_gpus", "devices"]
NETWORKS = ["build_lenet", "tuned_lenet", "in_bfloat16", "train_step", "load_images", "load_data_digits"]
NAMES = [*__all__, *DEVICES, *NETWORKS]  # of each framework's module
D2L_NAMES = [  # found there as well, for readers of D2L
    "Benchmark",
    "Accumulator",
    "Animator",
    "use_svg_display",
    "set_figsize",
    "set_axes",
    "accuracy",
    "sgd",
    "split_batch",
    "evaluate_accuracy_gpu",
    "evaluate_accuracy_gpus",
    "load_data_fashion_mnist",
    "Residual",
    "resnet18",
]


def on_demand(package: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of a framework's module: it imports what is not always needed when it is first used."""
    modules = dict.fromkeys([*NETWORKS, "Loop"], f"{package}.networks")
    modules["recorder"] = f"{package}.collect"
    modules |= dict.fromkeys(D2L_NAMES, f"d2l_utils.d2l_names.{package.rpartition('.')[2]}")

    def find(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(modules[name]), name)

    return find


def arrays_in(structure: Any, kind: type | tuple[type, ...]) -> list[Any]:
    """Return the arrays of type `kind` in nested lists, tuples and dictionaries; anything else in them is ignored.

    Raises
    ------
    TypeError
        If `structure` holds no such array.
    """
    found = [leaf for leaf in _leaves(structure) if isinstance(leaf, kind)]
    if not found:
        raise TypeError(f"there is no array of this framework in {type(structure).__name__} {structure!r:.60}")
    return found


def _leaves(structure: Any) -> list[Any]:
    if isinstance(structure, dict):
        parts = list(structure.values())
    elif isinstance(structure, (list, tuple)):
        parts = list(structure)
    else:
        return [structure]
    return [leaf for part in parts for leaf in _leaves(part)]
