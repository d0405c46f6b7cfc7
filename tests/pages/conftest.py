"""One book for all tests of the pages: a module names its pages in PAGES, and what lies beside them in FILES."""

from pathlib import Path
from unittest.mock import patch

import pytest
from tiny_book import Book

from book.fonts import woff


def collected(request, name):
    """Return the pages or files that the modules of the tests to be run name, which may share none."""
    found = {}
    ours = {item.module for item in request.session.items if item.path.parent == Path(__file__).parent}
    for module in sorted(ours, key=lambda module: module.__name__):
        for key, value in getattr(module, name, {}).items():
            assert key not in found, f"{key} stands in two modules"
            found[key] = value
    return found


@pytest.fixture(scope="module", autouse=True)
def letterless_fonts():
    """E-books get fonts without letters: to cut real ones takes longer than all else. tests/documents read those."""
    with patch("book.fonts.cut", lambda *_: b"a font"):
        yield
    woff.cache_clear()


@pytest.fixture(scope="session")
def book(request, tmp_path_factory):
    return Book(tmp_path_factory.mktemp("book"), collected(request, "PAGES"), collected(request, "FILES"))


@pytest.fixture(scope="session")
def outlines():
    """The outlines of pages that stand in outlines.txt, each as a list of lines."""
    pages = Path(__file__).with_name("outlines.txt").read_text(encoding="utf-8").strip().split("\n\n")
    return {name: lines for name, *lines in map(str.splitlines, pages)}
