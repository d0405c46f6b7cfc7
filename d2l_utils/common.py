"""What all four frameworks share: names that are the same in each, and the names that each defines for itself."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from d2l_lab.exercises.checks import check
from d2l_lab.instruments.claims import claim
from d2l_lab.instruments.data import Accumulator, DigitImages
from d2l_lab.instruments.framework import your_machine
from d2l_lab.instruments.levers import Levers, running_total, try_lever
from d2l_lab.instruments.memory import memory_of, memory_over_time
from d2l_lab.instruments.predictions import predict
from d2l_lab.instruments.scheduling import as_spans, execute
from d2l_lab.instruments.timing import Benchmark, Measurement, Timer, compare, measure, report
from d2l_lab.machine.datasheets import specifications
from d2l_lab.plots.animator import Animator
from d2l_lab.plots.curves import plot, set_axes, set_figsize, use_svg_display
from d2l_lab.plots.timeline import Span, timeline
from d2l_lab.processes.commands import free_ports
from d2l_lab.processes.job import Job, launch

__all__ = [
    "Timer",
    "Benchmark",
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
    "your_machine",
    "specifications",
    "launch",
    "Job",
    "free_ports",
    "use_svg_display",
    "set_figsize",
    "set_axes",
    "plot",
    "Animator",
    "Span",
    "timeline",
    "execute",
    "as_spans",
    "Accumulator",
    "DigitImages",
]
DEVICES = ["synchronize", "try_gpu", "try_all_gpus", "devices"]
TRAINING = [
    "accuracy",
    "sgd",
    "split_batch",
    "evaluate_accuracy_gpu",
    "evaluate_accuracy_gpus",
    "load_data_digits",
    "load_data_fashion_mnist",
]
NETWORKS = ["build_lenet", "tuned_lenet", "in_bfloat16", "train_step", "load_images", "Residual", "resnet18"]
NAMES = [*__all__, *DEVICES, *TRAINING, *NETWORKS]  # of each framework's module


def on_demand(package: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of a framework's module: it imports the networks when one of them is first used."""

    def find(name: str) -> Any:
        if name not in NETWORKS:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.networks"), name)

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
