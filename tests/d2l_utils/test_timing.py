"""Clocks: what they record, how they repeat, what they print."""

import gc
import time

import pytest

from d2l_utils import timing
from d2l_utils.timing import Benchmark, Measurement, Timer, compare, measure, report, time_unit


class Clock:
    """A clock that stands still unless it is told to go on, read by what is tested instead of the machine's."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now

    def takes(self, seconds):
        """Return a function that takes so many seconds; of several, each call takes the next, the last for ever."""
        left = list(seconds) if isinstance(seconds, (list, tuple)) else [seconds]

        def call():
            self.now += left.pop(0) if len(left) > 1 else left[0]

        return call


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(timing, "perf_counter", made)
    return made


def test_the_clock_is_the_machines_most_precise_one():
    assert timing.perf_counter is time.perf_counter


def test_a_timer_runs_from_its_construction_or_its_last_start_to_a_stop(clock):
    timer = Timer()
    clock.now += 2
    assert timer.stop() == 2
    clock.now += 5
    timer.start()
    clock.now += 1
    assert timer.stop() == 1
    assert timer.times == [2, 1]


def test_average_sum_and_running_sums_of_a_timer():
    timer = Timer()
    timer.times = [1.0, 2.0, 6.0]
    assert (timer.avg(), timer.sum(), timer.cumsum()) == (3.0, 9.0, [1.0, 3.0, 9.0])


def test_a_timer_without_times_has_no_average():
    with pytest.raises(ValueError, match="recorded no time"):
        Timer().avg()


def test_a_benchmark_prints_its_description_and_seconds(clock, capsys):
    with Benchmark("nap") as benchmark:
        clock.now += 1.25
    with Benchmark():
        pass
    assert capsys.readouterr().out == "nap: 1.2500 sec\nDone: 0.0000 sec\n"
    assert benchmark.timer.times == [1.25]


def test_a_block_that_raises_prints_no_time(capsys):
    with pytest.raises(KeyError), Benchmark():
        raise KeyError
    assert capsys.readouterr().out == ""


def test_each_run_of_a_long_call_is_one_call(clock):
    assert measure(clock.takes(1), repeats=3) == Measurement((1, 1, 1), 1)


@pytest.mark.parametrize(("seconds", "number"), [(1 / 128, 1), (1 / 256, 2), (1 / 512, 5), (1 / 8192, 50)])
def test_a_run_has_as_many_calls_as_last_five_milliseconds(seconds, number, clock):
    measured = measure(clock.takes(seconds), repeats=2)
    assert measured.number == number
    assert measured.seconds == (seconds, seconds)


@pytest.mark.parametrize(("budget", "runs"), [(0, 1), (3.5, 2), (1000, 50)])
def test_no_run_starts_once_the_budget_is_spent_but_one_is_measured(budget, runs, clock):
    assert len(measure(clock.takes(1), repeats=50, budget=budget).seconds) == runs


def test_the_first_call_is_not_measured(clock):
    assert measure(clock.takes([6, 1]), repeats=3).seconds == (1, 1, 1)


def test_runs_of_compared_functions_alternate_after_a_warm_up_of_each(clock):
    order = []
    naps = {name: clock.takes(1) for name in "ab"}
    compare({name: lambda name=name: (order.append(name), naps[name]()) for name in "ab"}, repeats=3)
    assert "".join(order) == "aabb" + "ababab"


def test_compare_returns_a_measurement_for_each_name(clock):
    measured = compare({"short": clock.takes(0.5), "long": clock.takes([1, 1, 2, 1])}, repeats=2)
    assert measured == {"short": Measurement((0.5, 0.5), 1), "long": Measurement((2, 1), 1)}


@pytest.mark.parametrize(("functions", "repeats"), [({}, 3), ({"a": int}, 0)])
def test_nothing_to_compare_is_an_error(functions, repeats):
    with pytest.raises(ValueError, match="at least one"):
        compare(functions, repeats)


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_collection_is_off_during_a_run_and_as_before_afterwards(enabled):
    before = gc.isenabled()
    seen = []
    try:
        (gc.enable if enabled else gc.disable)()
        timing._run(lambda: seen.append(gc.isenabled()), 1)
        with pytest.raises(ZeroDivisionError):
            timing._run(lambda: 1 / 0, 1)
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()
    assert seen == [False]


def test_a_measurement_has_median_and_quartiles():
    measurement = Measurement((1.0, 2.0, 3.0, 4.0, 9.0), 1)
    assert (measurement.low, measurement.median, measurement.high) == (2.0, 3.0, 4.0)
    single = Measurement((5.0,), 1)
    assert (single.low, single.median, single.high) == (5.0, 5.0, 5.0)


@pytest.mark.parametrize(
    ("seconds", "number", "text"),
    [
        ((9e-6, 11.9e-6, 12.3e-6, 13e-6, 2e-5), 1000, "12.3 µs (11.9 … 13.0; 5 runs of 1000)"),
        ((0.1,), 1, "100 ms (100 … 100; 1 run of 1)"),
        ((1e-6, 9.96e-6, 999e-6, 1600e-6, 1), 5, "999 µs (9.96 … 1600; 5 runs of 5)"),
        ((2.0, 2.0), 1, "2.00 s (2.00 … 2.00; 2 runs of 1)"),
        ((3e-8,), 10, "30.0 ns (30.0 … 30.0; 1 run of 10)"),
    ],
)
def test_a_measurement_prints_in_the_unit_that_fits(seconds, number, text):
    assert str(Measurement(seconds, number)) == text


@pytest.mark.parametrize(("seconds", "unit"), [(2, "s"), (1, "s"), (0.5, "ms"), (1e-6, "µs"), (1e-9, "ns"), (0, "ns")])
def test_the_unit_of_a_time(seconds, unit):
    assert time_unit(seconds)[0] == unit


def test_a_report_is_aligned_and_gives_ratios_to_the_first(capsys):
    report({"add": Measurement((1e-6,), 1000), "product": Measurement((2.5e-3,), 2)})
    assert capsys.readouterr().out.splitlines() == [
        "add      1.00 µs (1.00 … 1.00; 1 run of 1000)  1 ×",
        "product  2.50 ms (2.50 … 2.50; 1 run of 2)     2.5e+03 ×",
    ]


def test_a_report_of_epochs_gives_the_time_of_a_step(capsys):
    report({"epoch": Measurement((0.44, 0.44, 0.44), 1)}, steps=22)
    assert capsys.readouterr().out == "epoch  20.0 ms (20.0 … 20.0; 3 runs of 22)  1 ×\n"
