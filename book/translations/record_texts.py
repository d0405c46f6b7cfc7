"""The words of records: what cells claim, what they call predictions and levers, and what a miss means.

Those of drawings too: their axes, curves and titles, cut where `d2l_lab.plots.words` cuts them.

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
# The place of an argument that is shown.
SHOWN = {"claim": 0, "predict": 0, "try_lever": 0, "trial": 0, "piece": 0, "compare": 1}
LABELS = ("xlabel", "ylabel", "legend", "label", "title", "set_xlabel", "set_ylabel")  # keywords, or functions
PLOT = slice(2, 5)  # the labels among the arguments of `plot`
LABEL = re.compile(r"(?<![{\w])[a-z]{3,}")  # a part of a label without such a word is a symbol or a unit
LISTED = re.compile(r"^% (names|gain): (.+)$", re.MULTILINE)
# Names that d2l_lab gives, a lever of the total alone, and what a rate counts.
OURS = ("the loop as written", "with {lever}", "{lever}: cost", "memory kept", "tokens")

# Labels of drawings that cells compute, such as the kinds of spans.
COMPUTED = (
    "in turn",
    "side by side",
    "wait",
    "compute",
    "one by one",
    "at once",
    "device {i}",
    "chain",
    "after all",
    "typical",
    "this machine",
    "main memory",
    "tiny operation",
    "master copy",
    "forward",
    "backward",
    "update",
    "all-reduce",
    "kernels",
    "copy",
    "sum",
    "worker {i}",
    "all anew",
    "cache",
    "8-bit weights",
    "static",
    "continuous",
)


def trees_of(source: str) -> list[ast.Module]:
    """Return the code cells of a source that are Python."""
    import jupytext

    cells = jupytext.reads(source, fmt="md:myst")["cells"]
    codes = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
    return [ast.parse("" if code.startswith("%%") else code) for code in codes]


def lines(source: str) -> Iterator[str]:
    """Yield the lines with words that the cells of a source print as one string.

    But no heads of tables, and none in which a field ends a word.
    """
    for call in (node for tree in trees_of(source) for node in ast.walk(tree) if isinstance(node, ast.Call)):
        if ast.unparse(call.func) == "print" and len(call.args) == 1:
            found = text_of(call.args[0]) if "    " not in ast.unparse(call) else ()
            yield from (text for text in found if LABEL.search(text) and not re.search(r"[a-z]\{", text))


def extract(source: str) -> list[str]:
    """Return the words of the records that the cells of a source leave, in their order."""
    trees = trees_of(source)
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
            yield from labels(node)
            place = SHOWN.get(ast.unparse(node.func).rpartition(".")[2])
            arguments = [] if place is None else node.args[place : place + 1]
            reasons = [keyword.value for keyword in node.keywords if keyword.arg == "if_missed"]
            for argument in arguments + reasons:
                yield from text_of(assigned.get(ast.unparse(argument), argument))


def labels(call: ast.Call) -> Iterator[str]:
    """Yield what a call writes into a drawing: the parts that have words."""
    name = ast.unparse(call.func).rpartition(".")[2]
    places = {"plot": PLOT, "legend": slice(1)} | dict.fromkeys(LABELS, slice(1))
    found = call.args[places.get(name, slice(0))]
    found += [keyword.value for keyword in call.keywords if keyword.arg in LABELS]
    for each in found:
        for text in [text for node in getattr(each, "elts", [each]) for text in text_of(node)]:
            yield from (part for part in text.split(", ") if LABEL.search(part))


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
