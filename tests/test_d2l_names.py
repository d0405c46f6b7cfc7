"""Names that we share with the published package d2l accept its calls. The package is read, never imported.

`d2l` itself is no dependency: it pins NumPy 1.23.5. Its wheel is fetched once, into _build/d2l.
"""

import ast
import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "_build" / "d2l"
VERSION = "1.0.3"
MODULES = ("torch", "tensorflow", "jax", "mxnet")


def downloader():
    """The command line of a pip: this environment's, one that uv runs, or that of a Python on the path."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    for uv in (shutil.which("uv"), ROOT / "_build" / "uv" / "bin" / "uv"):
        if uv and Path(uv).exists():
            return [str(uv), "tool", "run", "pip"]
    return [shutil.which("python3", path=system_path()), "-m", "pip"]


def system_path():
    """The search path without this environment's own folder."""
    here = str(Path(sys.executable).parent)
    return os.pathsep.join(part for part in os.environ["PATH"].split(os.pathsep) if part != here)


@pytest.fixture(scope="session")
def wheel():
    path = FOLDER / f"d2l-{VERSION}-py3-none-any.whl"
    if not path.exists():
        command = [*downloader(), "download", f"d2l=={VERSION}", "--no-deps", "--dest", str(FOLDER), "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert path.exists(), f"d2l {VERSION} could not be fetched; is there a network?\n{done.stderr}"
    return path


@pytest.fixture(scope="session", params=MODULES)
def published(request, wheel):
    """The name of a module of d2l, and its public functions and classes."""
    source = zipfile.ZipFile(wheel).read(f"d2l/{request.param}.py").decode()
    return request.param, definitions(ast.parse(source))


def definitions(tree):
    kinds = (ast.FunctionDef, ast.ClassDef)
    return {node.name: node for node in tree.body if isinstance(node, kinds) and not node.name.startswith("_")}


def ours(module):
    """Our public functions and classes under their names in d2l_utils.<module>."""
    found = {}
    for path in (ROOT / "d2l_utils").glob("*.py"):
        if path.stem == module or path.stem not in MODULES:
            found |= definitions(ast.parse(path.read_text()))
    return found


def parameters(function):
    """Names of the parameters in order, and of those that have a default."""
    names = [argument.arg for argument in function.args.posonlyargs + function.args.args]
    optional = set(names[len(names) - len(function.args.defaults) :])
    return names, optional


def refusals(theirs, ours):
    """Say which calls of their function or class ours would not take."""
    if isinstance(theirs, ast.ClassDef):
        methods = {node.name: node for node in ours.body if isinstance(node, ast.FunctionDef)}
        wanted = [node for node in theirs.body if isinstance(node, ast.FunctionDef)]
        lacking = [f"{theirs.name} has no {node.name}" for node in wanted if node.name not in methods]
        present = [(node, methods[node.name]) for node in wanted if node.name in methods]
        return lacking + [f"{theirs.name}: {fault}" for pair in present for fault in refusals(*pair)]
    if theirs.args.vararg:
        return []
    (names, optional), (our_names, our_optional) = parameters(theirs), parameters(ours)
    faults = [f"{theirs.name}({', '.join(our_names)}) for ({', '.join(names)})"] * (our_names[: len(names)] != names)
    required = (set(our_names) - our_optional) - (set(names) - optional)
    return faults + [f"{theirs.name} requires {name}" for name in sorted(required)]


def test_every_shared_name_accepts_the_calls_of_d2l(published):
    module, theirs = published
    mine = ours(module)
    shared = theirs.keys() & mine.keys()
    assert shared >= {"plot", "set_figsize", "use_svg_display", "set_axes", "try_gpu", "try_all_gpus"}
    assert [fault for name in sorted(shared) for fault in refusals(theirs[name], mine[name])] == []


def test_the_clocks_are_shared_where_d2l_has_them(published):
    module, theirs = published
    assert ({"Timer", "Benchmark"} <= theirs.keys()) == (module != "jax")


@pytest.mark.parametrize(
    ("theirs", "ours", "fault"),
    [
        ("def f(a, b=1): 0", "def f(a, b=2, c=3): 0", []),
        ("def f(a, b=1): 0", "def f(a, b): 0", ["f requires b"]),
        ("def f(a, b=1): 0", "def f(b, a=1): 0", ["f(b, a) for (a, b)", "f requires b"]),
        ("def f(a): 0", "def f(a, b): 0", ["f requires b"]),
        ("class A:\n  def g(self): 0", "class A: 0", ["A has no g"]),
        ("class A:\n  def g(self, x=0): 0", "class A:\n  def g(self, x): 0", ["A: g requires x"]),
    ],
)
def test_a_call_that_would_fail_is_noticed(theirs, ours, fault):
    assert refusals(ast.parse(theirs).body[0], ast.parse(ours).body[0]) == fault
