"""The modules and cells of the project as they are written: nothing is imported."""

import ast
from functools import cache

import jupytext

from book import ROOT

PATHS = {  # of 'book.cells', and of 'd2l_lab.processes' the file __init__.py
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in ("d2l_utils", "d2l_lab", "book")
    for path in (ROOT / package).rglob("*.py")
}


@cache
def parsed(module):
    return ast.parse(PATHS[module].read_text(encoding="utf-8"))


@cache
def cells(slug):
    """Return the tags and the parsed Python of each code cell of a section."""
    found = jupytext.read(ROOT / "notebooks" / f"{slug}.md", fmt="md:myst").cells
    code = [cell for cell in found if cell.cell_type == "code"]
    return [(set(cell.metadata.get("tags", [])), ast.parse(python_of(cell.source))) for cell in code]


def python_of(source):
    """Return the Python of a cell: all of it, or what it writes into a .py file; nothing of another magic."""
    first, _, rest = source.partition("\n")
    if first.startswith("%%writefile") and first.endswith(".py"):
        return rest
    return "" if first.startswith("%") else source
