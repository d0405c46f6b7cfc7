"""Code that one section teaches in its cells and others take from d2l_utils is the same in both places."""

import ast
from pathlib import Path

import jupytext
import pytest

from book import MODULES
from book.exports import exports

ROOT = Path(__file__).parents[2]
FOLDERS = list(MODULES.values())
# The section that teaches, the file of d2l_utils, the names of functions and classes. What a section teaches for each
# framework is in a file of that framework's folder, and is compared with the cells of its tab.
TAUGHT = [
    ("hardware", "machine/probes", ("triad", "chase", "lay_ring")),
    ("auto-parallelism", "scheduling", ("longest_path",)),
    ("parameterserver", "collectives/cost_model", ("star_time", "server_time", "ring_time", "tree_time")),
    ("parameterserver", "collectives/cost_model", ("hierarchical_time", "bus_bandwidth")),
    ("parameterserver", "collectives/algorithms", ("star", "direct", "ring")),
    ("scaling-out", "collectives/simulation", ("ring_ends", "training_ends")),
    *(("multiple-gpus", f"{folder}/training", ("split_batch",)) for folder in FOLDERS),
    *(("multiple-gpus-concise", f"{folder}/networks", ("Residual", "resnet18")) for folder in FOLDERS),
    *(("hybridize", f"{folder}/networks", ("build_lenet", "train_step", "load_images")) for folder in FOLDERS),
]
SLUGS = sorted(path.stem for path in (ROOT / "notebooks").glob("*.md"))


def definitions(code):
    """Return pairs of the name of a function or class and its code, without docstrings, types, comments and layout."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
    named = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    return [(node.name, ast.dump(node)) for node in named]


def in_module(module):
    return dict(definitions((ROOT / "d2l_utils" / f"{module}.py").read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def in_section():
    """A function of a section and a module that returns the definitions in the code cells that speak of the module."""
    kept = {}

    def find(slug, module):
        folder = module.partition("/")[0]
        if slug not in kept:
            kept[slug] = jupytext.read(ROOT / "notebooks" / f"{slug}.md", fmt="md:myst").cells
        others = {name for name, known in MODULES.items() if folder in FOLDERS and known != folder}
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
@pytest.mark.parametrize("folder", FOLDERS)
def test_a_section_defines_no_other_name_that_readers_get_from_d2l_utils(slug, folder, in_section):
    taught = {name for section, _, names in TAUGHT if section == slug for name in names}
    assert {name for name, _ in in_section(slug, folder)} & (set(exports(f"d2l_utils.{folder}")) - taught) == set()


@pytest.mark.parametrize(
    ("old", "new", "noticed"),
    [
        ("2 * x", "x * 2", True),
        ("@njit(nogil=True)", "@njit()", True),
        ("f(x)", "f(x, y=0)", True),
        ("f(x)", "f(x: float) -> float", False),
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
