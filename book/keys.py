"""What decides a run: a notebook runs again when the key of its outputs is no longer its key.

Imports nothing slow, so that a build with nothing to do finds that out in a moment.
"""

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from book import FRAMEWORKS, MODULES, BookError
from d2l_utils.machine.profile import statements


@dataclass(frozen=True)
class Kernel:
    """The kernel of a framework: its Python, its settings, its environment's folder and what is installed there."""

    python: str
    settings: dict
    prefix: str
    packages: dict


def find_kernel(framework):
    """Return the Kernel of `framework`."""
    from jupyter_core.paths import jupyter_path

    for folder in jupyter_path("kernels"):
        path = Path(folder, f"d2l-{framework}", "kernel.json")
        if path.exists():
            about = json.loads(path.read_text(encoding="utf-8"))
            prefix = Path(about["argv"][0]).parent.parent
            return Kernel(about["argv"][0], about.get("env", {}), str(prefix), packages(prefix))
    raise BookError(f"{FRAMEWORKS[framework]} has no kernel d2l-{framework}: `make setup` installs it")


def packages(prefix):
    """Return {name: version} of what is installed in the environment at `prefix`; nothing is imported for it."""
    found = Path(prefix).glob("lib/python3*/site-packages/*.dist-info")
    return dict(sorted(path.stem.lower().rsplit("-", 1) for path in found))


def versions(framework, installed):
    """Return the versions, out of those `installed`, that a reader wants to know."""
    module = MODULES[framework]
    own = installed.get(module) or installed.get(f"{module}_cpu")
    found = {module: own} | {name: installed.get(name) for name in ("numpy", "matplotlib")}
    return {name: version for name, version in found.items() if version}


def hashed(*parts):
    """Return a hash of values that JSON can hold."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@cache
def code(path):
    """Return a hash of what a Python file does: its comments, docstrings and empty lines do not count."""
    try:
        return hashed(statements(path.read_text(encoding="utf-8")))
    except SyntaxError as error:
        raise BookError(f"{path}, line {error.lineno}: {error.msg}") from None


def surroundings(root, framework, kernel, profile):
    """Return what decides a run besides the notebook: the environment, d2l_utils and the tables."""
    others = {module for name, module in MODULES.items() if name != framework}
    utilities = sorted((root / "d2l_utils").rglob("*.py"))
    utilities = [path for path in utilities if path.parent.name not in others]
    tables = sorted((root / "notebooks" / "data").glob("*.csv"))
    return {
        "kernel": [framework, kernel.settings, kernel.packages],
        "gpus": profile["machine"].get("gpus"),
        "d2l_utils": [[str(path.relative_to(root)), code(path)] for path in utilities],
        "tables": [[path.name, path.read_text(encoding="utf-8")] for path in tables],
    }


def run_key(entries, framework, around, profile):
    """Return the key of a run of these Entries in these surroundings; the profile counts where the code reads it."""
    cells = [[entry.source, sorted(entry.tags)] for entry in entries if entry.kind == "code"]
    figures = None
    if any("your_machine" in source for source, _ in cells):
        common = {name: profile[name] for name in profile if name not in ("frameworks", "seal")}
        figures = [common, profile.get("frameworks", {}).get(MODULES[framework])]
    return hashed(cells, around, figures)
