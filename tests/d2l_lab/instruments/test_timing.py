"""Clocks: what they record, how they repeat, what they print."""

import gc
import time

import pytest

from d2l_lab.instruments import timing
from d2l_lab.instruments.timing import Measurement, Timer, compare, measure, report, three_digits
from d2l_lab.machine import disturbance
from d2l_lab.machine.disturbance import Disturbance


class Clock:
    """A clock that stands still unless it is told to go on, read by what is tested instead of the machine's."""

    now = 100.0

    def __call__(self):
        return self.now

    def takes(self, *seconds):
        """Return a function whose calls take these seconds in turn, and the last of them from then on."""
        left = list(seconds)

        def call():
            self.now += left.pop(0) if len(left) > 1 else left[0]

        return call


@pytest.fixture
def clock(monkeypatch):
    assert timing.perf_counter is time.perf_counter  # the machine's most precise clock
    monkeypatch.setattr(timing, "perf_counter", Clock())
    return timing.perf_counter


def test_a_timer_runs_from_its_construction_or_its_last_start_to_a_stop(clock):
    timer = Timer()
    with pytest.raises(ValueError, match="recorded no time"):
        timer.avg()
    clock.now += 2
    assert timer.stop() == 2
    clock.now += 5
    timer.start()
    clock.now += 1
    assert timer.stop() == 1
    assert (timer.times, timer.avg(), timer.sum(), timer.cumsum()) == ([2, 1], 1.5, 3, [2, 3])


@pytest.mark.parametrize(("seconds", "number"), [(1, 1), (1 / 128, 1), (1 / 256, 2), (1 / 512, 5), (1 / 8192, 50)])
def test_a_run_has_as_many_calls_as_last_five_milliseconds(seconds, number, clock):
    assert measure(clock.takes(seconds), repeats=2) == Measurement((seconds, seconds), number)


@pytest.mark.parametrize(("budget", "runs"), [(0, 3), (4.5, 5), (1000, 50)])
def test_no_run_starts_once_the_budget_is_spent_but_three_are_measured(budget, runs, clock):
    assert len(measure(clock.takes(1), repeats=50, budget=budget).seconds) == runs


def test_a_warm_up_that_compiles_for_longer_than_the_budget_takes_no_run_away(clock):
    compiled = compare({"a": clock.takes(1.2, 0.01), "b": clock.takes(1.2, 0.02)}, repeats=9, budget=1)
    assert [measured.seconds for measured in compiled.values()] == [
        pytest.approx([0.01] * 9),
        pytest.approx([0.02] * 9),
    ]


def test_rounds_of_compared_functions_follow_a_warm_up_of_each_that_is_not_measured(clock):
    calls, naps = [], {"a": clock.takes(2, 1), "b": clock.takes(2, 2, 0.5, 1)}
    functions = {name: lambda name=name: (calls.append(name), naps[name]()) for name in naps}
    assert compare(functions, 2) == {"a": Measurement((1, 1), 1), "b": Measurement((0.5, 1), 1)}
    assert "".join(calls[:4]) == "aabb"
    assert [sorted(calls[4:6]), sorted(calls[6:])] == [["a", "b"], ["a", "b"]]


def test_the_order_of_each_round_is_drawn_and_drawn_alike_again(clock):
    def order():
        calls = []
        compare({name: lambda name=name: calls.append(name) or clock.takes(1)() for name in "abc"}, 40, 1000)
        return ["".join(calls[place : place + 3]) for place in range(6, len(calls), 3)]

    found = order()
    assert len(set(found)) == 6
    assert all(8 < sum(each[0] == name for each in found) < 20 for name in "abc")
    assert order() == found


def test_what_others_did_during_the_rounds_is_part_of_each_measurement(clock, monkeypatch):
    monkeypatch.delenv("D2L_QUICK", raising=False)
    monkeypatch.setattr(disturbance.time, "perf_counter", clock)
    monkeypatch.setattr(disturbance, "used_by_others", lambda: 0.25 * clock.now)
    monkeypatch.setattr(disturbance, "usable", lambda: [0])
    monkeypatch.setattr(disturbance, "cores", lambda: 1)
    monkeypatch.setattr(disturbance, "reference", lambda: {"pass": 0.002})
    monkeypatch.setattr(disturbance, "_figure", {"pass": 0.001})
    found = compare({"a": clock.takes(1), "b": clock.takes(1)}, 3)
    assert [each.disturbance for each in found.values()] == [Disturbance(pytest.approx(0.25), 1, 0.5)] * 2


def test_a_quick_run_takes_one_round(clock, monkeypatch):
    monkeypatch.setenv("D2L_QUICK", "1")
    assert len(measure(clock.takes(1), repeats=9, budget=100).seconds) == 1


@pytest.mark.parametrize(("functions", "repeats"), [({}, 3), ({"a": int}, 0)])
def test_nothing_to_compare_is_an_error(functions, repeats):
    with pytest.raises(ValueError, match="at least one"):
        compare(functions, repeats)


def test_garbage_collection_is_off_during_a_run_and_on_afterwards_even_where_it_fails():
    seen = []

    def fail_in_the_end():
        seen.append(gc.isenabled())
        return 1 / (3 - len(seen))

    with pytest.raises(ZeroDivisionError):
        measure(fail_in_the_end)
    assert (seen, gc.isenabled()) == ([False] * 3, True)


@pytest.mark.parametrize(
    ("seconds", "number", "text"),
    [
        ((9e-6, 11.9e-6, 12.3e-6, 13e-6, 2e-5), 1000, "12.3 µs (11.9 … 13.0; 5 runs of 1000)"),
        ((0.1,), 1, "100 ms (100 … 100; 1 run of 1)"),
        ((1e-6, 9.96e-6, 999e-6, 1600e-6, 1), 5, "999 µs (9.96 … 1600; 5 runs of 5)"),
        ((1.0,), 1, "1.00 s (1.00 … 1.00; 1 run of 1)"),
        ((1e-6, 1e-6), 1, "1.00 µs (1.00 … 1.00; 2 runs of 1)"),
        ((2e-9,), 1, "2.00 ns (2.00 … 2.00; 1 run of 1)"),
        ((0.0,), 1, "0 ns (0 … 0; 1 run of 1)"),
    ],
)
def test_a_measurement_prints_median_and_quartiles_in_the_unit_that_fits(seconds, number, text):
    assert str(Measurement(seconds, number)) == text


def test_a_report_is_aligned_and_gives_ratios_to_the_first_and_the_time_of_a_step(capsys):
    report({"add": Measurement((2e-6,), 500), "product": Measurement((5e-3,), 1)}, steps=2)
    assert capsys.readouterr().out.splitlines() == [
        "add      1.00 µs (1.00 … 1.00; 1 run of 1000)  1.00 ×",
        "product  2500 µs (2500 … 2500; 1 run of 2)     2500 ×",
    ]


def test_a_line_below_a_report_says_once_what_disturbed(capsys):
    crowded = Disturbance(0.8, 2)
    report({"a": Measurement((1.0,), 1, crowded), "b": Measurement((1.0,), 1, crowded), "c": Measurement((1.0,), 1)})
    assert capsys.readouterr().out.splitlines()[3:] == ["while this was measured, other programs took 0.8 of 2 cores"]


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        ([43e-3, 5.6e-4], ["43.0 ms", "0.560 ms"]),
        ([0.2, 0.3], ["200 ms", "300 ms"]),
        ([3.0, 0.2], ["3.00 s", "0.200 s"]),
        ([2e-7, 5e-5], ["0.200 µs", "50.0 µs"]),
        ([2.0, 0.0, 4e-9], ["2.00 s", "0 ns", "4.00 ns"]),  # too far apart for one unit
    ],
)
def test_the_times_of_a_report_have_one_unit(seconds, shown, capsys):
    report({str(place): Measurement((each,), 1) for place, each in enumerate(seconds, 1)})
    assert [" ".join(line.split()[1:3]) for line in capsys.readouterr().out.splitlines()] == shown


@pytest.mark.parametrize(
    ("number", "digits"),
    [(-0.5389, "−0.539"), (-1600, "−1600"), (0.0914, "0.0914"), (-0.0, "0"), (-float("inf"), "−inf")],
)
def test_a_negative_number_has_a_minus_sign(number, digits):
    assert three_digits(number) == digits
