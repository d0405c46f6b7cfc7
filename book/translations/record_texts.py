"""The words of records: what cells claim, what they call predictions and levers, and what a miss means.

What a cell builds at run time is a text with fields, as its f-string has it. Where the values of a field are words too,
a comment of the section lists them:

% names: once, each, "both, in turn"
"""

import ast
import csv
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

TABLES = ("compare", "report")  # functions that take a dict whose keys are shown
SHOWN = {"claim": 0, "predict": 0, "try_lever": 0, "trial": 0, "compare": 1}  # the place of an argument that is shown
LISTED = re.compile(r"^% (names|gain): (.+)$", re.MULTILINE)
# Names that d2l_lab gives, a lever of the total alone, and what a rate counts.
OURS = ("the loop as written", "with {lever}", "{lever}: cost", "memory kept", "tokens")


def extract(source: str) -> list[str]:
    """Return the words of the records that the cells of a source leave, in their order."""
    import jupytext

    cells = jupytext.reads(source, fmt="md:myst")["cells"]
    codes = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
    trees = [ast.parse("" if code.startswith("%%") else code) for code in codes]
    tables = tables_in([node for tree in trees for node in ast.walk(tree)])
    found = [text for tree in trees for text in in_code(tree, tables)]
    for kind, line in LISTED.findall(source):
        found += line.split(" → ") if kind == "gain" else next(csv.reader([line], skipinitialspace=True))
    return found


def tables_in(nodes: Iterable[ast.AST]) -> dict[str, list[ast.expr]]:
    """Return what the code of a section assigns to each name."""
    found: dict[str, list[ast.expr]] = {}
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AugAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            found.setdefault(ast.unparse(target), []).append(node.value)
    return found


def in_code(tree: ast.AST, tables: dict[str, list[ast.expr]]) -> Iterator[str]:
    nodes = list(ast.walk(tree))
    assigned = {ast.unparse(node.targets[0]): node.value for node in nodes if isinstance(node, ast.Assign)}
    for node in nodes:
        if isinstance(node, ast.Call):
            if ast.unparse(node.func).rpartition(".")[2] in TABLES and node.args:
                whole = tables.get(ast.unparse(node.args[0]), [node.args[0]])
                names = [name for table in whole for key in keys_of(table, tables) for name in text_of(key)]
                yield from filter(re.compile(r"\b[a-z]{2,}\b").search, names)  # others are symbols
            place = SHOWN.get(ast.unparse(node.func).rpartition(".")[2])
            arguments = [] if place is None else node.args[place : place + 1]
            reasons = [keyword.value for keyword in node.keywords if keyword.arg == "if_missed"]
            for argument in arguments + reasons:
                yield from text_of(assigned.get(ast.unparse(argument), argument))


def keys_of(table: ast.expr, tables: dict[str, list[ast.expr]]) -> list[ast.expr]:
    """Return the keys of a dict that stands in the code, none of any other expression."""
    if isinstance(table, ast.Name):
        return [key for each in tables.pop(table.id, []) for key in keys_of(each, tables)]
    if isinstance(table, ast.DictComp):
        return [table.key]
    if isinstance(table, ast.BinOp):  # of two dicts
        return [*keys_of(table.left, tables), *keys_of(table.right, tables)]
    return [key for key in table.keys if key] if isinstance(table, ast.Dict) else []


def hints(code: str) -> Iterator[str]:
    """Yield the hints of a module of exercises: the last argument of each case and guess."""
    nodes = list(ast.walk(ast.parse(code)))
    assigned = {ast.unparse(node.targets[0]): node.value for node in nodes if isinstance(node, ast.Assign)}
    for node in nodes:
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("Case", "Guess"):
            yield from text_of(assigned.get(ast.unparse(node.args[-1]), node.args[-1]))


def hardware(root: Path) -> Iterator[str]:
    """Yield the words of the tables of hardware: quantities, what they mean, notes, and what is no product's name."""
    path = root / "d2l_lab" / "tables" / "hardware.csv"
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines())) if path.exists() else []
    for row in rows:
        yield from filter(None, [row["quantity"], row["convention"], row["note"]])
        if row["table"] in ("latency", "training"):
            yield row["name"]


def text_of(argument: ast.expr) -> Iterator[str]:
    """Yield the text of a string, with fields if it is an f-string; nothing for any other expression."""
    parts = argument.values if isinstance(argument, ast.JoinedStr) else [argument]
    names: dict[str, str] = {}  # of fields, by their code: the same in another format is another field
    text = ""
    for number, part in enumerate(parts):
        if isinstance(part, ast.FormattedValue):
            name = part.value.id if isinstance(part.value, ast.Name) else f"value{number}"
            while name in names.values() and ast.unparse(part) not in names:
                name += "_"
            text += f"{{{names.setdefault(ast.unparse(part), name)}}}"
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            text += part.value if part is argument else part.value.replace("{", "{{").replace("}", "}}")
        else:
            return
    yield " ".join(text.split())
