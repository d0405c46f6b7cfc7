"""The framework that a function works with: what all four share finds in it what only it can do."""

import copy
import os
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import wraps
from types import FunctionType, ModuleType
from typing import Any, ParamSpec, TypeVar, cast

from d2l_lab.instruments.predictions import quantity, rest_on
from d2l_lab.instruments.timing import column_scale
from d2l_lab.instruments.words import say, say_line
from d2l_lab.machine.profile import profile_for
from d2l_lab.machine.threads import keep_to_quota
from d2l_lab.machine.today import Today, measure_today
from d2l_lab.protocol import Framework

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_imported: list[Framework] = []
_machines: dict[str, dict[str, Any]] = {}  # today's machine for each framework of this process
_asked: ContextVar[Framework] = ContextVar("_asked")  # the framework's module whose function is running


def needs_framework(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Mark a function that asks `framework()`, so that each framework's module gets it bound to itself."""
    vars(function)["needs_framework"] = True
    return function


def register(module: ModuleType) -> None:
    """Take down that a framework's folder of d2l_utils has been imported, and bind to it what needs a framework.

    Its threads are kept to the quota of CPUs.
    """
    keep_to_quota()
    found = cast(Framework, module)
    if found not in _imported:
        _imported.append(found)
    for name, value in list(vars(module).items()):
        if isinstance(value, FunctionType) and hasattr(value, "needs_framework"):
            setattr(module, name, _bound(value, found))


def _bound(function: Callable[Parameters, Result], module: Framework) -> Callable[Parameters, Result]:
    @wraps(function)
    def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        token = _asked.set(module)
        try:
            return function(*args, **kwargs)
        finally:
            _asked.reset(token)

    return call


def framework() -> Framework:
    """Return the framework's folder of d2l_utils whose function is running, or else the only one that was imported.

    Raises
    ------
    RuntimeError
        If none was imported, or several and the function was called from none of them.
    """
    asked = _asked.get(None)
    if asked is None and len(_imported) == 1:
        return _imported[0]
    if asked is None:
        names = " and ".join(module.__name__ for module in _imported) or "none"
        raise RuntimeError(f"call this from the module of a framework, such as d2l_utils.jax; imported: {names}")
    return asked


@needs_framework
def your_machine() -> dict[str, Any]:
    """Return what this machine can do today: its profile, with dispatch, bandwidth of memory and products of this hour.

    The profile is measured once, which takes some seconds, and kept. The first call in a process measures these figures
    of the framework again, for a second at most, and says in a line for each how it has changed, if by more than 1.3 ×;
    further calls return the same. With D2L_QUICK=1 they are the profile's. Measuring starts the framework, before which
    `devices` has to make TensorFlow's and JAX's stand-ins.

    On the CPU PyTorch's and JAX's products use all cores, whatever number of threads is set here; TensorFlow's those
    that it has started with, and MXNet's those that OMP_NUM_THREADS allows, one in the chapter's kernel. The tiny
    operation is x + x of one number, on the first GPU if there is one. See `d2l_lab.machine.profile.profile_for` for
    what the profile holds.

    Raises
    ------
    RuntimeError
        If the machine cannot be measured.
    """
    d2l = framework()
    name = d2l.__name__.rpartition(".")[2]
    if os.environ.get("D2L_QUICK") == "1":
        return profile_for(name)
    if name not in _machines:
        today = measure_today(d2l, profile_for(name))
        for line in lines_of(today):
            print(line)
        _machines[name] = today.machine
        rest_on(today.disturbance)
    return copy.deepcopy(_machines[name])


def lines_of(today: Today) -> Iterator[str]:
    """Yield a line for each figure that has changed, and for what went wrong or disturbed."""
    names = {
        "issue": (say("a tiny operation issued"), "s"),
        "wait": (say("a tiny operation waited for"), "s"),
        "copy": (say("a copy in memory"), "B/s"),
        "in place": (say("a pass over memory in place"), "B/s"),
        "float32": (say("product, float32"), "flop/s"),
        "bfloat16": (say("product, bfloat16"), "flop/s"),
    }
    for change in today.changes:
        figure, unit = names[change.path[-1]]
        size = column_scale((change.today, change.kept))
        yield say_line(
            "{name}: today {today}, {kept} when the profile was made",
            name=f"{figure} ({change.device})" if change.device else figure,
            today=quantity(change.today, unit, size),
            kept=quantity(change.kept, unit, size),
        )
    if today.changes:
        yield say_line("predictions use the figures of today")
    for device, error in today.failed.items():
        yield say_line(
            "some figures could not be measured today, so the profile's stand: {error}",
            error=f"{device} {error}".strip(),
        )
    if today.disturbance.disturbed:
        yield say_line("while this machine was measured, {words}", words=today.disturbance.words())
