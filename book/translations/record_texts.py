"""The words of records: what cells claim, what they call predictions and levers, and what a miss means.

What a cell builds at run time is a text with fields, as its f-string has it. Where the values of a field are words too,
a comment of the section lists them:

% names: once, each
"""

import ast
import re
from collections.abc import Iterator

SHOWN = {"claim": 0, "predict": 0, "try_lever": 0, "trial": 0, "compare": 1}  # the place of an argument that is shown
LISTED = re.compile(r"^% (names|gain): (.+)$", re.MULTILINE)
# Names that d2l_lab gives, and a lever of the total alone.
OURS = ("the loop as written", "{lever}: cost", "memory kept")


def extract(source: str) -> list[str]:
    """Return the words of the records that the cells of a source leave, in their order."""
    import jupytext

    cells = jupytext.reads(source, fmt="md:myst")["cells"]
    found = [text for cell in cells if cell["cell_type"] == "code" for text in in_code(cell["source"])]
    for kind, line in LISTED.findall(source):
        found += line.split(" → " if kind == "gain" else ", ")
    return found


def in_code(code: str) -> Iterator[str]:
    nodes = list(ast.walk(ast.parse("" if code.startswith("%%") else code)))
    assigned = {ast.unparse(node.targets[0]): node.value for node in nodes if isinstance(node, ast.Assign)}
    for node in nodes:
        if isinstance(node, ast.Call):
            place = SHOWN.get(ast.unparse(node.func).rpartition(".")[2])
            arguments = [] if place is None else node.args[place : place + 1]
            reasons = [keyword.value for keyword in node.keywords if keyword.arg == "if_missed"]
            for argument in arguments + reasons:
                yield from text_of(assigned.get(ast.unparse(argument), argument))


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
