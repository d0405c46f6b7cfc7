"""The profile of this machine as it is kept: where, whether it is up to date, and what a section gets of it.

It lies in `_build/machine.json` of the project; an installed package keeps it in `~/.cache/d2l`, and the environment
variable D2L_MACHINE_PROFILE names another file. The program `d2l_utils.machine.measuring` measures what is missing or out of date: on
another machine, after a change of the code that measures, with another version of the framework. Imports no framework.
"""

import ast
import hashlib
import io
import json
import os
import subprocess
import sys
import tokenize
from contextlib import suppress
from importlib import metadata
from pathlib import Path

from d2l_utils.machine.system import describe

FORM = 2  # of the file
MEASURING = ("machine/measuring.py", "machine/probes.py", "timing.py")  # the modules that measure
COMMON = ("machine", "date", "caches", "bandwidth", "latency", "product")
LONGEST = 600  # seconds that a measurement may take
PACKAGE = Path(__file__).parents[1]


def profile_for(module):
    """Return the profile for the framework whose module here is `module`; let the program measure first what it lacks.

    Where nothing is kept this takes some seconds; RuntimeError if the machine cannot be measured or the profile cannot be
    kept. All figures in SI units:

    machine    {cpu, cores, memory_gb, gpus: names, system}, and date, the day it was measured
    caches     [{level, kind, bytes, shared_by}, …] as the system reports them
    bandwidth  {"one core", "all cores"}: bytes/s of STREAM's triad over three arrays of 64 MiB or more, which a very
               large last cache may hold
    latency    {bytes of the working set, as text: seconds of a load that the next one waits for}
    product    {"float32"}: flop/s of NumPy
    framework  {version, dispatch: seconds of a tiny operation, product: {"float32", "bfloat16"}}
    gpus       [{name, bandwidth: bytes/s read and written by a copy, product}, …]

    A type of number in which the framework computes slowly here, or not at all, is left out of `product`. On a GPU
    that has TF32, TensorFlow and JAX use it for float32 products unless told otherwise, PyTorch does not.
    """
    path = place()
    kept = read(path)
    if not (describes_here(kept) and has_part(kept, module)):
        print("measuring what this machine can do: once", flush=True)
        _run_program(module, path)
        kept = read(path)
    part = kept["frameworks"][module]
    framework = {key: part[key] for key in ("version", "dispatch", "product")}
    return {key: kept[key] for key in COMMON} | {"framework": framework, "gpus": part["gpus"]}


def place():
    """Return the path of the profile: below the project, or for an installed package below the reader's home."""
    if told := os.environ.get("D2L_MACHINE_PROFILE"):
        return Path(told).absolute()
    project = PACKAGE.parent
    folder = project / "_build" if (project / "pyproject.toml").exists() else Path.home() / ".cache" / "d2l"
    return folder / "machine.json"


def read(path):
    """Return what the file holds, or {} if it is missing, damaged, changed by hand or of another form."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        seal = kept.pop("seal")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    return kept if seal == sealed(kept)["seal"] else {}


def sealed(kept):
    """Return what the file is to hold: `kept` and a hash of it and its form, by which `read` knows that it is whole."""
    return kept | {"seal": _hash(f"{FORM}{json.dumps(kept, sort_keys=True)}")}


def describes_here(kept):
    """Tell whether the profile is one of this machine, measured by the code that stands here."""
    return bool(kept) and (kept["code"], kept["machine"]) == (code(*MEASURING), describe())


def has_part(kept, module):
    """Tell whether the profile has a part for the framework, of the version that is installed."""
    part = kept["frameworks"].get(module, {})
    return (part.get("code"), part.get("version")) == (code(f"{module}/__init__.py"), version(module))


def version(module):
    """Return the installed version of a framework."""
    for name in (module, f"{module}-cpu"):
        with suppress(metadata.PackageNotFoundError):
            return metadata.version(name)
    return "unknown"


def code(*paths):
    """Return a hash of what these modules of the package do: their sources without comments, docstrings and empty lines.

    It is the same in every version of Python that reads them, since one profile serves all frameworks' environments.
    """
    return _hash("\n".join(statements((PACKAGE / path).read_text(encoding="utf-8")) for path in paths))


def statements(source):
    """Return the lines of a Python source that say what it does."""
    tree, lines = ast.parse(source), source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip()
    for node in ast.walk(tree):
        if (
            isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
            and ast.get_docstring(node) is not None
        ):
            first = node.body[0]
            lines[first.lineno - 1 : first.end_lineno] = [""] * (first.end_lineno - first.lineno + 1)
    return "\n".join(filter(None, lines))


def _hash(text):
    return hashlib.sha256(text.encode()).hexdigest()


def _run_program(module, path):
    """Let the program measure, in a process of its own: another framework's threads would take part otherwise."""
    settings = os.environ | {"D2L_MACHINE_PROFILE": str(path)}
    command = [sys.executable, "-m", "d2l_utils.machine.measuring", module]
    try:
        done = subprocess.run(
            command, cwd=PACKAGE.parent, env=settings, capture_output=True, text=True, timeout=LONGEST
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"this machine cannot be measured in {LONGEST} s") from None
    if done.returncode:
        said = done.stderr.strip().split("\n")[-1] or f"exit status {done.returncode}"
        raise RuntimeError(f"this machine cannot be measured: {said}")
