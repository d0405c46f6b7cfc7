"""Claims: what holds, what does not, and what is no claim at all."""

from fractions import Fraction

import numpy as np
import pytest

from d2l_utils.claims import ClaimError, claim


@pytest.fixture(autouse=True)
def _lenient(monkeypatch):
    monkeypatch.delenv("D2L_STRICT_CLAIMS", raising=False)


@pytest.fixture
def printed(capsys):
    return lambda: capsys.readouterr().out


@pytest.mark.parametrize("truth", [True, np.bool_(True), np.array(True), lambda: True, lambda: np.bool_(True)])
def test_a_truth_value_holds(truth, printed):
    assert claim("the sun rises", truth) is None
    assert printed() == "✓ the sun rises\n"


@pytest.mark.parametrize(
    ("value", "bounds", "evidence"),
    [
        (0.00412, {"below": 0.5}, "0.00412, below 0.5"),
        (3, {"above": 2}, "3, above 2"),
        (123456, {"above": 2}, "123456, above 2"),
        (np.float32(0.25), {"above": 0.1, "below": 0.5}, "0.25, between 0.1 and 0.5"),
        (np.array(0.25), {"below": 1}, "0.25, below 1"),
        (Fraction(1, 4), {"below": np.float64(0.5)}, "0.25, below 0.5"),
        (0.49996, {"below": 0.5}, "0.49996, below 0.5"),
        (lambda: 7.0, {"above": 1}, "7, above 1"),
    ],
)
def test_a_number_within_its_bounds_holds(value, bounds, evidence, printed):
    claim("it is small", value, **bounds)
    assert printed() == f"✓ it is small ({evidence})\n"


@pytest.mark.parametrize(
    ("value", "bounds", "evidence"),
    [
        (False, {}, ""),
        (0.7, {"below": 0.5}, " (0.7; not below 0.5)"),
        (0.5, {"below": 0.5}, " (0.5; not below 0.5)"),
        (2, {"above": 2}, " (2; not above 2)"),
        (float("nan"), {"below": 1}, " (nan; not below 1)"),
        (float("nan"), {"above": 1}, " (nan; not above 1)"),
        (9.0, {"above": 1, "below": 2}, " (9; not between 1 and 2)"),
    ],
)
def test_a_failing_claim_prints_a_cross_the_figures_and_what_it_means(value, bounds, evidence, printed):
    claim("it is small", value, **bounds, otherwise="This machine is busy.")
    assert printed() == f"✗ it is small{evidence}\n  This machine is busy.\n"


def test_a_function_is_measured_again_until_the_claim_holds(printed):
    values = iter([0.9, 0.8, 0.1, 0.2])
    claim("it is fast", lambda: next(values), below=0.5)
    assert printed() == "✓ it is fast (0.9, 0.8, 0.1, below 0.5; at attempt 3)\n"
    assert next(values) == 0.2


def test_a_function_that_never_holds_is_measured_as_often_as_told_and_prints_every_figure(printed):
    values = iter([0.9, 0.8, 0.7])
    claim("it is fast", lambda: next(values), below=0.5, attempts=2)
    assert printed() == "✗ it is fast (0.9, 0.8; not below 0.5; in 2 attempts)\n"
    claim("it rains", lambda: False)
    assert printed() == "✗ it rains (in 3 attempts)\n"


def test_strict_mode_raises_the_sentence_with_its_figures_and_prints_nothing(monkeypatch, printed):
    monkeypatch.setenv("D2L_STRICT_CLAIMS", "1")
    with pytest.raises(ClaimError) as caught:
        claim("it is small", 0.7, below=0.5, otherwise="Busy.")
    assert str(caught.value) == "it is small (0.7; not below 0.5)\n  Busy."
    assert isinstance(caught.value, AssertionError)
    claim("it is small", 0.2, below=0.5)
    assert printed() == "✓ it is small (0.2, below 0.5)\n"


def test_a_claim_that_fails_for_a_reason_counts_as_not_checked_in_strict_mode_as_well(monkeypatch, printed):
    monkeypatch.setenv("D2L_STRICT_CLAIMS", "1")
    reasons = iter([None, "the cores are taken"])
    claim("both fit", lambda: 0.9, below=0.5, attempts=2, unless=lambda: next(reasons))
    assert printed() == "– both fit (0.9, 0.9; not below 0.5; in 2 attempts)\n  not checked: the cores are taken\n"


def test_a_claim_that_fails_without_a_reason_fails_and_one_that_holds_asks_for_none(monkeypatch, printed):
    monkeypatch.setenv("D2L_STRICT_CLAIMS", "1")
    with pytest.raises(ClaimError):
        claim("both fit", lambda: 0.9, below=0.5, unless=lambda: None)
    claim("both fit", lambda: 0.1, below=0.5, unless=lambda: pytest.fail("asked"))
    assert printed() == "✓ both fit (0.1, below 0.5)\n"


@pytest.mark.parametrize("word", ["", "0"])
def test_strict_mode_can_be_switched_off(word, monkeypatch, printed):
    monkeypatch.setenv("D2L_STRICT_CLAIMS", word)
    claim("no", False)
    assert printed() == "✗ no\n"


def test_a_sentence_over_several_lines_is_printed_on_one(printed):
    claim("a long\n    sentence", True)
    assert printed() == "✓ a long sentence\n"


@pytest.mark.parametrize(
    ("observed", "options", "error", "words"),
    [
        (0.3, {}, ValueError, "needs a bound"),
        (np.array(0.3), {}, ValueError, "needs a bound"),
        (True, {"below": 1}, TypeError, "cannot lie below 1"),
        (np.bool_(False), {"above": 1}, TypeError, "cannot lie above 1"),
        (None, {}, TypeError, "not None"),
        (lambda: None, {"below": 1}, TypeError, "not None"),
        ("yes", {"below": 1}, TypeError, "not 'yes'"),
        (1j, {"below": 1}, TypeError, "truth value or a number"),
        (np.ones((2, 3)), {"below": 1}, TypeError, r"array of shape \(2, 3\)"),
        (np.ones(1), {"below": 2}, TypeError, r"array of shape \(1,\)"),
        (0.3, {"below": "1"}, TypeError, "a bound is a number"),
        (0.3, {"above": True}, TypeError, "a bound is a number"),
        (0.3, {"above": 2, "below": 2}, ValueError, "nothing lies above 2 and below 2"),
        (0.3, {"below": 1, "attempts": 0}, ValueError, "at least 1"),
        (0.3, {"below": 1, "attempts": 1.5}, ValueError, "whole number"),
    ],
)
def test_what_is_no_claim_is_an_error_in_plain_words(observed, options, error, words, printed):
    with pytest.raises(error, match=words):
        claim("nonsense", observed, **options)
    assert printed() == ""


def test_an_error_in_the_observing_function_is_not_swallowed():
    with pytest.raises(ZeroDivisionError):
        claim("nonsense", lambda: 1 / 0, below=1)
