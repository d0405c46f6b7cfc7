"""Four modules, one interface; imports go in one direction. Read from the source: no framework is needed."""

import ast
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FRAMEWORKS = ("torch", "tensorflow", "jax", "mxnet")
PARTS = ("", "_training", "_networks")  # each framework has a module of each kind: torch.py, torch_training.py
NETWORK = {
    "torch": "torch",
    "tensorflow": "keras",
    "jax": "flax",
    "mxnet": "mxnet",
}  # what a _resnet module imports; LOOP: a _loop module
PACKAGES = {"torch", "torchvision", "tensorflow", "keras", "jax", "jaxlib", "flax", "optax", "mxnet"}
LOOP = {**{name: {name} for name in FRAMEWORKS}, "jax": {"flax", "optax"}, "tensorflow": {"tensorflow", "keras"}}
SPHINX = {"sphinx", "docutils", "myst_nb", "sphinx_design", "pybtex", "sphinxcontrib"}
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
INSTALLED = set(SETTINGS["project"]["dependencies"]) | {
    "IPython",
    "matplotlib_inline",
    "psutil",
    "sklearn",
    "scipy",
}  # with a kernel
PATHS = {  # the modules of the project by their names, 'book.cells'
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in [*(ROOT / "d2l_utils").glob("*.py"), *(ROOT / "book").rglob("*.py")]
}
UTILITIES = sorted(name for name in PATHS if name.startswith("d2l_utils"))
BOOK = sorted(name for name in PATHS if name.startswith("book"))


def parsed(module):
    return ast.parse((ROOT / "d2l_utils" / f"{module}.py").read_text(encoding="utf-8"))


def public_definitions(tree):
    """Names, kinds, parameters and first docstring lines of a module's public functions and classes, in order."""
    return [
        (node.name, type(node).__name__, signature(node), first_line(node))
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_")
    ]


def signature(node):
    if isinstance(node, ast.FunctionDef):
        return ast.unparse(node.args)
    return [(method.name, ast.unparse(method.args)) for method in node.body if isinstance(method, ast.FunctionDef)]


def first_line(node):
    return (ast.get_docstring(node) or "").split("\n")[0]


def exports(tree):
    """Return the names in a module's `__all__`; those of another module stand there as `*other.__all__`."""
    (node,) = [node for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"]
    found = [exports(parsed(e.value.value.id)) if isinstance(e, ast.Starred) else [e.value] for e in node.value.elts]
    return [name for names in found for name in names]


def imports(code, module):
    """Return the names of all modules that the code of a module imports anywhere, without the standard library."""
    found, package = set(), module if PATHS.get(module, Path()).stem == "__init__" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(filter(None, (package if node.level else "", node.module)))
            found |= {part if (part := f"{base}.{alias.name}") in PATHS else base for alias in node.names}
    found = {f"book.{name}" if module.startswith("book") and f"book.{name}" in PATHS else name for name in found}
    return {name for name in found if top(name) not in sys.stdlib_module_names}


def top(name):
    return name.partition(".")[0]


def reached(module):
    """Return the modules that importing a module imports, directly or not."""
    found, left = set(), [module]
    while left:
        new = imports(PATHS[left[-1]].read_text(encoding="utf-8"), left.pop()) - found
        found |= new
        left += new & PATHS.keys()
    return found


def names_bound_at_the_top(tree):
    bound = {name for name, *_ in public_definitions(tree)}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names]
            bound |= set(exports(parsed(node.module)) if names == ["*"] else names)
    return bound


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("module", FRAMEWORKS[1:])
def test_framework_modules_define_the_same_in_the_same_order(module, part):
    assert public_definitions(parsed(module + part)) == public_definitions(parsed("torch" + part)) != []


@pytest.mark.parametrize("module", FRAMEWORKS)
def test_framework_modules_export_the_same_and_have_all_of_it(module):
    own = parsed(module)
    assert exports(own) == exports(parsed("torch"))
    assert len(exports(own)) == len(set(exports(own)))
    assert set(exports(own)) <= names_bound_at_the_top(own)
    defined = [name for part in PARTS for name, *_ in public_definitions(parsed(module + part))]
    assert set(exports(own)) >= set(defined)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("module", FRAMEWORKS)
def test_a_framework_module_keeps_its_promise_of_150_lines(module, part):
    assert len(PATHS[f"d2l_utils.{module}{part}"].read_text(encoding="utf-8").splitlines()) <= 150


@pytest.mark.parametrize("module", UTILITIES)
def test_what_is_public_says_what_it_does(module):
    definitions = public_definitions(ast.parse(PATHS[module].read_text(encoding="utf-8")))
    assert [name for name, *_, line in definitions if not line.endswith((".", ":", "…"))] == []


@pytest.mark.parametrize(
    ("change", "drift"),
    [
        (("def try_gpu(i=0)", "def try_gpu(i=1)"), True),
        (("def try_gpu(i=0)", "def get_gpu(i=0)"), True),
        (("Return GPU i if", "Give GPU i if"), True),
        (("PyTorch has one CPU device, so", "So"), False),
    ],
)
def test_a_module_that_drifts_is_noticed(change, drift):
    source = (ROOT / "d2l_utils" / "torch.py").read_text()
    assert change[0] in source
    changed = public_definitions(ast.parse(source.replace(*change)))
    assert (changed != public_definitions(ast.parse(source))) is drift


@pytest.mark.parametrize("module", UTILITIES)
def test_a_module_imports_only_what_its_place_allows(module):
    code = PATHS[module].read_text(encoding="utf-8")
    outside = {top(name) for name in imports(code, module)} - {"d2l_utils"}
    framework, _, part = module.partition(".")[2].partition("_")
    own = {"resnet": {NETWORK.get(framework)}, "loop": LOOP.get(framework)}.get(part, {framework} & set(FRAMEWORKS))
    frugal = "standard library only" in ast.get_docstring(ast.parse(code)).lower()
    assert outside <= own | (set() if frugal else INSTALLED)


@pytest.mark.parametrize("module", FRAMEWORKS)
def test_a_framework_module_reaches_no_other_and_none_that_imports_it_back(module):
    found = reached(f"d2l_utils.{module}")
    assert found & {f"d2l_utils.{other}{part}" for other in FRAMEWORKS for part in (*PARTS, "_resnet", "_loop")} == {
        f"d2l_utils.{module}_{part}" for part in ("training", "networks", "resnet", "loop")
    }
    assert [name for name in found & PATHS.keys() if "import_module(" in PATHS[name].read_text(encoding="utf-8")] == []


@pytest.mark.parametrize("module", BOOK)
def test_the_book_reaches_no_framework(module):
    found = reached(module)
    assert found & {f"d2l_utils.{framework}{part}" for framework in FRAMEWORKS for part in PARTS} == set()
    assert {top(name) for name in found} & PACKAGES == set()


@pytest.mark.parametrize("module", [module for module in BOOK if not module.startswith("book.pages")])
def test_only_the_pages_import_sphinx(module):
    assert {top(name) for name in reached(module)} & SPHINX == set()


def test_the_environments_are_made_before_anything_is_installed():
    assert reached("book.setup.environments") <= PATHS.keys()


def test_no_two_modules_of_the_project_share_a_name():
    files = [
        path for room in ("book", "d2l_utils", "benchmarks", "rack", "tests") for path in (ROOT / room).rglob("*.py")
    ]
    names = [path.stem for path in files if path.stem not in ("__init__", "__main__", "conftest")]
    assert [name for name, times in Counter(names).items() if times > 1] == []


def test_imports_are_found_wherever_they_stand():
    code = (
        "import a.b, os\nfrom . import torch\nfrom .timing import Timer\ndef f():\n    from book.cells import split\n"
    )
    assert imports(code, "d2l_utils.jax") == {"a.b", "d2l_utils.torch", "d2l_utils.timing", "book.cells"}


def test_what_an_import_imports_is_reached():
    assert "matplotlib" in {top(name) for name in reached("d2l_utils.torch")}
    assert "d2l_utils.plots.curves" in reached("d2l_utils.torch")
