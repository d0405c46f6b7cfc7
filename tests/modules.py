"""The modules of the project as they are written: nothing is imported."""

import ast
import sys
from functools import cache

from book import ROOT

PATHS = {  # of 'book.cells', and of 'd2l_lab.processes' the file __init__.py
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in ("d2l_utils", "d2l_lab", "book")
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
