"""Paths through the book: what they read, in how many minutes, and what they use of what they skip."""

import pytest

from book.cells import Entry
from book.paths import Row, after, borrowed, minutes, names, paths_in, words

LANDING = """\
# Book

## Two Hours on a Laptop

| section | read | minutes |
|---|---|---:|
| {doc}`adding` | *One*, *Two* | 7 |
| {doc}`taking` | *Far* | 15 |

## Sections

| {doc}`other` | *No path* | 3 |
"""


def entry(kind, source, *tags):
    return Entry(source, "", kind, source, "jax", tags, None)


CELLS = [
    entry("markdown", "# Adding\n\nOpening.\n\n## One\n\nText."),
    entry("code", "def double(x):\n    return factor * x"),
    entry("markdown", "Around.\n\n## Around\n\nOf Two.\n\n### Two"),
    entry("code", "print(double(offset))"),
    entry("markdown", "### Three\n\nSkipped."),
    entry("code", "offset = 3", "drawing"),
]


def test_a_path_is_the_table_below_its_heading():
    paths = paths_in(LANDING)
    assert paths == {"laptop": [Row("adding", ["One", "Two"], 7), Row("taking", ["Far"], 15)]}
    assert after(paths["laptop"], "adding", "One") == ("adding", "Two")
    assert after(paths["laptop"], "adding", "Two") == ("taking", "Far")
    assert after(paths["laptop"], "taking", "Far") is None


def test_the_names_of_a_cell_are_those_that_other_cells_see():
    defined, used = names(
        "import numpy as np\ntotal = sum(np.ones(n) for i in range(3))\ndef f(x):\n    return x + seed"
    )
    assert defined == {"np", "total", "f"}
    assert used == {"sum", "range", "n", "seed"}
    assert names("%pip install nothing") == (set(), set())


def test_a_path_borrows_the_names_that_it_uses_from_what_it_skips():
    assert borrowed(CELLS, ["Two"]) == {"Two": {"One": {"double"}}}
    assert borrowed(CELLS, ["One", "Two"]) == {}
    later = [CELLS[4], CELLS[5], CELLS[2], CELLS[3]]
    assert borrowed([CELLS[0], *later], ["Two"]) == {"Two": {"Three": {"offset"}}}


def test_minutes_count_words_lines_of_code_and_of_output_in_a_path_and_its_openings():
    output = {"output_type": "stream", "text": "a\n\nb\n"}
    picture = {"output_type": "display_data", "data": {"image/svg+xml": "", "text/plain": "<figure>"}}
    own = minutes(CELLS, ["Two"], {CELLS[3].id: [output, picture], CELLS[5].id: [output]})
    assert own == pytest.approx((1 + 2) / 150 + 1 / 20 + 12 / 15)  # Opening; Of Two; print; its output


def test_words_are_those_that_a_reader_sees():
    text = "(label)=\nThree *little* words, $x$.\n% gain: a\n\n:::{dropdown} Fold\nHidden.\n:::\n\n$$ a + b $$\n"
    assert words(text) == 4
