"""The rule that keeps a change: how often it errs, how many pairs it takes, and when it stops."""

import math

import numpy as np
import pytest

from d2l_lab.instruments import pairs as module
from d2l_lab.instruments.pairs import LOOKS, Verdict, measured_in_pairs, verdict


@pytest.fixture(autouse=True)
def judged(monkeypatch):
    monkeypatch.delenv("D2L_QUICK", raising=False)


def steps(gain, spread, drift, random):
    """Return a function that measures pairs of a step of 1 s on a machine whose pace wanders."""
    pace = [0.0]

    def second(size):
        pace[0] += random.normal(0, drift)
        return size * math.exp(pace[0] + random.normal(0, spread))

    def pair():
        if random.integers(2):
            return second(1), second(1 - gain)
        after = second(1 - gain)
        return second(1), after

    return lambda number, limit: [pair() for _ in range(number)]


def shares(gain, spread, drift=0.0, trials=400):
    """Return how often the rule says that a change gains, and that it loses, and the mean number of pairs."""
    random = np.random.default_rng(0)
    found = [measured_in_pairs(steps(gain, spread, drift, random), math.inf) for _ in range(trials)]
    said = [verdict(pairs) for pairs in found]
    return said.count(Verdict.GAINS) / trials, said.count(Verdict.LOSES) / trials, np.mean([*map(len, found)])


@pytest.mark.parametrize(("spread", "drift"), [(0.02, 0), (0.1, 0), (0.05, 0.02)])
def test_a_useless_change_is_kept_in_at_most_one_case_of_twenty(spread, drift):
    assert shares(0, spread, drift)[0] <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 400)


@pytest.mark.parametrize("drift", [0, 0.02])
def test_four_percent_are_mostly_found_at_a_spread_of_five_and_eight_nearly_always_and_sooner(drift):
    four, eight = shares(0.04, 0.05, drift), shares(0.08, 0.05, drift)
    assert four[0] > 0.7
    assert eight[0] > 0.98
    assert eight[2] < four[2] < LOOKS[-1]
    assert four[1] < 0.01


def test_six_pairs_alike_are_enough_and_five_are_not():
    assert verdict([(1.0, 0.99)] * 6) is Verdict.GAINS
    assert verdict([(0.99, 1.0)] * 6) is Verdict.LOSES
    assert verdict([(1.0, 0.99)] * 5) is verdict([(1.0, 0.99)] * 5 + [(0.98, 1.0)]) is Verdict.NOISE


def test_pairs_without_any_difference_are_noise():
    assert verdict([(1.0, 1.0)] * 28) is Verdict.NOISE


def test_one_disturbed_pair_of_ten_changes_no_verdict():
    assert verdict([(1.0, 0.9 + 0.001 * i) for i in range(9)] + [(1.0, 1.05)]) is Verdict.GAINS
    assert verdict([(1.0, 0.9 + 0.001 * i) for i in range(9)] + [(1.05, 1.0)]) is Verdict.GAINS


@pytest.mark.parametrize(("seconds", "number"), [(1.0, 6), (0.35, 10), (0.0, 28)])
def test_no_further_pairs_start_once_the_budget_is_over(monkeypatch, seconds, number):
    now = [0.0]
    monkeypatch.setattr(module, "perf_counter", lambda: now[0])

    def same(count, limit):
        now[0] += seconds * count
        return [(1.0, 1.0)] * count

    assert len(measured_in_pairs(same, 3.0)) == number


def test_a_run_that_judges_no_times_measures_one_pair(monkeypatch):
    monkeypatch.setenv("D2L_QUICK", "1")
    assert measured_in_pairs(lambda number, limit: [(1.0, 0.5)] * number, 3.0) == [(1.0, 0.5)]


def test_even_the_first_pairs_end_after_four_budgets_and_then_nothing_is_certain(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(module, "perf_counter", lambda: now[0])

    def slow(number, limit):
        end, found = now[0] + limit, []
        while len(found) < number and now[0] < end:
            now[0] += 4.0
            found.append((1.0, 0.5))
        return found

    found = measured_in_pairs(slow, 3.0)
    assert (len(found), verdict(found)) == (3, Verdict.NOISE)
