"""Which predictions are stops, and what of a cell's output would tell the figures that a reader is to guess."""

import pytest
from tiny_book import code, shown

from book.cells import cell_problems, expand
from book.outputs import PREDICTION
from book.record_html import comparisons
from book.stops import marked, tells
from d2l_lab.instruments.predictions import Comparison

PREDICTS = 'd2l.predict("eight passes", 8 * size / b)\nd2l.predict(f"{way}, with pauses", ends)\n'
SAVES = 'd2l.predict("a lever", 1e-3, kind="saving")'


def compared(name, predicted=5e-3, measured=6e-3, **more):
    return shown(Comparison(name, "estimate", "s", predicted, measured, measured, measured, **more))


def keys(outputs):
    return [output["data"][PREDICTION].get("guess") for output in outputs]


@pytest.mark.parametrize("name", ["eight passes", "*, with pauses", "whole, with pauses"])
def test_a_stop_is_a_prediction_that_its_cell_states(name):
    assert list(cell_problems(code(PREDICTS, guess=name))) == []


@pytest.mark.parametrize(("source", "name"), [(PREDICTS, "one pass"), (SAVES, "a lever"), ("%%bash\nls", "one pass")])
def test_what_a_cell_does_not_predict_or_only_as_a_saving_is_no_stop(source, name):
    message = f"guess names {name!r}, which this cell does not predict, or as a saving"
    assert list(cell_problems(code(source, guess=["eight passes", name])))[-1] == message


def test_a_cell_is_the_same_with_and_without_a_stop():
    plain, stop = (expand({"cells": [code(PREDICTS, "jax", **more)]})[0] for more in ({}, {"guess": "eight passes"}))
    assert (plain.id, plain.tags, plain.stops) == (stop.id, stop.tags, ())
    assert stop.stops == ("eight passes",)


def test_the_first_prediction_of_a_name_is_the_stop():
    outputs = [compared("one pass"), compared("eight passes"), compared("eight passes")]
    first, second, third = keys(marked(outputs, ["eight *"], "hybridize", "c1", "jax"))
    assert (first, third) == (None, None)
    assert second.startswith("hybridize/c1/jax/b")
    assert keys(outputs) == [None] * 3


def test_what_was_measured_anew_is_another_stop():
    runs = [marked([compared("eight passes", measured=each)], ["eight passes"], "hybridize") for each in (5e-3, 6e-3)]
    assert len({*map(str, map(keys, runs))}) == 2


@pytest.mark.parametrize("more", [{"measured": 9e-3}, {"measured": 3e-3}, {"others": 0.8, "cores": 2}, {"pace": 0.5}])
def test_what_missed_or_was_disturbed_is_no_stop(more):
    assert keys(marked([compared("eight passes", **more)], ["eight passes"])) == [None]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("one pass 36.1 ms", True),
        ("1,361 µs, then 36,075 µs", True),
        ("36 ms as a sum", True),
        ("p = 20.0 ms, c = 11.2 ms, on 3 of 4 cores", False),
        ("262,152 new pages, 0.96 µs a page", False),
    ],
)
def test_a_text_tells_a_figure_in_whatever_unit(text, found):
    assert tells(text, {"predicted": 0.0348, "measured": 0.0360756}) is found


def test_a_row_says_what_a_script_needs_only_where_it_is_a_stop():
    (stop,) = marked([compared("eight passes")], ["eight passes"], "hybridize", "c1", "jax")
    rows = comparisons([stop["data"][PREDICTION], compared("one pass")["data"][PREDICTION]])
    assert rows.count("data-guess=") == rows.count('class="stop"') == 1
    assert 'data-unit="s" data-predicted="0.005" data-measured="0.006"' in rows
