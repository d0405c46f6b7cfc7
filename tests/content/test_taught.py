"""Code that one section teaches in its cells and others take from d2l_utils is the same in both places."""

import ast
from pathlib import Path

import jupytext
import pytest
from test_interface import exports, parsed

from book import MODULES

ROOT = Path(__file__).parents[2]
# The section that teaches, the module of d2l_utils, the names of functions and classes. What a section teaches for one
# framework stands in a module of that framework (torch, torch_training), compared with the cells of its tab.
TAUGHT = [
    ("hardware", "kernels", ("triad", "chase", "lay_ring")),
    ("auto-parallelism", "scheduling", ("longest_path",)),
    ("parameterserver", "costs", ("star_time", "server_time", "ring_time", "tree_time")),
    ("scaling-out", "cluster", ("ring_ends", "training_ends")),
    ("parameterserver", "costs", ("hierarchical_time", "bus_bandwidth")),
    *(("multiple-gpus", f"{module}_training", ("split_batch",)) for module in MODULES.values()),
    *(("multiple-gpus-concise", f"{module}_resnet", ("resnet18",)) for module in MODULES.values()),
    ("multiple-gpus-concise", "torch_resnet", ("convolution", "Residual")),
    ("multiple-gpus-concise", "tensorflow_resnet", ("conv", "residual")),
    ("multiple-gpus-concise", "jax_resnet", ("Residual",)),
    ("multiple-gpus-concise", "mxnet_resnet", ("Residual",)),
    *(("hybridize", f"{module}_loop", ("build_lenet", "train_step", "load_images")) for module in MODULES.values()),
    ("parameterserver", "algorithms", ("star", "direct", "ring")),
]
SLUGS = sorted(path.stem for path in (ROOT / "notebooks").glob("*.md"))


def definitions(code):
    """Return pairs of the name of a function or class and its code, without docstrings, comments and spelling."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            for part in ast.walk(node):
                if isinstance(part, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(part) is not None:
                    part.body = part.body[1:]
            found.append((node.name, ast.dump(node)))
    return found


def in_module(module):
    return dict(definitions((ROOT / "d2l_utils" / f"{module}.py").read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def in_section():
    """A function of a section and a module that returns the definitions in the code cells that speak of the module."""
    kept = {}

    def find(slug, module):
        module = module.removesuffix("_training").removesuffix("_resnet").removesuffix("_loop")
        if slug not in kept:
            kept[slug] = jupytext.read(ROOT / "notebooks" / f"{slug}.md", fmt="md:myst").cells
        others = {name for name, known in MODULES.items() if module in MODULES.values() and known != module}
        cells = [cell for cell in kept[slug] if cell.cell_type == "code" and not others & set(tags(cell))]
        return [pair for cell in cells for pair in definitions(python_of(cell.source))]

    return find


def python_of(source):
    """Return the Python of a cell: all of it, or what it writes into a .py file; nothing of another magic."""
    first, _, rest = source.partition("\n")
    if first.startswith("%%writefile") and first.endswith(".py"):
        return rest
    return "" if first.startswith("%") else source


def tags(cell):
    return cell.metadata.get("tags", [])


@pytest.mark.parametrize(("slug", "module", "name"), [(s, m, name) for s, m, names in TAUGHT for name in names])
def test_a_section_defines_what_it_teaches_once_and_as_the_module_does(slug, module, name, in_section):
    assert [code for known, code in in_section(slug, module) if known == name] == [in_module(module)[name]]


@pytest.mark.parametrize("slug", SLUGS)
@pytest.mark.parametrize("module", MODULES.values())
def test_a_section_defines_no_other_name_that_readers_get_from_d2l_utils(slug, module, in_section):
    taught = {name for section, _, names in TAUGHT if section == slug for name in names}
    assert {name for name, _ in in_section(slug, module)} & (set(exports(parsed(module))) - taught) == set()


@pytest.mark.parametrize(
    ("old", "new", "noticed"),
    [
        ("2 * x", "x * 2", True),
        ("@njit(nogil=True)", "@njit()", True),
        ("def f(x)", "def f(x, y=0)", True),
        ("1_000", "1001", True),
        ("Return", "Compute", False),
        ("# twice", "# two times", False),
        ("1_000", "1000", False),
    ],
)
def test_a_change_of_code_is_noticed_and_one_of_words_is_not(old, new, noticed):
    code = (
        'class A:\n    @njit(nogil=True)\n    def f(x):\n        """Return."""\n        return 2 * x + 1_000  # twice\n'
    )
    assert old in code
    assert (definitions(code.replace(old, new)) != definitions(code)) is noticed
