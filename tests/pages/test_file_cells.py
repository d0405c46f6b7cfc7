"""Cells that write files: programs in C are coloured as C, others as the notebook's language."""

import pytest
from tiny_book import code, notebook, prose

BODY = "int sign(int x) { return x < 0 ? -1 : 1; }"
PAGES = {
    "file-cells": notebook(
        prose("# Files"),
        code(f"%%writefile sign.c\n{BODY}"),
        code(f"%%writefile -a sign.h\n{BODY}"),
        code(f"%%writefile sign.cc\n{BODY}"),
        code("%%writefile sign.py\nsign = -1"),
    )
}


@pytest.mark.parametrize(
    ("file", "language"), [("sign.c", "c"), ("sign.h", "c"), ("sign.cc", "c++"), ("sign.py", "python")]
)
def test_a_cell_that_writes_a_file_has_the_files_language(book, file, language):
    blocks = book.article("file-cells").select(".highlight")
    (block,) = [block for block in blocks if block.get_text().split("\n")[0].split()[-1] == file]
    assert f"highlight-{language}" in block.parent["class"]
