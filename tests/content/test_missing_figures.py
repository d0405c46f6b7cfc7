"""A machine's profile may lack figures; the cells that read it look before they do."""

import ast
from types import SimpleNamespace

import jupytext
import pytest
from modules import python_of

from book import FRAMEWORKS, ROOT
from book.cells import expand, of

KINDS = ("float32", "bfloat16")
UNKNOWN = object()
RATES = {"bytes": 2**18, "copy": 3e10, "in place": 3e10}
PART = {
    "version": "1",
    "dispatch": {"issue": 1e-6, "wait": 2e-6},
    "bandwidth": {"L2": RATES, "L3": RATES, "memory": RATES},
    "product": {"float32": 2e11, "bfloat16": 9e11},
}
GPU = PART | {"name": "GPU", "bandwidth": {"L2": RATES, "memory": RATES}}
CACHES = [
    {"level": level, "kind": kind, "bytes": 2**15 * 4**level, "shared_by": 1}
    for level, kind in ((1, "data"), (1, "instruction"), (2, "unified"), (3, "unified"))
]
WHOLE = {
    "machine": {"cpu": "Abacus 9", "cores": 2, "memory_gb": 24, "gpus": [], "system": "Linux"},
    "date": "2026-11-24",
    "caches": CACHES,
    "bandwidth": {"one core": 4e10, "all cores": 5e10},
    "latency": {str(2**14): 2e-9, str(2**28): 2e-7},
    "product": {"float32": 2e11},
    "framework": PART,
    "gpus": [],
}
NARROW = {"product": {"float32": 2e11}}
PROFILES = {
    "no bfloat16": WHOLE | {"framework": PART | NARROW},
    "no caches": WHOLE | {"caches": []},
    "no L3": WHOLE | {"caches": CACHES[:3]},
    "a GPU": WHOLE | {"gpus": [GPU]},
    "a GPU without bfloat16": WHOLE | {"gpus": [GPU | NARROW]},
}


class Reader(ast.NodeVisitor):
    """Reads a section's cells, evaluates what comes from the profile alone, and finds what is asked for and not there.

    `gpus` and `on_cpu` are what the sections call by these names.
    """

    def __init__(self, profile):
        machine = SimpleNamespace(your_machine=lambda: profile)
        self.names = {"d2l": machine, "gpus": profile["gpus"], "on_cpu": not profile["gpus"]}
        self.faults = set()

    def value(self, node):
        """Return the value of an expression, UNKNOWN if that is more than the profile tells."""
        known = any(isinstance(part, ast.Name) and part.id in self.names for part in ast.walk(node))
        try:
            found = eval(ast.unparse(node), {"__builtins__": {"max": max, "min": min}} | self.names)
        except Exception:
            return UNKNOWN
        return found if known or isinstance(node, (ast.Constant, ast.List)) else UNKNOWN

    def bind(self, target, value):
        if isinstance(target, ast.Tuple):
            values = value if isinstance(value, tuple) else [UNKNOWN] * len(target.elts)
            for pair in zip(target.elts, values, strict=True):
                self.bind(*pair)
        elif isinstance(target, ast.Name) and target.id not in ("gpus", "on_cpu"):
            self.names.pop(target.id, None)
            if value is not UNKNOWN and value != []:  # a list that a cell is to fill is none of the profile
                self.names[target.id] = value

    def each(self, loops, body):
        """Visit the body of a loop, or of the loops of a comprehension, with every element that there may be."""
        if not loops:
            for node in body:
                self.visit(node)
            return
        loop, *inner = loops
        self.visit(loop.iter)
        elements = self.value(loop.iter)
        for element in [UNKNOWN] if elements is UNKNOWN else list(elements):
            self.bind(loop.target, element)
            tests = getattr(loop, "ifs", [])
            self.each([], tests)
            if all(self.value(test) for test in tests):
                self.each(inner, body)

    def visit_For(self, node):
        self.each([node], node.body)

    def visit_ListComp(self, node):
        self.each(node.generators, [node.elt] if hasattr(node, "elt") else [node.key, node.value])

    visit_GeneratorExp = visit_SetComp = visit_DictComp = visit_ListComp

    def visit_If(self, node):
        """Read no branch that this profile rules out."""
        self.visit(node.test)
        end = self.value(node.test)
        for branch, ruled_out in ((node.body, not end), (node.orelse, end is not UNKNOWN and end)):
            for child in () if ruled_out else branch if isinstance(branch, list) else [branch]:
                self.visit(child)

    visit_IfExp = visit_If

    def visit_Assign(self, node):
        self.visit(node.value)
        self.bind(node.targets[0], self.value(node.value))

    def visit_Subscript(self, node):
        self.generic_visit(node)
        whole, key = self.value(node.value), self.value(node.slice)
        if isinstance(whole, (dict, list)):
            for asked in [key] if key is not UNKNOWN else KINDS if KINDS[0] in whole else ():
                if asked not in whole and not (isinstance(whole, list) and asked in range(-len(whole), len(whole))):
                    self.faults.add(f"{ast.unparse(node)}: there may be no {asked}")


def faults(cells, profile):
    reader = Reader(profile)
    for cell in cells:
        reader.visit(ast.parse(python_of(cell)))
    return sorted(reader.faults)


@pytest.fixture(scope="module")
def sections():
    paths = sorted((ROOT / "notebooks").glob("*.md"))
    return {path.stem: expand(jupytext.read(path, fmt="md:myst")) for path in paths}


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("lacking", PROFILES)
def test_a_section_asks_for_no_figure_that_a_profile_lacks(sections, framework, lacking):
    for name, cells in sections.items():
        code = [cell.source for cell in of(cells, framework) if cell.kind == "code"]
        assert (name, list(faults(code, PROFILES[lacking]))) == (name, [])


MACHINE = 'machine = d2l.your_machine()\nrates = (machine["gpus"] or [machine["framework"]])[0]["product"]\n'


@pytest.mark.parametrize(
    ("cell", "wrong"),
    [
        ('rates["bfloat16"]', True),
        ("rates[bits]", True),
        ("rates[max(rates, key=rates.get)]", False),
        ("for kind in rates:\n    print(rates[kind])", False),
        ('rates.get("bfloat16", rates["float32"])', False),
        ('if "bfloat16" in rates:\n    print(rates["bfloat16"])', False),
        ('bits = "bfloat16" if mixed else "float32"\nrates[bits]', True),
        ('machine["gpus"][0]', True),
        ('machine["gpus"][0] if gpus else 0', False),
    ],
)
def test_a_cell_that_does_not_look_first_is_found(cell, wrong):
    assert bool(faults([MACHINE + cell], PROFILES["no bfloat16"])) is wrong
