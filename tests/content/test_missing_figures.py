"""A machine's profile may lack figures; the cells that read it look before they do."""

import ast
import re

import jupytext
import pytest

from book import FRAMEWORKS, ROOT
from book.cells import expand, of

KINDS = ("float32", "bfloat16")
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


class Reader:
    """Reads a notebook's cells, and finds what a profile lacks that they ask for.

    It knows the values that an expression may have as far as they come from the profile: a tuple, () where they do not.
    `gpus` and `on_cpu` are what the sections call by these names.
    """

    def __init__(self, profile):
        self.profile, self.faults = profile, []
        self.names = {"gpus": (profile["gpus"],), "on_cpu": (not profile["gpus"],)}

    def read(self, source):
        """Read a cell."""
        for statement in ast.parse(re.sub(r"^%%.*", "", source)).body:
            self.visit(statement)

    def visit(self, node):
        """Read a statement or an expression, but no branch that this profile rules out."""
        for loop in [node] if isinstance(node, ast.For) else getattr(node, "generators", []):
            if isinstance(loop.target, ast.Name):
                lists = [whole for whole in self.values(loop.iter) if isinstance(whole, (dict, list))]
                self.names[loop.target.id] = tuple(place for whole in lists for place in whole)
        if isinstance(node, (ast.If, ast.IfExp)):
            ends = {bool(found) for found in self.values(node.test)} or {True, False}
            branches = [branch for end, branch in ((True, node.body), (False, node.orelse)) if end in ends]
            children = [node.test]
            for branch in branches:
                children += branch if isinstance(branch, list) else [branch]
        else:
            children = ast.iter_child_nodes(node)
        for child in children:
            self.visit(child)
        if isinstance(node, ast.Subscript):
            self.values(node)
        if isinstance(node, ast.Assign):
            self.assign(node.targets[0], node.value)

    def assign(self, target, value):
        """Note what names stand for."""
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for pair in zip(target.elts, value.elts, strict=False):
                self.assign(*pair)
        elif isinstance(target, ast.Name) and target.id not in ("gpus", "on_cpu"):
            self.names[target.id] = self.values(value)

    def values(self, node):
        """Return the values that an expression may have."""
        match node:
            case ast.Constant():
                return (node.value,)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=number)):
                return (-number,)
            case ast.Name():
                return self.names.get(node.id, ())
            case ast.List():
                found = [value for part in node.elts for value in self.values(part)]
                return (found,) if found else ()  # one that a cell is to fill is none of the profile
            case ast.Call(func=ast.Attribute(attr="your_machine")):
                return (self.profile,)
            case ast.Call(func=ast.Attribute(value=whole, attr="get"), args=[key, *default]):
                asked = [(part, place) for part in self.values(whole) for place in self.values(key)]
                found = [part[place] for part, place in asked if isinstance(part, dict) and place in part]
                return tuple(found) if len(found) == len(asked) else self.values(default[0]) if default else (None,)
            case ast.Call(func=ast.Name(id="max" | "min"), args=[whole]):
                return tuple(place for part in self.values(whole) if isinstance(part, dict) for place in part)
            case ast.Compare(left=left, ops=[ast.In()], comparators=[whole]):
                return tuple(key in part for key in self.values(left) for part in self.values(whole))
            case ast.BoolOp(op=ast.Or()):
                for part in node.values:
                    found = self.values(part)
                    if not found or any(found):
                        return found
                return found
            case ast.BoolOp(op=ast.And()):
                found = [self.values(part) for part in node.values]
                return (False,) if any(values and not any(values) for values in found) else ()
            case ast.IfExp():
                ends = {bool(found) for found in self.values(node.test)} or {True, False}
                branches = [branch for end, branch in ((True, node.body), (False, node.orelse)) if end in ends]
                return tuple(value for branch in branches for value in self.values(branch))
            case ast.Subscript():
                return self.part(node)
        return ()

    def part(self, node):
        """Return the values of a subscript, and note it as a fault if it may have none."""
        found = []
        for whole in self.values(node.value):
            if not isinstance(whole, (dict, list)):
                continue
            keys = self.values(node.slice) or (KINDS if KINDS[0] in whole else ())
            for key in keys:
                try:
                    found.append(whole[key])
                except (KeyError, IndexError):
                    self.faults.append(f"{ast.unparse(node)}: there may be no {key}")
        return tuple(found)


def faults(cells, profile):
    reader = Reader(profile)
    for cell in cells:
        reader.read(cell)
    return sorted(set(reader.faults))


@pytest.fixture(scope="module")
def sections():
    """The cells of each section, by its name."""
    paths = sorted((ROOT / "notebooks").glob("*.md"))
    return {path.stem: expand(jupytext.read(path, fmt="md:myst")) for path in paths}


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("lacking", PROFILES)
def test_a_section_asks_for_no_figure_that_a_profile_lacks(sections, framework, lacking):
    cells = {
        name: [cell.source for cell in of(all_, framework) if cell.kind == "code"] for name, all_ in sections.items()
    }
    found = {name: faults(sources, PROFILES[lacking]) for name, sources in cells.items()}
    assert {name: lines for name, lines in found.items() if lines} == {}


MACHINE = 'machine = d2l.your_machine()\nrates = (machine["gpus"] or [machine["framework"]])[0]["product"]\n'


@pytest.mark.parametrize(
    ("cell", "wrong"),
    [
        ('rates["bfloat16"]', True),
        ("rates[bits]", True),
        ('rates["float32"]', False),
        ("rates[max(rates, key=rates.get)]", False),
        ("[rates[kind] for kind in rates]", False),
        ("for kind in rates:\n    print(rates[kind])", False),
        ('[rates[kind] for kind in ["float32", "bfloat16"]]', True),
        ('rates.get("bfloat16", rates["float32"])', False),
        ('if "bfloat16" in rates:\n    print(rates["bfloat16"])', False),
        ('bits = "bfloat16" if mixed and "bfloat16" in rates else "float32"\nrates[bits]', False),
        ('bits = "bfloat16" if mixed else "float32"\nrates[bits]', True),
        ('machine["caches"][-1]', False),
        ('machine["gpus"][0]', True),
        ('machine["gpus"][0] if gpus else 0', False),
    ],
)
def test_a_cell_that_does_not_look_first_is_found(cell, wrong):
    assert bool(faults([MACHINE + cell], PROFILES["no bfloat16"])) is wrong
