"""Records as HTML: units and signs of the figures in a table, and marks beyond its scale."""

import json
import re

import pytest
from editions import speaking

from book import ROOT
from book.layout import Edition
from book.record_html import HTML, change, comparisons, mark, scale, total_figures
from book.translations import CHINESE
from d2l_lab.instruments.claims import Claim
from d2l_lab.instruments.levers import Row, RunningTotal, Tried
from d2l_lab.instruments.pairs import Verdict
from d2l_lab.instruments.predictions import MIME, Comparison
from d2l_lab.instruments.timing import Measurement

STEP = Measurement((0.02, 0.02, 0.02), 1)
ROWS = (
    Row("as written", STEP, losses=(1.0, 1.0)),
    Row("bfloat16", STEP, promised=0.01, above=0.02, verdict=Verdict.NOISE, losses=(1.5, 1.0)),
)
WRITTEN = {  # what shows itself in a notebook, and some words that it has on a page
    Claim("It is fast.", True, "3", above="2"): ["It is fast. ", "(3; claimed above 2)"],
    Comparison("a step", "model", "s", 1.0, 2.0, 1.9, 2.1, "See below."): [
        "a step",
        "2.00 s (1.90–2.10)",
        "See below.",
    ],
    RunningTotal(ROWS, 6, (8.5, None)): ["bfloat16", "10.0 ms", "within the noise: left out", "1.5", "1.0"],
    Tried(ROWS, 64, "tokens"): ["bfloat16", "10.0 ms", "within the noise: left out", "tokens/s", "3,200"],
}


def record(predicted, measured, low=None, high=None, kind="model", unit="s"):
    spread = (measured if low is None else low, measured if high is None else high)
    return Comparison("name", kind, unit, predicted, measured, *spread)._repr_mimebundle_()[MIME]


def cells(html):
    """Return the texts of a table's cells but the first and the last of each row, which are a name and a drawing."""
    return [re.findall("<td[^>]*>([^<]*)</td>", row) for row in re.findall("<tr>(.*?)</tr>", html)[1:]]


@pytest.mark.parametrize(("shown", "words"), WRITTEN.items(), ids=lambda item: type(item).__name__)
def test_what_the_lab_writes_is_what_pages_read(shown, words):
    content = json.loads(json.dumps(shown._repr_mimebundle_()))
    ((mime, found),) = [(mime, found) for mime, found in content.items() if mime != "text/plain"]
    text = re.sub("<.*?>", "", HTML[mime]([found]))
    assert [part for part in words if part not in text] == []


def test_figures_of_a_kind_have_one_unit_in_a_table():
    found = cells(comparisons([record(5.6e-4, 9e-4), record(0.043, 0.05), record(4e6, 5e9, unit="B")]))
    assert found == [
        ["0.560 ms", "0.900 ms", "1.61 ×"],
        ["43.0 ms", "50.0 ms", "1.16 ×"],
        ["4.00 MB", "5000 MB", "1250 ×"],
    ]


def test_what_lies_too_far_apart_for_one_unit_has_its_own_in_each_row():
    assert cells(comparisons([record(2e-9, 3e-9), record(2.0, 3.0)])) == [
        ["2.00 ns", "3.00 ns", "1.50 ×"],
        ["2.00 s", "3.00 s", "1.50 ×"],
    ]


@pytest.mark.parametrize(("language", "to"), [(None, "to"), (CHINESE, "至")])
def test_figures_below_0_have_a_word_between_them(language, to):
    with speaking(Edition(ROOT, language)):
        found = comparisons([record(1e-3, -5.39e-4, -3.29e-3, -1.99e-4, kind="saving")])
    assert cells(found) == [["1.00 ms", f"−0.539 ms (−3.29 {to} −0.199)", "−0.539 ×"]]
    assert not re.search(r"-\d", re.sub("<svg.*?</svg>", "", found))


@pytest.mark.parametrize("kind", ["model", "saving", "estimate"])
@pytest.mark.parametrize(("factor", "end"), [(8.97, 1), (-0.54, -1), (0.1, -1)])
def test_an_arrow_in_place_of_its_mark_shows_what_lies_beyond_the_scale(kind, factor, end):
    shown = Comparison("name", kind, "s", 1.0, factor, factor, factor)
    arrow = mark(shown, 60 * end, 8, end)
    assert arrow in scale(shown)
    assert mark(shown, 60 * end, 8) not in scale(shown)
    start, across = map(float, re.search(r"M(-?[\d.]+) [\d.]+l(-?\d+)", arrow).groups())
    assert (start + across) * end > 60  # it points outwards, past the end of the axis


@pytest.mark.parametrize(("factor", "end"), [(4, 1), (0.25, -1), (1, 0)])
def test_what_lies_on_the_scale_has_its_mark(factor, end):
    shown = Comparison("name", "model", "s", 1.0, factor, factor, factor)
    assert mark(shown, 60 * end, 8) in scale(shown)


def test_the_rows_of_a_running_total_have_one_unit():
    times = {"the loop as written": 0.043, "compiled step": 9.8e-4, "bfloat16": 1.4e-3}
    about = {"promised": 5e-4, "learns": True, "kept": True, "verdict": "gains"}
    found = [
        words for _, words in total_figures([{"lever": lever, "seconds": at} | about for lever, at in times.items()])
    ]
    assert [words[:3] for words in found] == [
        ("43.0 ms", "0.500 ms", "–"),
        ("0.980 ms", "0.500 ms", "42.0 ms"),
        ("1.40 ms", "0.500 ms", "−0.420 ms"),
    ]
    assert change(0.043, 9.8e-4) == "43.0 ms → 0.980 ms"


def test_words_of_records_are_no_markup():
    found = comparisons([record(1.0, 9.0) | {"name": "a < b & c", "if_missed": "See <pre>."}])
    assert "a &lt; b &amp; c" in found
    assert "See &lt;pre&gt;." in found
