"""Claims: what holds, what does not, what could not be checked, and what is no claim at all."""

import json
import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from d2l_utils import claims
from d2l_utils.claims import MIME, ClaimError, claim


@pytest.fixture(autouse=True)
def _lenient(monkeypatch):
    monkeypatch.delenv("D2L_STRICT_CLAIMS", raising=False)


@pytest.fixture
def strict(monkeypatch):
    monkeypatch.setenv("D2L_STRICT_CLAIMS", "1")


@pytest.fixture
def printed(capsys):
    return lambda: capsys.readouterr().out


def function(*values):
    """Return a function that returns one value after the other, and the iterator of those that are left."""
    left = iter(values)
    return lambda: next(left), left


@pytest.mark.parametrize("truth", [True, np.bool_(True), np.array(True)])
def test_a_truth_value_holds(truth, printed):
    assert claim("the sun rises", truth) is None
    assert printed() == "✓ the sun rises\n"


@pytest.mark.parametrize(
    ("value", "bounds", "evidence"),
    [
        (0.00412, {"below": 0.5}, "0.00412; below 0.5"),
        (123456, {"above": 2}, "123456; above 2"),
        (np.float32(0.25), {"above": 0.1, "below": 0.5}, "0.25; between 0.1 and 0.5"),
        (np.array(0.25), {"below": 1}, "0.25; below 1"),
        (Fraction(1, 4), {"below": np.float64(0.5)}, "0.25; below 0.5"),
        (0.49996, {"below": 0.5}, "0.49996; below 0.5"),  # to three digits it would read like its bound
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
        (9.0, {"above": 1, "below": 2}, " (9; not between 1 and 2)"),
    ],
)
def test_a_failing_claim_prints_a_cross_the_figures_and_what_it_means(value, bounds, evidence, printed):
    claim("it is small", value, **bounds, otherwise="This machine\n  is busy.")
    assert printed() == f"✗ it is small{evidence}\n  This machine is busy.\n"


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ((0.1, 0.9, 0.2), "✓ it is fast (0.2; 0.1 … 0.9 in 3 measurements; below 0.5)"),
        ((0.1, 0.9, 0.8), "✗ it is fast (0.8; 0.1 … 0.9 in 3 measurements; not below 0.5)"),
        ((0.1, 0.2, float("nan")), "✗ it is fast (nan; not below 0.5)"),
    ],
)
def test_the_median_of_three_measurements_decides_whatever_the_first_one_is(values, line, printed):
    observed, left = function(*values, "a fourth one")
    claim("it is fast", observed, below=0.5)
    assert printed() == line + "\n"
    assert list(left) == ["a fourth one"]


@pytest.mark.parametrize(
    ("values", "line"),
    [((True, False, True), "✓ it rains (2 of 3 times)"), ((True, False, False), "✗ it rains (1 of 3")],
)
def test_of_several_truth_values_most_decide(values, line, printed):
    claim("it rains", function(*values)[0])
    assert printed().startswith(line)


def test_the_number_of_measurements_is_what_the_claim_says(printed):
    observed, left = function(5, 1, 4, 2, 3, 0)
    claim("it is three", observed, above=2, below=4, measurements=5)
    assert printed() == "✓ it is three (3; 1 … 5 in 5 measurements; between 2 and 4)\n"
    assert list(left) == [0]


@pytest.mark.usefixtures("strict")
def test_strict_mode_raises_the_line_that_would_be_shown(printed):
    with pytest.raises(ClaimError) as caught:
        claim("it is small", 0.7, below=0.5, otherwise="Busy.")
    assert str(caught.value) == "✗ it is small (0.7; not below 0.5)\n  Busy."
    assert isinstance(caught.value, AssertionError)
    claim("it is small", 0.2, below=0.5)
    assert printed() == "✓ it is small (0.2; below 0.5)\n"


@pytest.mark.parametrize("word", ["", "0"])
def test_strict_mode_can_be_switched_off(word, monkeypatch, printed):
    monkeypatch.setenv("D2L_STRICT_CLAIMS", word)
    claim("no", False)
    assert printed() == "✗ no\n"


@pytest.fixture
def got(monkeypatch):
    """A list: what two busy threads get of the cores, once each time that they are asked for."""
    left = []
    monkeypatch.setattr(claims, "free_cores", lambda number: left.pop() * (number == 2))
    return left


@pytest.mark.usefixtures("strict")
def test_a_claim_that_misses_without_its_cores_was_not_checked_even_in_strict_mode(got, printed):
    got.append(1.14)
    claim("both fit", 0.9, below=0.5, cores=2, otherwise="They do not.")
    assert printed() == "– both fit (0.9; not below 0.5)\n  not checked: 2 busy threads got 1.1 cores\n"


@pytest.mark.usefixtures("strict")
def test_a_claim_that_misses_with_its_cores_free_fails(got):
    got.append(1.9)
    with pytest.raises(ClaimError, match="They do not"):
        claim("both fit", 0.9, below=0.5, cores=2, otherwise="They do not.")
    assert got == []


def test_a_claim_that_holds_does_not_ask_for_its_cores(got, printed):
    got.append(0)
    claim("both fit", 0.1, below=0.5, cores=2)
    assert (printed()[0], got) == ("✓", [0])


ON_ONE_CORE = """
import os, subprocess, sys
os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])
others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4)]
from d2l_utils.claims import free_cores
print(free_cores(1, 0.1), free_cores(4, 0.1))
for process in others:
    process.kill()
    process.wait()
"""


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system confines no process to a core")
def test_threads_that_share_a_core_with_others_get_their_part_of_it():
    done = subprocess.run([sys.executable, "-c", ON_ONE_CORE], capture_output=True, text=True, check=True)
    one_of_five, four_of_eight = map(float, done.stdout.split())
    assert 0 < one_of_five < 0.5
    assert 1.3 * one_of_five < four_of_eight < 0.9


def test_in_jupyter_a_claim_is_data_beside_its_text():
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell.instance()
    from IPython.utils.capture import capture_output

    try:
        with capture_output() as captured:
            claim("a long\n    sentence", 0.7, below=0.5, otherwise="Busy.")
    finally:
        shell.clear_instance()
    (output,) = captured.outputs
    note = {"sentence": "a long sentence", "held": False, "evidence": "0.7; not below 0.5", "note": "Busy."}
    assert output.data == {MIME: note, "text/plain": "✗ a long sentence (0.7; not below 0.5)\n  Busy."}
    assert json.loads(json.dumps(output.data)) == output.data
    assert captured.stdout == ""


@pytest.mark.parametrize(
    ("observed", "options", "error", "words"),
    [
        (0.3, {}, ValueError, "needs a bound"),
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
        (0.3, {"below": 1, "measurements": 2}, ValueError, "an odd number of measurements, not 2"),
        (0.3, {"below": 1, "measurements": -1}, ValueError, "an odd number of measurements, not -1"),
        (0.3, {"below": 1, "measurements": 3.0}, ValueError, "an odd number of measurements, not 3.0"),
        (0.3, {"below": 1, "cores": 0}, ValueError, "at least 1 core, not 0"),
        (0.3, {"below": 1, "cores": 1.5}, ValueError, "at least 1 core, not 1.5"),
    ],
)
def test_what_is_no_claim_is_an_error_in_plain_words(observed, options, error, words, printed):
    with pytest.raises(error, match=words):
        claim("nonsense", observed, **options)
    assert printed() == ""


def test_an_error_in_the_observing_function_is_not_swallowed():
    with pytest.raises(ZeroDivisionError):
        claim("nonsense", lambda: 1 / 0, below=1)
