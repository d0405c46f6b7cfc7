"""The loops that measure compute what they should, and figures count what is done in the fastest run."""

import time
from itertools import count

import numpy as np
import pytest

from d2l_utils.machine import probes
from d2l_utils.machine.probes import chase, lay_ring, triad
from d2l_utils.timing import Measurement


@pytest.mark.parametrize("length", [1, 7, 1000])
def test_the_triad_equals_numpys(length):
    a, b, c = np.random.default_rng(0).random((3, length))
    triad(a, b, c, 3.0)
    np.testing.assert_allclose(a, b + 3 * c, rtol=1e-12)


@pytest.mark.parametrize("size", [2**7, 2**10, 2**14])
def test_the_ring_is_one_cycle_over_all_lines(size):
    ring, lines = np.full(2**14 // 8, -1), size // 64
    lay_ring(ring, size)
    places = [chase(ring, 0, steps) for steps in range(lines + 1)]
    assert sorted(places[:-1]) == list(range(0, 8 * lines, 8))
    assert places[-1] == places[0] == 0


def test_the_threads_of_the_triad_share_the_whole_arrays(monkeypatch):
    moved = []
    monkeypatch.setattr(probes, "triad", lambda a, b, c, s: moved.append(a.size))
    assert probes.triad_bandwidth(3, 1000) > 0
    assert sorted(moved)[::24] == [333, 333, 334]  # (1 warm-up + 5 runs) × 4 passes


def test_the_triad_counts_24_bytes_an_element_and_numpys_product_2_flops_a_pair(monkeypatch):
    monkeypatch.setattr(probes, "fastest", lambda function: 2.0)
    assert probes.triad_bandwidth(2, 1000) == 24 * 1000 * 4 / 2  # four passes
    assert probes.numpy_product(10) == 2 * 10**3 / 2


def test_the_fastest_run_counts_after_a_warm_up(monkeypatch):
    clock = iter([0, 5, 10, 12, 20, 26, 30, 37, 40, 48])
    monkeypatch.setattr(probes, "perf_counter", clock.__next__)
    calls = []
    assert probes.fastest(lambda: calls.append(0)) == 2
    assert len(calls) == 6


def test_the_latency_is_that_of_one_load_of_many_and_each_run_goes_on_where_the_last_one_ended(monkeypatch):
    walks, clock = [], count(step=2)
    monkeypatch.setattr(probes, "chase", lambda ring, place, steps: walks.append((place, steps)) or place + 8)
    monkeypatch.setattr(probes, "perf_counter", lambda: next(clock))
    assert probes.latencies([2**7, 2**20]) == [2 / 2**21, 2 / 2**18]  # so many that the call itself does not count
    assert walks == [(8 * i, steps) for steps in (2**21, 2**18) for i in range(6)]


@pytest.mark.parametrize(
    ("seconds", "kinds"),
    [
        ({"float32": {}, "bfloat16": {}}, ["float32", "bfloat16"]),
        ({"float32": {8: 0.03}, "bfloat16": {8: 0.03}}, ["float32"]),  # the product itself lasts too long
        ({"bfloat16": {1: 0.001}}, []),  # the small product says so
    ],
)
def test_float32_is_measured_always_and_other_kinds_of_number_if_they_are_fast(seconds, kinds):
    rates = probes.product_rates(lambda n, kind: lambda: time.sleep(seconds[kind].get(n, 0)), 8, seconds, 0.02)
    assert list(rates) == kinds
    if 8 in seconds.get("float32", {}):
        assert rates["float32"] == pytest.approx(2 * 8**3 / 0.03, rel=0.5)


def test_a_kind_of_number_that_is_missing_is_left_out_unless_it_is_float32():
    def prepare(n, kind):
        return lambda: {"float64": 1}[kind]

    assert list(probes.product_rates(prepare, 8, ("bfloat16", "float64"))) == ["float64"]
    with pytest.raises(KeyError):
        probes.product_rates(prepare, 8, ("float32",))


def test_rates_count_what_is_done_in_the_fastest_run(monkeypatch):
    """A function returns the seconds that it is to take."""
    monkeypatch.setattr(probes, "measure", lambda run, **_: Measurement((3 * run(), run(), 2 * run()), 1))
    rates = probes.product_rates(lambda n, kind: lambda: n / 100_000, 800, ("float32",))
    assert rates == {"float32": pytest.approx(2 * 800**3 / 0.008)}
    assert probes.copy_bandwidth(lambda: 0.5, 10**6) == pytest.approx(2 * 10**6 / 0.5)  # read and written


def test_the_dispatch_is_the_median_of_one_operation_of_many_with_the_wait_for_the_last(monkeypatch):
    monkeypatch.setattr(probes, "measure", lambda issue, **_: Measurement((issue() or 0.3, 0.1, 0.2), 1))
    issued, waited = [], []
    assert probes.dispatch(lambda: issued.append(0) or len(issued), waited.append, calls=10) == pytest.approx(0.02)
    assert (len(issued), waited) == (10, [10])
