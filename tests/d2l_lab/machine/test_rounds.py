"""A figure is the median of runs, in rounds that lie apart."""

import pytest

from d2l_lab.machine import rounds
from d2l_lab.machine.rounds import Figure, calls_per_run, in_rounds, medians, seconds_of, tree


@pytest.fixture
def clock(monkeypatch):
    """A list of the time, and a function that returns calls of these seconds in turn, of the last from then on."""
    now = [0.0]

    def takes(*seconds):
        left = list(seconds)
        return lambda: now.append(now.pop() + (left.pop(0) if len(left) > 1 else left[0]))

    monkeypatch.setattr(rounds.timeit.timeit, "__defaults__", ("pass", "pass", lambda: now[0], 1, None))
    monkeypatch.setattr(rounds.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(rounds.time, "sleep", lambda seconds: now.append(now.pop() + seconds))
    return now, takes


def test_the_median_of_five_runs_after_a_warm_up_counts(clock):
    _, takes = clock
    assert seconds_of(takes(0.5, 0.01, 0.01, 0.05, 0.02, 0.04, 0.03, 9.0)) == pytest.approx(0.03)


@pytest.mark.parametrize(("seconds", "number"), [(1, 1), (1 / 128, 1), (1 / 256, 2), (1 / 512, 3), (1 / 8192, 41)])
def test_a_run_has_as_many_calls_as_last_five_milliseconds(seconds, number, clock):
    assert calls_per_run(clock[1](seconds)) == number


def test_a_slow_call_does_not_shorten_the_runs_of_fast_ones(clock):
    assert calls_per_run(clock[1](0.001, 2**-9, 2**-13)) == 41


@pytest.mark.parametrize(("seconds", "runs"), [(0.1, 5), (0.3, 4), (2.0, 1)])
def test_a_round_of_slow_calls_ends_after_a_second(seconds, runs, clock):
    now, takes = clock
    assert seconds_of(takes(seconds)) == pytest.approx(seconds)
    assert now[0] == pytest.approx(seconds * (2 + runs))


def test_three_rounds_take_one_figure_after_another_and_lie_two_seconds_apart(clock):
    now, takes = clock
    begun = []
    figures = {name: Figure(lambda name=name: begun.append((name, now[0])) or takes(0.01)()) for name in "ab"}
    found = in_rounds(figures | {"c": Figure(takes(0.01), lambda seconds: 1 / seconds)})
    assert found == {"a": [pytest.approx(0.01)] * 3, "b": [pytest.approx(0.01)] * 3, "c": [pytest.approx(100)] * 3}
    assert [name for name, _ in begun] == (["a"] * 7 + ["b"] * 7) * 3
    assert [begun[place][1] for place in (0, 14, 28)] == pytest.approx([0, 2, 4])


def test_figures_are_the_medians_of_their_rounds_in_the_same_places():
    found = tree({("bandwidth", "L2", "copy"): [3.0, 1.0, 2.0], ("product", "float32"): [5.0, 5.0, 9.0]})
    assert found == {"bandwidth": {"L2": {"copy": [3.0, 1.0, 2.0]}}, "product": {"float32": [5.0, 5.0, 9.0]}}
    assert medians(found) == {"bandwidth": {"L2": {"copy": 2.0}}, "product": {"float32": 5.0}}
