"""What a page says about itself: reading time, notebooks, machine."""

import json

import pytest
from tiny_book import RUN, code, notebook, outline, prose, said, words

from book import FRAMEWORKS

CELLS = (prose("# Page"), prose("Torch.", "pytorch"), prose("Jax.", "jax"), code("work()", "jax"))
LATER = RUN | {"date": "2026-11-21T10:00:00", "versions": {"torch": "2.13.0"}, "seconds": 9.6}


def long(common):
    """Return a page of so many words for all, and 400 words and 20 lines of code for each framework.

    What is a click away and what a cell printed are read later.
    """
    own = [cell for name in FRAMEWORKS for cell in (prose("word " * 400, name), code("a + a\n" * 20, name))]
    later = [code("a\n" * 900, tag) for tag in ("solution", "exercise", "drawing", "claims")]
    later.append(prose(f":::{{dropdown}} Answer\n{'word ' * 900}\n:::"))
    return notebook(prose("# Page\n\n" + "word " * common), *own, *later, code("1", outputs=[said("word " * 900)]))


PAGES = {
    "ran-both": notebook(*CELLS, pytorch=LATER, jax=RUN),
    "ran-on-one-day": notebook(*CELLS, pytorch=RUN, jax=RUN),
    "ran-one": notebook(*CELLS, jax=RUN),
    "ran-none": notebook(*CELLS),
    "no-framework": notebook(prose("# Page\n\nText.")),
    "ran-beside-others": notebook(*CELLS, pytorch=LATER | {"busy": 0.45}, jax=RUN | {"busy": 0.02}),
    "long-350": long(350),
    "long-1": long(1),
    "long-chinese": notebook(*CELLS, prose("字" * 1100)),
}


@pytest.mark.parametrize("page", ["ran-both", "ran-on-one-day", "ran-one", "ran-none", "no-framework"])
def test_a_page_tells_only_of_the_frameworks_that_ran(book, outlines, page):
    assert outline(book.article(page)) == outlines[page]


def test_the_head_leads_to_the_notebook_of_each_framework(book):
    links = [link["href"] for link in book.article("ran-both").select(".page-facts a[download]")]
    assert [link.rpartition("/")[2] for link in links] == ["ran-both.ipynb"] * 2
    assert [json.loads((book.output() / link).read_text()) for link in links] == ["pytorch", "jax"]
    switch = book.whole("ran-none").select(".framework-switch button")
    assert [button["value"] for button in switch] == ["pytorch", "jax"]


def test_the_foot_says_which_run_was_disturbed(book):
    first, second = [words(item) for item in book.article("ran-beside-others").select(".colophon li")]
    assert "took 10 s while other programs kept 45% of the processors busy, so its times are rough." in first
    assert second.endswith("took 12 s.")


@pytest.mark.parametrize(("common", "minutes"), [(350, 5), (1, 4), ("chinese", 3)])
def test_reading_time_counts_what_a_reader_of_one_framework_sees(book, common, minutes):
    assert words(book.article(f"long-{common}").select_one(".page-facts")) == f"{minutes} min read"
