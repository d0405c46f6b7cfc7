"""The checklist: every advice for the reader's own loop, with its place and what it gained."""

import json

import pytest
from tiny_book import Book, notebook, prose, words

from book import FRAMEWORKS

ADVICE = """\
# Advising

## One

**In your own loop**: fuse `a` and *b*.
Reuse memory.
% gain: eight passes → one pass
"""
SOURCES = {
    "advising": notebook(
        prose(ADVICE),
        prose("**In your own loop**: compile.\n% gain: compiled step", "jax"),
        prose("**In your own loop**: script.", "pytorch"),
    ),
    "back/checklist": "# List\n\n```{checklist}\n```\n",
}


def compared(name, measured, framework="jax"):
    about = {"section": "advising", "framework": framework, "cell": "c0", "name": name, "kind": "model", "unit": "s"}
    return about | {"predicted": 1.0, "measured": measured, "low": measured, "high": measured}


PREDICTIONS = [compared("eight passes", 8e-3), compared("one pass", 8e-4)]
ROWS = [
    {"lever": "the loop as written", "seconds": 0.020, "kept": True},
    {"lever": "tuned layers", "seconds": 0.030, "kept": False},
    {"lever": "compiled step", "seconds": 0.010, "kept": True},
]
MEASURED = {
    "predictions.json": json.dumps(PREDICTIONS),
    "running-totals.json": json.dumps([{"section": "advising", "framework": "jax", "cell": "c0", "rows": ROWS}]),
}


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    return Book(tmp_path_factory.mktemp("checklist"), SOURCES, MEASURED)


def entries(book, framework):
    return book.article("back/checklist").select(f".only-{framework} li")


def test_the_list_has_each_frameworks_advice_with_its_gain(book):
    shared, own = entries(book, "pytorch")
    assert words(shared.p) == "One: Fuse a and b. Reuse memory."
    assert shared.a["href"] == "../advising.html?tab=pytorch#in-your-own-loop-1"
    assert words(own.p) == "One: Script."
    assert "script" in book.article("advising").find(id=own.a["href"].partition("#")[2]).get_text()
    page = book.whole("back/checklist")
    assert page.select(".only-pytorch .gains") == []
    assert [words(entry) for entry in page.select(".only-jax .gains")] == [
        "Measured here: eight passes: 8.00 ms → one pass: 0.800 ms, 10.0 ×",
        "Measured here: compiled step: a step of 20.0 ms → 10.0 ms, 2.00 ×",
    ]
    assert [words(label) for label in page.article.select("label")] == ["PyTorch", "JAX"]
    assert [button["value"] for button in page.select(".framework-switch button")] == ["pytorch", "jax"]


def test_the_contents_of_the_page_have_the_sections_of_the_list(book):
    page = book.whole("back/checklist")
    contents = [(link["href"], words(link)) for link in page.select(".toc-tree a")]
    assert contents[1:] == [("#advising", words(page.find(id="advising").h2).removesuffix("#"))]


def test_the_contents_of_the_e_book_have_the_sections_of_the_list(book):
    folder = book.output("epub")
    assert 'href="back/checklist.xhtml#advising"' in (folder / "nav.xhtml").read_text(encoding="utf-8")
    assert 'id="advising"' in (folder / "back" / "checklist.xhtml").read_text(encoding="utf-8")


def test_a_changed_advice_reaches_the_list(tmp_path):
    changing = Book(tmp_path, SOURCES, MEASURED)
    assert len(entries(changing, "jax")) == 2
    changing.write("advising", notebook(prose(ADVICE.replace("Reuse", "Keep")), prose("Own.", "jax")))
    assert changing.build() == (0, "")
    assert [words(entry.p) for entry in entries(changing, "jax")] == ["One: Fuse a and b. Keep memory."]
    assert len(changing.whole("back/checklist").select(".toc-tree a")) == 2


def test_a_gain_that_no_cell_measured_is_an_error(tmp_path):
    everywhere = [compared("eight passes", 8e-3, framework) for framework in FRAMEWORKS]
    text = "# Page\n\n**In your own loop**: fuse.\n% gain: eight passes → nothing\n"
    files = {"predictions.json": json.dumps(everywhere)}
    pages = {"advising": notebook(prose(text), prose("Own.", "jax")), "list": "# List\n\n```{checklist}\n```\n"}
    status, warnings = Book(tmp_path, pages, files).build()
    assert status == 1
    assert "advising: no cell measured the gain 'eight passes → nothing'" in warnings
