"""The framework that this process works with: what all four share finds in it what only it can do."""

from types import ModuleType
from typing import Any

_imported: list[ModuleType] = []


def register(module: ModuleType) -> None:
    """Take down that a framework's folder of d2l_utils has been imported."""
    if module not in _imported:
        _imported.append(module)


def framework() -> Any:
    """Return the framework's folder of d2l_utils that this process has imported; RuntimeError unless there is one."""
    if len(_imported) != 1:
        names = " and ".join(module.__name__ for module in _imported) or "none"
        raise RuntimeError(f"this works in a process that has imported one framework of d2l_utils, not {names}")
    return _imported[0]
