"""Claims: what holds, what misses, what a test run makes of them, and what is no claim."""

import re
from contextlib import nullcontext
from dataclasses import asdict
from fractions import Fraction

import numpy as np
import pytest

from d2l_lab.instruments.claims import MIME, Claim, ClaimError, claim
from d2l_lab.instruments.timing import Measurement
from d2l_lab.machine.disturbance import Disturbance

NAN = float("nan")


@pytest.fixture(autouse=True)
def printed(capsys, monkeypatch):
    """A function that returns what was printed; claims are made as in a book build, whatever runs these tests."""
    monkeypatch.delenv("D2L_TEST", raising=False)
    monkeypatch.delenv("D2L_STRICT", raising=False)
    return lambda: capsys.readouterr().out


@pytest.mark.parametrize(
    ("value", "bounds", "line"),
    [
        (True, {}, "✓ so it is"),
        (np.bool_(True), {}, "✓ so it is"),
        (0.00412, {"below": 0.5}, "✓ so it is (0.00412; claimed below 0.5)"),
        (123456, {"above": 2}, "✓ so it is (123456; claimed above 2)"),
        (np.float32(0.25), {"above": 0.1, "below": 0.5}, "✓ so it is (0.25; claimed between 0.1 and 0.5)"),
        (np.array(0.25), {"below": 1}, "✓ so it is (0.25; claimed below 1)"),
        (Fraction(1, 4), {"below": np.float64(0.5)}, "✓ so it is (0.25; claimed below 0.5)"),
        (0.49996, {"below": 0.5}, "✓ so it is (0.49996; claimed below 0.5)"),  # three digits would equal the bound
        (False, {}, "✗ so it is\n  Busy."),
        (0.5, {"below": 0.5}, "✗ so it is (0.5; claimed below 0.5, missed)\n  Busy."),
        (2, {"above": 2}, "✗ so it is (2; claimed above 2, missed)\n  Busy."),
        (-0.25, {"above": -1.5, "below": 0}, "✓ so it is (−0.25; claimed between −1.5 and 0)"),
        (-1e-05, {"above": -1}, "✓ so it is (−1e-05; claimed above −1)"),
        (NAN, {"below": 1}, "✗ so it is (nan; claimed below 1, missed)\n  Busy."),
        (9.0, {"above": 1, "below": 2}, "✗ so it is (9; claimed between 1 and 2, missed)\n  Busy."),
    ],
)
def test_a_claim_shows_whether_it_holds_with_its_figures_and_what_a_miss_means(value, bounds, line, printed):
    claim("so\n    it is", value, **bounds, if_missed="Busy.")
    assert printed() == line + "\n"


@pytest.mark.parametrize(
    ("test", "timed", "strict", "fails"),
    [
        ("1", False, "0", True),
        ("1", True, "", False),
        ("1", True, "0", False),
        ("1", True, "1", True),
        ("", False, "1", False),
    ],
)
def test_only_a_test_run_fails_on_a_miss_unless_it_is_timed_and_the_run_not_strict(
    test, timed, strict, fails, printed, monkeypatch
):
    monkeypatch.setenv("D2L_TEST", test)
    monkeypatch.setenv("D2L_STRICT", strict)
    missed = str(Claim("two", False, "2", "", "2", "Busy.", timed))
    claim("one", 1, below=2, timed=timed)
    with pytest.raises(ClaimError, match=re.escape(missed)) if fails else nullcontext():
        claim("two", 2, below=2, if_missed="Busy.", timed=timed)
    assert printed() == "✓ one (1; claimed below 2)\n" + ("" if fails else f"{missed}\n")


def test_in_jupyter_a_claim_is_data_beside_its_text(printed):
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell.instance()
    try:
        with pytest.MonkeyPatch.context() as patch:
            sent = []
            patch.setattr(shell.display_pub, "publish", lambda data, *_, **__: sent.append(data))
            claim("so it is", 0.7, below=0.5, timed=True)
    finally:
        shell.clear_instance()
    data = asdict(Claim("so it is", False, "0.7", "", "0.5", timed=True))
    assert (sent, printed()) == ([{MIME: data, "text/plain": "✗ so it is (0.7; claimed below 0.5, missed)"}], "")


@pytest.mark.parametrize(
    ("observed", "options", "error", "words"),
    [
        (0.3, {}, ValueError, "needs a bound"),
        (np.bool_(False), {"above": 1}, TypeError, "cannot lie above 1"),
        (None, {"below": 1}, TypeError, "not None"),
        (np.ones((2, 3)), {"below": 1}, TypeError, r"array of shape \(2, 3\)"),
        (0.3, {"below": "1"}, TypeError, "a bound is a number"),
        (0.3, {"above": True}, TypeError, "a bound is a number"),
        (0.3, {"above": 2, "below": 2}, ValueError, "nothing lies above 2 and below 2"),
    ],
)
def test_what_is_no_claim_is_an_error_in_plain_words(observed, options, error, words, printed):
    with pytest.raises(error, match=words):
        claim("nonsense", observed, **options)
    assert printed() == ""


def test_a_timed_claim_says_what_disturbed_the_measurements_since_the_claim_before_it(printed):
    for busy in (Disturbance(0.8, 2), Disturbance(0.3, 2, 0.6), Disturbance()):
        Measurement((1.0,), 1, busy)
    for sentence in ("first", "second"):
        claim(sentence, 1, below=2, timed=True)
    words = "other programs took 0.8 of 2 cores, and the machine ran at 0.6 of its pace"
    lines = [" ".join(line.split()) for line in printed().split("✓ ")[1:]]
    assert lines == [f"first (1; claimed below 2; disturbed: {words})", "second (1; claimed below 2)"]


def test_a_claim_about_results_is_not_disturbed(printed):
    Measurement((1.0,), 1, Disturbance(0.8, 2))
    claim("so it is", 1, below=2)
    assert printed() == "✓ so it is (1; claimed below 2)\n"
