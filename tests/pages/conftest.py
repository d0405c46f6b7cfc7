"""One book for all tests of the pages, and one of pages with faults.

A module of tests names its pages in PAGES, what lies beside them in FILES, and in FAULTS pages that stop a build, with
the words that the complaint has to hold.
"""

from pathlib import Path

import pytest
from tiny_book import Book


def collected(request, name):
    """Return the pages or files that the modules of the tests to be run name, which may share none."""
    found = {}
    ours = {item.module for item in request.session.items if item.path.parent == Path(__file__).parent}
    for module in sorted(ours, key=lambda module: module.__name__):
        for key, value in getattr(module, name, {}).items():
            assert key not in found, f"{key} stands in two modules"
            found[key] = value
    return found


@pytest.fixture(scope="session")
def book(request, tmp_path_factory):
    """A book of all pages."""
    made = Book(tmp_path_factory.mktemp("book"), collected(request, "PAGES"), collected(request, "FILES"))
    for name, text in collected(request, "BESIDE").items():
        (made.folder / name).write_text(text, encoding="utf-8")
    return made


@pytest.fixture(scope="session")
def faulty(request, tmp_path_factory):
    """A book of all pages with faults, which has no readers' notebooks."""
    pages = {name: page for name, (page, _) in collected(request, "FAULTS").items()}
    made = Book(tmp_path_factory.mktemp("faulty"), pages)
    for path in made.folder.glob("notebooks/*/*"):
        path.unlink()
    return made


@pytest.fixture
def complaint(request, faulty):
    """A function that checks that the build complains of a page of FAULTS, in the words that stand there."""

    def check(name):
        lines = [line for line in faulty.faults if f"/{name}." in line]
        for word in request.module.FAULTS[name][1]:
            assert any(word in line for line in lines), (word, lines)

    return check
