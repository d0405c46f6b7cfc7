"""Predictions: stated, compared, drawn, and sent to the page as data."""

import json
import math

import numpy as np
import pytest

from d2l_lab.instruments.predictions import Comparison, Prediction, predict, rest_on
from d2l_lab.instruments.timing import Measurement
from d2l_lab.machine.disturbance import Disturbance

BUSY = Disturbance(others=0.8, cores=2)


def comparison(predicted=1.0, measured=1.0, low=None, high=None, unit="s", kind="model", **more):
    return Comparison("name", kind, unit, predicted, measured, low or measured, high or measured, **more)


def test_a_comparison_shows_prediction_median_spread_and_factor_on_one_line(capsys):
    predict("waiting once", 0.0121).compare(Measurement((0.011, 0.0114, 0.0119), 1), if_missed="Look at the cache.")
    stated, line = capsys.readouterr().out.splitlines()
    assert stated == "waiting once: predicted 12.1 ms"
    for part in ("waiting once", "predicted 12.1 ms", "measured 11.4 ms (11.2–11.7)", "0.942 ×"):
        assert part in line


@pytest.mark.parametrize(("measured", "times"), [(1.7, "1.70"), (0.5, "2.00")])
@pytest.mark.parametrize("reason", ["", "Look at the cache."])
def test_a_miss_says_by_how_much_and_what_to_look_at_if_its_author_names_something(capsys, measured, times, reason):
    predict("adding", 1).compare(measured, if_missed=reason.replace(" the", "\n the"))
    said = " ".join(" ".join(capsys.readouterr().out.splitlines()[2:]).split())
    assert said == f"off by {times} ×" + (f". {reason}" if reason else "")


def test_what_is_said_of_a_miss_breaks_between_words_where_jupyterlab_would_break_within_them(capsys):
    predict("adding", 1).compare(2, if_missed="Look at the cache, and at what else the machine had to do. " * 3)
    said = capsys.readouterr().out.splitlines()[2:]
    assert len(said) > 2
    assert all(line.startswith("  ") and len(line) <= 72 for line in said)
    assert " ".join(" ".join(said).split()).count("what else the machine had to do.") == 3


@pytest.mark.parametrize("cells", [1, 2])
def test_a_notebook_takes_a_prediction_away_once_the_same_cell_compares_it(monkeypatch, cells):
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell.instance()
    shown = {}

    def publish(data, metadata=None, *, transient=None, **_):
        shown[(transient or {}).get("display_id", len(shown))] = data["text/plain"]

    try:
        monkeypatch.setattr(shell, "kernel", True, raising=False)
        monkeypatch.setattr(shell.display_pub, "publish", publish)
        predict("adding", 1)
        predict("compiled step", 1, kind="saving")
        promised = Comparison("compiled step", "saving", "s", 1.0, 1.0, 1.0, 1.0)
        shell.execution_count += cells - 1
        promised.show()
    finally:
        shell.clear_instance()
    kept = "" if cells == 1 else "compiled step: promised to save 1.00 s"
    assert list(shown.values()) == ["adding: predicted 1.00 s", kept, str(promised)]


@pytest.mark.parametrize(("measured", "low"), [(2.5, 0.5), (-1.0, -4.0)])
def test_a_miss_that_the_spread_explains_blames_nothing_else(measured, low):
    found = comparison(1.0, measured, low, 4.0, if_missed="Look at the cache.")
    assert found.note().endswith("within this run's own spread")


@pytest.mark.parametrize(("seconds", "miss"), [((1.1, 1.1), ""), ((1.0, 2.0, 4.0), "off by 2.00 ×; ")])
def test_what_disturbed_a_measurement_is_said_before_all_else_and_sent_as_data(capsys, seconds, miss):
    measured = Measurement(seconds, 1, BUSY)
    predict("adding", 1).compare(measured, if_missed="Look at the cache.")
    said = " ".join(" ".join(capsys.readouterr().out.splitlines()[2:]).split())
    assert said == f"{miss}disturbed: other programs took 0.8 of 2 cores"
    (data, _) = comparison(others=0.8, cores=2, pace=0.6)._repr_mimebundle_().values()
    assert (data["others"], data["cores"], data["pace"]) == (0.8, 2, 0.6)


SLOW = "disturbed: the machine ran at 0.7 of its pace"


@pytest.mark.parametrize(
    ("kind", "measured", "note"),
    [
        ("model", 2.0, f"off by 2.00 ×; {SLOW}"),
        ("model", 8.0, f"off by 8.00 ×; {SLOW}. Look at the cache."),
        ("model", 0.1, f"off by 10.0 ×; {SLOW}. Look at the cache."),
        ("saving", 8.0, f"off by 8.00 ×; {SLOW}"),
        ("saving", -1.0, f"no such effect; {SLOW}"),
    ],
)
def test_a_disturbance_hides_the_reason_of_a_miss_only_if_it_can_be_as_large(kind, measured, note):
    assert comparison(1.0, measured, if_missed="Look at the cache.", pace=0.7, kind=kind).note() == note


def test_a_spread_covers_what_a_disturbance_cannot():
    found = comparison(1.0, 8.0, 0.5, 9.0, if_missed="Look at the cache.", pace=0.7)
    assert found.note() == f"off by 8.00 ×; {SLOW}, but the prediction is within this run's own spread"


def test_a_disturbed_prediction_may_still_explain_a_gap():
    assert comparison(pace=0.7, closes="counted", explains=True).note() == f"explains the gap of “counted”; {SLOW}"


def test_a_prediction_is_disturbed_with_its_terms_those_before_the_last_comparison_apart(capsys):
    busy = "  disturbed: other programs took 0.8 of 2 cores"
    term = Measurement((1.0,), 1, BUSY)
    predict("adding", term.median).compare(1.1)
    assert capsys.readouterr().out.splitlines()[2:] == [busy]
    predict("adding again", 1).compare(1.1)
    assert len(capsys.readouterr().out.splitlines()) == 2


@pytest.mark.parametrize(("kind", "said"), [("estimate", 1), ("model", 0)])
def test_an_estimate_is_disturbed_with_the_figures_of_today_that_it_rests_on(capsys, kind, said):
    rest_on(BUSY)
    predict("adding", 1, kind=kind).compare(1.1)
    assert len(capsys.readouterr().out.splitlines()) == 2 + said


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [(9, 1.1, ["  explains the gap of “counted”"]), (1, 1.1, []), (9, 2, ["  off by 2.00 ×"])],
)
def test_a_prediction_explains_the_gap_of_one_that_missed_if_it_does_not_miss_itself(capsys, first, second, said):
    counted = predict("counted", 1, kind="estimate")
    counted.compare(first)
    capsys.readouterr()
    predict("with pages", 1, closes=counted).compare(second)
    assert capsys.readouterr().out.splitlines()[2:] == said


def test_a_prediction_may_close_the_gap_of_a_lever(capsys):
    Comparison("compiled step", "saving", "s", 1.0, -1.0, -1.0, -1.0).show()
    predict("with its launches", 1, closes="compiled step").compare(1)
    assert capsys.readouterr().out.splitlines()[-1] == "  explains the gap of “compiled step”"


def test_a_saving_may_come_out_as_none(capsys):
    predict("compiled step", 0.0048, kind="saving").compare(-0.001)
    stated, compared, *said = capsys.readouterr().out.splitlines()
    assert stated == "compiled step: promised to save 4.80 ms"
    assert "promised  4.80 ms" in compared
    assert "obtained −1.00 ms" in compared
    assert compared.split()[-1][0] == "◀"
    assert said == ["  no such effect"]


def test_quartiles_below_0_have_a_word_between_them_and_minus_signs():
    saving = Comparison("name", "saving", "s", 1e-3, -5.39e-4, -3.29e-3, -1.99e-4)
    assert "obtained −0.539 ms (−3.29 to −0.199) " in str(saving)
    assert "−0.539 ×  ◀" in str(saving)
    assert "-" not in str(saving)
    assert "(0.500–4.00)" in str(comparison(1.0, 1.0, 0.5, 4.0))


def test_prediction_and_measurement_have_one_unit():
    assert "predicted 0.970 ms   measured 1.20 ms (0.900–1.30) " in str(comparison(9.7e-4, 1.2e-3, 9e-4, 1.3e-3))
    assert "predicted 0.900 GB   measured 1.20 GB " in str(comparison(9e8, 1.2e9, unit="B"))


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (71.3e6, "B", "71.3 MB"),
        (3.07e10, "B/s", "30.7 GB/s"),
        (2.65e12, "flop/s", "2.65 Tflop/s"),
        (78_128, "", "78,128"),
        (8, "×", "8 ×"),
        (5.6e-7, "s", "560 ns"),
    ],
)
def test_a_figure_is_printed_in_the_unit_in_which_it_reads_best(value, unit, text):
    assert str(Prediction("figure", value, unit)) == f"figure: predicted {text}"


@pytest.mark.parametrize(
    ("factor", "place", "sign"), [(1, 8, "●"), (4, 16, "●"), (0.25, 0, "●"), (9, 16, "▶"), (0.1, 0, "◀")]
)
def test_the_drawing_is_logarithmic_and_an_arrow_leaves_it(factor, place, sign):
    drawn = str(comparison(1.0, factor)).splitlines()[0].split()[-1]
    assert len(drawn) == 17
    assert drawn[place] == sign
    assert drawn[8] == ("●" if factor == 1 else "┃")
    assert "━●━" in str(comparison(1.0, 2.0, 1.75, 2.3))


@pytest.mark.parametrize(("guess", "times"), [(0.006, "2.00"), (0.024, "2.00"), (np.float32(0.012), "1.00")])
def test_a_last_line_says_by_how_much_a_readers_own_guess_is_off(capsys, guess, times):
    predict("waiting once", 0.0121).compare(0.012, guess=guess)
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"your guess, {1e3 * guess:.3g}.0 ms, is off by {times} ×".replace("6.0 ms", "6.00 ms")


def test_a_guess_of_a_saving_that_is_none_is_off_without_bounds(capsys):
    predict("a lever", 1e-3, kind="saving").compare(-1e-3, guess=1e-3)
    assert capsys.readouterr().out.splitlines()[-1] == "your guess, 1.00 ms, is off by ∞ ×"


@pytest.mark.parametrize(("guess", "error"), [("12 ms", TypeError), (0, ValueError), (math.nan, ValueError)])
def test_what_is_no_number_above_zero_is_no_guess_and_nothing_is_shown(capsys, guess, error):
    prediction = predict("name", 1)
    capsys.readouterr()
    with pytest.raises(error, match=r"^a guess is a number.*, not .+$"):
        prediction.compare(2, guess=guess)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("value", [0, -1, math.inf, math.nan])
def test_what_is_not_above_zero_is_no_prediction_and_no_measurement(value):
    with pytest.raises(ValueError, match="above 0"):
        predict("name", value)
    with pytest.raises(ValueError, match="above 0"):
        predict("name", 1).compare(value)


def test_unknown_units_kinds_and_values_are_refused():
    with pytest.raises(ValueError, match="unknown unit"):
        predict("name", 1, "ms")
    with pytest.raises(ValueError, match="'estimate' or 'model' or 'saving' or 'count', not 'guess'"):
        predict("name", 1, kind="guess")
    with pytest.raises(TypeError, match="is a number"):
        predict("name", "1")


@pytest.mark.parametrize("factor", [0.1, 1.0, 9.0, -1.0])
def test_figures_of_numpy_are_shown_and_sent_to_the_page_like_any_other(factor):
    figures = np.array([1.0, factor, factor / 2, 2 * factor])
    compared, plain = (Comparison("name", "saving", "s", *numbers) for numbers in (figures, figures.tolist()))
    assert str(compared) == str(plain)
    assert json.dumps(compared._repr_mimebundle_()) == json.dumps(plain._repr_mimebundle_())
