"""Predictions on the pages: beside their measurements in a cell, and all of them in one picture."""

import json
import re
from dataclasses import replace

import pytest
from tiny_book import code, notebook, outline, prose, shown, words

from book.model_errors import missed_while_disturbed, summary_line
from book.record_html import scale
from d2l_lab.instruments.claims import Claim
from d2l_lab.instruments.predictions import Comparison

EIGHT = Comparison("eight passes", "model", "s", 5e-3, 6e-3, 5.5e-3, 6.5e-3)
GUESS = Comparison("a guess", "estimate", "s", 1e-3, 9e-3, 9e-3, 9e-3)
BYTES = Comparison("bytes kept", "model", "B", 4000, 4000, 4000, 4000)
SLOW = Comparison('a "loop"', "model", "s", 1e-3, 5e-4, 5e-4, 5e-4)
CAUSE = Comparison("its cause", "model", "s", 9e-3, 9e-3, 9e-3, 9e-3, closes="a guess", explains=True)
NONE = Comparison("a lever", "saving", "s", 1e-3, -1e-3, -1e-3, -1e-3)
BUSY = Comparison("a busy step", "model", "s", 1e-3, 4e-3, 4e-3, 4e-3, others=0.8, cores=2)
COPIES = Comparison("copies", "count", "", 4, 5, 5, 5)


KEY = "predicting/c1/jax/b01234567"  # of a guess


def record(framework, section, comparison):
    about = {"section": section, "title": section.title(), "framework": framework, "cell": "c1"}
    return about | comparison._repr_mimebundle_()["application/vnd.d2l.prediction+json"]


OUTPUTS = [shown(EIGHT), shown(GUESS), "done\n", shown(BYTES)]
PAGES = {
    "back/models": "# Models\n\n```{models}\n```\n",
    "small": "# Small\n\n```{models}\n:small:\n```\n",
    "predicting": notebook(prose("# Predicting"), code("compare()", "jax", outputs=OUTPUTS)),
    "passing": notebook(prose("# Passing")),
}
RECORDS = [
    record("jax", "predicting", EIGHT) | {"guess": KEY},
    record("jax", "predicting", GUESS),
    record("jax", "passing", BYTES),
    record("jax", "passing", SLOW),
    record("pytorch", "passing", SLOW),
    *[record("mxnet", "passing", each) for each in (GUESS, CAUSE, NONE, BUSY, COPIES)],
]
MEASURED = {"section": "passing", "title": "Passing", "framework": "jax", "cell": "c1", "gpu": "NVIDIA H200"}
MEASURED |= {"predictions": [SLOW._repr_mimebundle_()["application/vnd.d2l.prediction+json"]]}
FILES = {"predictions.json": json.dumps(RECORDS), "elsewhere.json": json.dumps([MEASURED])}


def test_comparisons_that_follow_each_other_are_one_table(book, outlines):
    page = book.article("predicting")
    assert outline(page) == outlines["predicting"]
    assert page.select_one(".cell")["id"] == "c1"


def test_the_drawing_of_a_far_miss_stays_within_its_scale():
    far = Comparison("far", "estimate", "s", 1, 100, 90, 110)
    assert 'role="img" aria-label="measured is 100 times what was predicted"' in scale(far)
    left, _, width, _ = map(float, re.search(r'viewBox="([^"]+)"', scale(far))[1].split())
    right = max(map(float, re.findall(r"[MH](-?[\d.]+)", scale(far)))) + 5  # half a diamond
    assert right <= left + width


def test_each_framework_has_its_own_picture(book):
    page = book.whole("back/models")
    assert [button["value"] for button in page.select(".framework-switch button")] == ["pytorch", "jax", "mxnet"]
    first = "JAX: 3 models, median 1.20 ×, 67 % within 1.5 ×, worst 2.00 × (passing: a “loop”); 1 estimate,"
    assert first in words(page.select_one(".only-jax"))
    assert [len(picture.select("a")) for picture in page.select(".only-jax svg.scatter")] == [3, 1, 1]
    names = ['a "loop" Passing', "eight passes Predicting", "bytes kept Passing"]  # and no estimate
    assert [words(name) for name in page.select("#farthest .only-jax tbody th")] == names


def test_the_contents_at_the_side_have_the_parts_of_the_page(book):
    page = book.whole("back/models")
    contents = {link["href"]: words(link) for link in page.select(".toc-tree a")}
    assert list(contents) == ["#", "#times", "#factors", "#farthest", "#all", "#gpu"]
    del contents["#"]  # the title of the page
    assert {f"#{part['id']}": words(part.h2).removesuffix("#") for part in page.select("section section")} == contents


def test_a_prediction_that_may_be_guessed_first_has_its_key_and_its_framework_a_place_for_the_score(book):
    page = book.whole("back/models")
    assert [(mark["data-guess"], mark["data-measured"]) for mark in page.select(".scatter a[data-guess]")] == [
        (KEY, "0.006")
    ]
    assert [place["data-framework"] for place in page.select(".guess-score p")] == ["pytorch", "jax", "mxnet"]
    assert [line["class"] for line in page.select(".guess-offer p")] == [["ask"], ["on"], ["off"]]
    assert len(page.select("script[src*='guess.js']")) == 1


def lines(*found):
    """Return the parts of the line about these comparisons of one section."""
    return summary_line([record("jax", "passing", each) for each in found]).split("; ")


def test_estimates_alone_are_no_models():
    assert lines(GUESS) == ["no models", "1 estimate, median 9.00 ×, 0 % within 1.5 ×, 0 of 1 gaps closed"]


@pytest.mark.parametrize(("closer", "closed"), [(CAUSE, 1), (replace(CAUSE, measured=1.0), 0), (EIGHT, 0)])
def test_a_gap_is_closed_by_a_prediction_that_names_it_and_does_not_miss(closer, closed):
    assert lines(GUESS, closer)[1].endswith(f", {closed} of 1 gaps closed")
    assert lines(NONE, replace(closer, closes=closer.closes and "a lever"))[1].endswith(f", {closed} of 1 gaps closed")


def test_a_gap_is_closed_in_its_own_section_and_framework():
    for section, framework in (("predicting", "jax"), ("passing", "mxnet")):
        found = [record("jax", "passing", GUESS), record(framework, section, CAUSE)]
        assert summary_line(found).endswith("0 of 1 gaps closed")


def test_a_saving_that_is_none_has_no_finite_factor():
    assert lines(NONE)[1].startswith("1 saving, median ∞ ×, 0 % within 1.5 ×")


def test_what_was_disturbed_and_counts_stand_apart():
    busy_guess = replace(GUESS, pace=0.6)
    exact = replace(COPIES, measured=4)
    assert lines(EIGHT, BUSY, busy_guess, COPIES, exact) == [
        "1 model, median 1.20 ×, 100 % within 1.5 ×, worst 1.20 × (passing: eight passes)",
        "2 disturbed",
        "counts: 1 of 2 exact",
    ]


def test_only_models_and_timed_claims_that_missed_while_disturbed_make_a_notebook_run_again():
    missed = Claim("slow", False, "1", below="1", timed=True, others=0.8, cores=2)
    spoilt = [replace(NONE, pace=0.1), replace(BUSY, others=0.1), replace(BUSY, measured=1e-3), GUESS]
    spoilt += [replace(missed, held=True), replace(missed, timed=False), replace(missed, others=0.1)]
    for found, names in ((spoilt, []), ([BUSY, missed], ["a busy step", "slow"])):
        assert missed_while_disturbed(notebook(code("1", outputs=[shown(each) for each in found]))) == names


def test_a_row_names_what_disturbed_it_or_closes_its_gap(book):
    rows = book.article("back/models").select("#all .only-mxnet tbody tr")
    notes = {row.a.get_text(): [words(note) for note in row.select(".note")] for row in rows}
    assert notes == {
        "a guess": ["gap closed by “its cause”"],
        "its cause": [],
        "a lever": ["gap open"],
        "a busy step": ["disturbed: other programs took 0.8 of 2 cores"],
        "copies": [],
    }
    pale = book.article("back/models").select('#times .only-mxnet g[opacity="0.45"]')
    assert [mark.parent["aria-label"].partition(": ")[0] for mark in pale] == ["a busy step (passing), disturbed"]


def test_every_mark_leads_to_its_cell(book):
    page = book.article("back/models")
    page.select_one("#gpu").extract()
    marks = [(mark["href"], mark["aria-label"].partition(":")[0]) for mark in page.select(".only-jax svg a")]
    assert marks == [
        ("../predicting.html?tab=jax#c1", "eight passes (predicting)"),
        ("../predicting.html?tab=jax#c1", "a guess (predicting), an estimate"),
        ("../passing.html?tab=jax#c1", 'a "loop" (passing)'),
        ("../passing.html?tab=jax#c1", "bytes kept (passing)"),
    ]
    assert all(mark["aria-label"] == mark.title.get_text() for mark in page.select(".only-jax svg a"))
    named = {(link["href"], link.get_text()) for link in page.select(".only-jax table a") if "#c1" in link["href"]}
    assert named == {(address, label.partition(" (")[0]) for address, label in marks}
    panel = book.article("small").select_one(".only-jax")
    assert [len(picture.select("a")) for picture in panel.select("svg")] == [3]
    assert panel.svg.a["href"] == "predicting.html?tab=jax#c1"
    assert not panel.select("table")


def test_what_a_gpu_measured_has_a_part_of_its_own(book):
    part = book.article("back/models").select_one("#gpu")
    assert [bool(part.select(f".only-{name} svg")) for name in ("pytorch", "jax", "mxnet")] == [False, True, False]
    assert "JAX: 1 model, median 2.00 ×, 0 % within 1.5 ×" in words(part)
    assert words(part.select_one("summary")) == "All predictions on an NVIDIA H200, section by section"
    assert part.select_one("svg a")["href"] == "../passing.html?tab=jax#c1"
