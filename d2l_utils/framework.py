"""The framework that this process works with: what all four share finds in it what only it can do."""

from types import ModuleType
from typing import Any

from d2l_lab.machine.profile import profile_for
from d2l_lab.machine.threads import keep_to_quota

_imported: list[ModuleType] = []


def register(module: ModuleType) -> None:
    """Take down that a framework's folder of d2l_utils has been imported, and keep its threads to the quota of CPUs."""
    keep_to_quota()
    if module not in _imported:
        _imported.append(module)


def framework() -> Any:
    """Return the framework's folder of d2l_utils that this process has imported; RuntimeError unless there is one."""
    if len(_imported) != 1:
        names = " and ".join(module.__name__ for module in _imported) or "none"
        raise RuntimeError(f"this works in a process that has imported one framework of d2l_utils, not {names}")
    return _imported[0]


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
