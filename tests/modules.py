"""The modules and cells of the project as they are written: nothing is imported."""

import ast
import sys
from functools import cache

import jupytext

from book import ROOT

PATHS = {  # of 'book.cells', and of 'd2l_lab.processes' the file __init__.py
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in ("d2l_utils", "d2l_lab", "book", "rack")
    for path in (ROOT / package).rglob("*.py")
}


@cache
def parsed(module):
    return ast.parse(PATHS[module].read_text(encoding="utf-8"))


def top(name):
    return name.partition(".")[0]


def imports(tree):
    """Return the names of all modules that code imports anywhere, without the standard library."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            names = [f"{base}.{alias.name}" for alias in node.names]
            found |= {name if name in PATHS else base for name in names}
    return {name for name in found if top(name) not in sys.stdlib_module_names}


@cache
def imports_of(module):
    return imports(parsed(module))


def reached(module):
    """Return the modules that importing a module imports, directly or not."""
    found, left = set(), [module]
    while left:
        new = imports_of(left.pop()) - found
        found |= new
        left += new & PATHS.keys()
    return found


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
