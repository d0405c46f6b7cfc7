"""Clocks: what they record, how they repeat, what they print."""

import gc
import statistics
import time

import pytest

from d2l_utils import timing
from d2l_utils.timing import Benchmark, Measurement, Timer, compare, measure, report, time_unit


def nap():
    time.sleep(0.01)


def test_a_timer_starts_on_construction_and_stop_returns_what_it_records():
    timer = Timer()
    nap()
    seconds = timer.stop()
    assert timer.times == [seconds]
    assert 0.01 <= seconds < 1


def test_a_timer_started_again_forgets_the_time_before():
    timer = Timer()
    time.sleep(0.1)
    timer.start()
    assert timer.stop() < 0.1


def test_average_sum_and_running_sums_of_a_timer():
    timer = Timer()
    timer.times = [1.0, 2.0, 6.0]
    assert (timer.avg(), timer.sum(), timer.cumsum()) == (3.0, 9.0, [1.0, 3.0, 9.0])


def test_a_timer_without_times_has_no_average():
    with pytest.raises(ValueError, match="recorded no time"):
        Timer().avg()


def test_a_benchmark_prints_its_description_and_seconds(capsys):
    with Benchmark("nap") as benchmark:
        nap()
    with Benchmark():
        pass
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"nap: {benchmark.timer.times[0]:.4f} sec"
    assert lines[1].startswith("Done: 0.00")


def test_a_block_that_raises_prints_no_time(capsys):
    with pytest.raises(KeyError), Benchmark():
        raise KeyError
    assert capsys.readouterr().out == ""


def test_measure_repeats_a_long_call_once_a_run():
    measurement = measure(nap, repeats=3)
    assert (measurement.number, len(measurement.seconds)) == (1, 3)
    assert 0.01 <= measurement.low <= measurement.median <= measurement.high < 1


def test_measure_repeats_a_short_call_until_a_run_lasts():
    measurement = measure(lambda: None, repeats=3)
    assert measurement.number >= 1000
    assert measurement.median < 1e-5


def test_measure_stops_when_its_budget_is_spent_but_measures_once():
    assert len(measure(nap, repeats=50, budget=0).seconds) == 1
    assert 1 < len(measure(nap, repeats=500, budget=0.2).seconds) < 25


def test_the_first_call_is_not_measured():
    calls = []

    def cold_start():
        time.sleep(0.2 if not calls else 0.01)
        calls.append(1)

    assert max(measure(cold_start, repeats=3).seconds) < 0.2


def test_runs_of_compared_functions_alternate():
    order = []

    def run(name):
        order.append(name)
        time.sleep(0.006)

    compare({"a": lambda: run("a"), "b": lambda: run("b")}, repeats=3)
    assert "".join(order[-6:]) == "ababab"


def test_compare_returns_a_measurement_for_each_name():
    measured = compare({"short": lambda: None, "long": nap}, repeats=2)
    assert list(measured) == ["short", "long"]
    assert measured["long"].median > 100 * measured["short"].median


@pytest.mark.parametrize(("functions", "repeats"), [({}, 3), ({"a": nap}, 0)])
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
    assert measurement.median == statistics.median(measurement.seconds)
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
