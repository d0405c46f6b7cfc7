"""The framework that a function works with: what all four share finds in it what only it can do."""

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from types import FunctionType, ModuleType
from typing import Any, ParamSpec, TypeVar, cast

from d2l_lab.machine.profile import profile_for
from d2l_lab.machine.threads import keep_to_quota
from d2l_lab.protocol import Framework

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_imported: list[Framework] = []
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
    """Return what this machine can do: its profile, which is measured once and kept.

    The first call takes some seconds. On the CPU the framework's products use all cores, whatever number of threads is
    set here; with MXNet those that OMP_NUM_THREADS allows, one in the chapter's kernel. The tiny operation is x + x of
    one number, on the first GPU if there is one. See `d2l_lab.machine.profile.profile_for` for what the profile holds.

    Raises
    ------
    RuntimeError
        If the machine cannot be measured.
    """
    return profile_for(framework().__name__.rpartition(".")[2])
