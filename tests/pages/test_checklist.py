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
LIST = """\
# List

```{checklist}
:without: advising#one-2
:with-gpus: advising#pytorch:one-2
:with-several: sharing
```
"""
SOURCES = {
    "advising": notebook(
        prose(ADVICE),
        prose("**In your own loop**: compile.\n% gain: compiled step", "jax"),
        prose("**In your own loop**: script.", "pytorch"),
        prose("**In your own loop**: fuse, as said before."),
        prose("**In your own loop**: pin memory.", "pytorch"),
        prose("**In your own loop**: tune.\n% gain: tuned layers", "jax"),
    ),
    "sharing": notebook(prose("# Sharing\n\n**In your own loop**: split."), prose("Own.", "jax")),
    "back/checklist": LIST,
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
    shared, own, pinned, split = entries(book, "pytorch")
    assert words(shared.p) == "One: Fuse a and b. Reuse memory."
    assert shared.a["href"] == "../advising.html?tab=pytorch#in-your-own-loop-1"
    assert words(own.p) == "One: Script."
    assert "script" in book.article("advising").find(id=own.a["href"].partition("#")[2]).get_text()
    assert [words(pinned.p), words(split.p)] == ["One: Pin memory.", "Sharing: Split."]
    page = book.whole("back/checklist")
    assert page.select(".only-pytorch .gains") == []
    assert [words(entry) for entry in page.select(".only-jax .gains")] == [
        "Measured here: eight passes: 8.00 ms → one pass: 0.800 ms, 10.0 ×",
        "Measured here: compiled step: a step of 20.0 ms → 10.0 ms, 2.00 ×",
    ]
    assert {words(label) for label in page.article.select("label.sd-tab-label")} == {"PyTorch", "JAX"}
    assert [button["value"] for button in page.select(".framework-switch button")] == ["pytorch", "jax"]


def test_what_gained_stands_first_and_what_lost_is_no_advice(tmp_path):
    slower = [compared("eight passes", 8e-3), compared("one pass", 5e-3)]
    book = Book(tmp_path, SOURCES, MEASURED | {"predictions.json": json.dumps(slower)})
    assert [words(entry.p) for entry in entries(book, "jax")] == [
        "One: Compile.",
        "One: Fuse a and b. Reuse memory.",
        "Sharing: Split.",
    ]
    (lost,) = book.article("back/checklist").select("#lost .only-jax p")
    assert words(lost) == "One (0.667 ×)."
    assert lost.a["href"] == "../advising.html?tab=jax#in-your-own-loop-6"


def test_an_advice_that_another_gives_too_is_left_out(book):
    assert "said before" in book.article("advising").get_text()
    assert "said before" not in book.article("back/checklist").get_text()


def test_an_entry_says_whom_it_is_for(book):
    classes = [entry["class"] for entry in entries(book, "pytorch")]
    everybody = ["for-cpu", "for-gpu", "for-several"]
    assert classes == [everybody, everybody, ["for-gpu", "for-several"], ["for-several"]]
    assert book.article("back/checklist").find(id="sharing")["class"] == ["for-several"]


def test_a_name_that_no_advice_has_is_an_error(tmp_path):
    pages = SOURCES | {"back/checklist": LIST.replace("one-2\n:with-g", "one-9\n:with-g")}
    status, warnings = Book(tmp_path, pages, MEASURED).build()
    assert status == 1
    assert "the checklist names 'advising#one-9', which no advice has; known: advising#jax:one-1" in warnings


def test_a_box_has_the_same_name_wherever_its_advice_stands(book):
    page = book.article("back/checklist")
    boxes = {name: [box["data-advice"] for box in page.select(f".only-{name} input")] for name in ("jax", "pytorch")}
    assert boxes["jax"] == ["advising#one-1", "advising#jax:one-1", "sharing#sharing-1"]
    assert boxes["pytorch"] == [
        "advising#one-1",
        "advising#pytorch:one-1",
        "advising#pytorch:one-2",
        "sharing#sharing-1",
    ]
    assert page.select_one("input[data-advice]")["aria-label"] == "Done: One"


def test_the_contents_of_the_page_have_the_parts_of_the_list(book):
    page = book.whole("back/checklist")
    found = [(link["href"], words(link)) for link in page.select(".toc-tree a")]
    assert [link for link, _ in found] == ["#", "#gained", "#advising", "#sharing", "#lost"]
    assert [title for _, title in found[1:]] == [
        words(each.h2).removesuffix("#") for each in page.article.select("section section")
    ]


def test_the_contents_of_the_e_book_have_the_parts_of_the_list(book):
    folder = book.output("epub")
    assert 'href="back/checklist.xhtml#advising"' in (folder / "nav.xhtml").read_text(encoding="utf-8")
    page = (folder / "back" / "checklist.xhtml").read_text(encoding="utf-8")
    assert 'id="advising"' in page
    assert "<input" not in page  # paper keeps no ticks


def test_a_changed_advice_reaches_the_list(tmp_path):
    changing = Book(tmp_path, SOURCES | {"back/checklist": "# List\n\n```{checklist}\n```\n"}, MEASURED)
    assert len(entries(changing, "jax")) == 4
    changing.write("advising", notebook(prose(ADVICE.replace("Reuse", "Keep")), prose("Own.", "jax")))
    assert changing.build() == (0, "")
    assert [words(entry.p) for entry in entries(changing, "jax")] == [
        "One: Fuse a and b. Keep memory.",
        "Sharing: Split.",
    ]
    assert len(changing.whole("back/checklist").select(".toc-tree a")) == 3


def built_with_gain(folder, gain):
    """Return how a book builds whose one advice claims a gain that no cell of its sections, which all ran, measured."""
    everywhere = [compared("eight passes", 8e-3, framework) for framework in FRAMEWORKS]
    text = f"# Page\n\n**In your own loop**: fuse.\n% gain: {gain}\n"
    files = {"predictions.json": json.dumps(everywhere)}
    pages = {"advising": notebook(prose(text), prose("Own.", "jax")), "list": "# List\n\n```{checklist}\n```\n"}
    return Book(folder, pages, files).build()


@pytest.mark.parametrize("gain", ["eight passes → nothing", "compiled stp"])
def test_a_gain_that_no_cell_measured_is_an_error(tmp_path, gain):
    status, warnings = built_with_gain(tmp_path, gain)
    assert status == 1
    assert f"advising: no cell measured the gain '{gain}'" in warnings


def test_a_lever_that_was_tried_in_no_framework_is_no_error(tmp_path):
    assert built_with_gain(tmp_path, "deferred loss read") == (0, "")


@pytest.mark.parametrize("absent", ["abacus", "mxnet"])
def test_a_name_of_a_framework_that_is_not_built_or_has_left_the_book_is_no_error(tmp_path, absent):
    pages = SOURCES | {"back/checklist": LIST.replace("sharing\n", f"sharing advising#{absent}:one-1\n")}
    assert Book(tmp_path, pages, MEASURED).build() == (0, "")
