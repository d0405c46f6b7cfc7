"""Four modules, one interface; imports go in one direction. Read from the source: no framework is needed."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FRAMEWORKS = ("torch", "tensorflow", "jax", "mxnet")
OTHER_FRAMEWORKS = {"torch", "tensorflow", "keras", "jax", "jaxlib", "flax", "optax", "mxnet", "torchvision"}
ALLOWED = {
    "timing": set(),
    "claims": {"numpy"},
    "nested": set(),
    "__init__": set(),
    "machine": {"numpy"},
    "card": set(),
    "kernels": {"numpy", "numba"},
    "launch": set(),
    "processes": {"psutil"},
    "supervisor": {"psutil"},
}
PICTURES = {"numpy", "matplotlib", "IPython", "matplotlib_inline"}


def tree(module):
    return ast.parse((ROOT / "d2l_utils" / f"{module}.py").read_text())


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
    (node,) = [node for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"]
    return ast.literal_eval(node.value)


def imports(tree):
    """The top-level modules that a file imports anywhere, and the names of its siblings that it imports from."""
    outside, siblings = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            outside |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level:
            siblings |= {node.module} if node.module else {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            outside.add(node.module.split(".")[0])
    return outside - sys.stdlib_module_names, siblings


def names_bound_at_the_top(tree):
    bound = {name for name, *_ in public_definitions(tree)}
    return bound | {alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}


@pytest.mark.parametrize("module", FRAMEWORKS[1:])
def test_framework_modules_define_the_same_in_the_same_order(module):
    assert public_definitions(tree(module)) == public_definitions(tree("torch"))


@pytest.mark.parametrize("module", FRAMEWORKS)
def test_framework_modules_export_the_same_and_have_all_of_it(module):
    assert exports(tree(module)) == exports(tree("torch"))
    assert set(exports(tree(module))) <= names_bound_at_the_top(tree(module))
    assert set(exports(tree(module))) >= {name for name, *_ in public_definitions(tree(module))}


@pytest.mark.parametrize("path", sorted((ROOT / "d2l_utils").glob("*.py")), ids=lambda path: path.stem)
def test_what_is_public_says_what_it_does(path):
    definitions = public_definitions(ast.parse(path.read_text()))
    assert all(line.endswith((".", ":", "…")) for *_, line in definitions), definitions


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


@pytest.mark.parametrize("path", sorted((ROOT / "d2l_utils").glob("*.py")), ids=lambda path: path.stem)
def test_a_module_imports_only_what_its_place_allows(path):
    outside, siblings = imports(ast.parse(path.read_text()))
    assert outside <= ({path.stem} if path.stem in FRAMEWORKS else ALLOWED.get(path.stem, PICTURES))
    assert not siblings & set(FRAMEWORKS)
    assert "book" not in outside


@pytest.mark.parametrize("path", sorted((ROOT / "book").rglob("*.py")), ids=lambda path: path.stem)
def test_the_book_imports_neither_the_utilities_nor_a_framework(path):
    outside, _ = imports(ast.parse(path.read_text()))
    assert not outside & ({"d2l_utils"} | OTHER_FRAMEWORKS)


def test_imports_are_found_wherever_they_stand():
    source = "import a.b, os\nfrom . import torch\nfrom .timing import Timer\ndef f():\n    from c.d import e\n"
    assert imports(ast.parse(source)) == ({"a", "c"}, {"torch", "timing"})
