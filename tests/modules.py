"""The modules of the project as they are written: nothing is imported."""

import ast
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
