"""What decides a run: a notebook runs again when the key of its outputs is no longer its key. Imports nothing slow."""

import ast
import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from book import FRAMEWORKS, MODULES, BookError
from book.cells import Entry
from book.layout import own_files
from d2l_lab.machine.profile import figures

# The environment variables that decide what a run computes with or how fast: those of ours, of the frameworks, and of
# the libraries and allocators below them; but none that names a place of this machine or only says what a test refuses.
DECISIVE = re.compile(
    r"(D2L|G?OMP|KMP|MKL|OPENBLAS|GOTO|BLIS|VECLIB|NUMEXPR|NUMBA|XLA|JAX|TF|KERAS|TORCH\w*|PYTORCH|ATEN|MXNET|DNNL|ONEDNN"
    r"|CUDA|CUBLAS|CUDNN|NVIDIA|NCCL|GLOO|TRITON|MALLOC|GLIBC)_|(NPROC|LD_PRELOAD|PYTHON(MALLOC|OPTIMIZE|HASHSEED))$"
)
PLACES = re.compile(r"_(DIR|HOME|PATH|ROOT|FILE)$|D2L_(MACHINE_PROFILE|DATA|DOCUMENTS|HTML|STRICT)$")
RECORDED = 4  # how a run's outputs are kept; once raised, every notebook runs again


@dataclass(frozen=True)
class Kernel:
    """The kernel of a framework: its Python, its settings, its environment's folder and what is installed there."""

    framework: str
    python: str
    settings: dict[str, str]
    prefix: str
    version: str  # of Python
    packages: dict[str, str]  # versions by names


def find_kernel(framework: str) -> Kernel:
    """Return the kernel of a framework; BookError if there is none."""
    from jupyter_core.paths import jupyter_path

    for folder in jupyter_path("kernels"):
        path = Path(folder, f"d2l-{framework}", "kernel.json")
        if path.exists():
            about = json.loads(path.read_text(encoding="utf-8"))
            python, settings = about["argv"][0], about.get("env", {})
            prefix = Path(python).parent.parent
            return Kernel(framework, python, settings, str(prefix), python_version(prefix), packages(prefix))
    raise BookError(f"{FRAMEWORKS[framework]} has no kernel d2l-{framework}: `make setup` installs it")


def python_version(prefix: Path) -> str:
    """Return the version of Python in the virtual environment at `prefix`, or "" where it does not say."""
    settings = prefix / "pyvenv.cfg"
    text = settings.read_text(encoding="utf-8") if settings.exists() else ""
    found = re.search(r"^version(?:_info)? *= *(\d+\.\d+\.\d+)", text, re.MULTILINE)
    return found[1] if found else ""


def packages(prefix: Path) -> dict[str, str]:
    """Return {name: version} of what is installed in the environment at `prefix`; nothing is imported for it."""
    found = {}
    for path in sorted(prefix.glob("lib/python3*/site-packages/*.dist-info")):
        name, version = path.stem.lower().rsplit("-", 1)
        found[name] = version
    return found


def versions(framework: str, installed: dict[str, str]) -> dict[str, str]:
    """Return the versions, out of those `installed`, that a reader wants to know."""
    module = MODULES[framework]
    found = {module: installed.get(module) or installed.get(f"{module}_cpu")}
    found |= {name: installed.get(name) for name in ("numpy", "matplotlib")}
    return {name: version for name, version in found.items() if version}


def hashed(*parts: object) -> str:
    """Return a hash of values that JSON can hold."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@cache
def code(path: Path) -> str:
    """Return a hash of what a Python file does: its comments, docstrings and layout do not count."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except SyntaxError as error:
        raise BookError(f"{path}, line {error.lineno}: {error.msg}") from None
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for node in ast.walk(tree):
        if isinstance(node, documented) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return hashed(ast.dump(tree))


def settings(environment: Mapping[str, str], root: Path) -> dict[str, str]:
    """Return those of the environment's variables that decide a run, wherever the project lies."""
    names = sorted(name for name in environment if DECISIVE.match(name) and not PLACES.search(name))
    return {name: environment[name].replace(str(root), "<project>") for name in names}


def environment_facts(root: Path, kernel: Kernel, profile: dict[str, Any]) -> dict[str, Any]:
    """Return what decides a run besides the notebook: the environment, cores, GPUs, our packages and their tables."""
    packages = [root / "d2l_utils", root / "d2l_lab"]
    tables = own_files(root / "d2l_lab", "tables/*", "kernels/*")  # and programs
    modules = {path.relative_to(root): path for package in packages for path in own_files(package, "**/*.py")}
    others = {module for name, module in MODULES.items() if name != kernel.framework}
    return {
        "kernel": [kernel.framework, kernel.version, kernel.settings, kernel.packages],
        "settings": settings(os.environ | kernel.settings, root),
        "machine": [profile["machine"].get(fact) for fact in ("cores", "gpus")],
        "recorded": RECORDED,
        "modules": [
            [str(name), code(path)] for name, path in modules.items() if not others & {*name.with_suffix("").parts}
        ],
        "tables": [[path.name, hashlib.sha256(path.read_bytes()).hexdigest()] for path in tables],
    }


def run_key(entries: Sequence[Entry], framework: str, facts: dict[str, Any], profile: dict[str, Any]) -> str:
    """Return the key of a run of these entries with these facts; the profile counts where the code reads it."""
    cells = [[entry.source, sorted(entry.tags)] for entry in entries if entry.kind == "code"]
    asks = any("your_machine" in source for source, _ in cells)
    return hashed(cells, facts, figures(profile, MODULES[framework]) if asks else None)
