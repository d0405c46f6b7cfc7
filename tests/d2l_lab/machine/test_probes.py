"""The loops that measure compute what they should, and figures count what is done in the fastest run."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from d2l_lab.instruments.timing import Measurement
from d2l_lab.machine import probes
from d2l_lab.machine.probes import chase, lay_ring, triad


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


def test_the_threads_of_the_triad_share_the_arrays_and_24_bytes_an_element_count(monkeypatch):
    moved = []
    monkeypatch.setattr(probes, "triad", lambda a, b, c, s: moved.append(a.size))
    monkeypatch.setattr(probes, "fastest", lambda function: len(function()))  # as many seconds as threads
    assert probes.triad_bandwidth(3, 1000) == 24 * 1000 * 4 / 3  # four passes
    assert sorted(moved) == [333] * 8 + [334] * 4


def test_numpys_product_counts_2_flops_a_pair_and_has_a_thread_for_each_usable_core_whatever_the_environment_says():
    code = """
from threadpoolctl import threadpool_info
from d2l_lab.machine import probes
probes.cores = lambda: 3
probes.fastest = lambda product: print({pool["num_threads"] for pool in threadpool_info()}) or 2.0
print(probes.numpy_product(10))
"""
    single = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, env=single, capture_output=True, text=True)
    assert done.stdout == "{3}\n1000.0\n", done.stderr


@pytest.fixture
def _returned_seconds(monkeypatch):
    """A function returns the seconds that its fastest run is to take."""
    monkeypatch.setattr(probes, "measure", lambda run, **_: Measurement((3 * run(), run(), 2 * run()), 1))


@pytest.mark.usefixtures("_returned_seconds")
@pytest.mark.parametrize(
    ("seconds", "measured"),
    [
        ({"float32": {8: 0.01}, "bfloat16": {1: 0.0001, 8: 0.01}}, {"float32": 0.01, "bfloat16": 0.01}),
        ({"float32": {8: 0.03}, "bfloat16": {1: 0.0001, 8: 0.03}}, {"float32": 0.03}),  # the product lasts too long
        ({"bfloat16": {1: 0.001, 8: 0.01}}, {}),  # the small product says so
    ],
)
def test_float32_is_measured_always_and_other_kinds_of_number_if_they_are_there_and_fast(seconds, measured):
    rates, failed = probes.product_rates(lambda n, kind: lambda: seconds[kind][n], 8, seconds, longest=0.02)
    assert rates == {kind: pytest.approx(2 * 8**3 / taken) for kind, taken in measured.items()}
    assert failed == {}


@pytest.mark.usefixtures("_returned_seconds")
def test_a_product_that_fails_is_recorded_with_its_error_in_a_line_unless_the_framework_has_none_such():
    errors = {"bfloat16": MemoryError("no  room\nfor it"), "float16": NotImplementedError("none"), "int8": ValueError()}

    def prepare(n, kind):
        if kind in errors:
            raise errors[kind]
        return lambda: 0.0001 * n

    rates, failed = probes.product_rates(prepare, 8, ["float32", *errors, "float64"], longest=0.02)
    assert list(rates) == ["float32", "float64"]
    assert failed == {"bfloat16": "MemoryError: no room for it", "int8": "ValueError:"}


@pytest.mark.usefixtures("_returned_seconds")
def test_a_bandwidth_counts_each_pass_over_the_array_and_leaves_out_the_time_of_one_number():
    def passes(size):
        return {"copy": (lambda: 1 + size, 2), "in place": (lambda: 3 + size, 3)}

    found = probes.bandwidths(passes, {"L2": 104, "memory": 1004})
    copied, scaled = pytest.approx(2 * 1004 / 1000), pytest.approx(3 * 1004 / 1000)
    assert found["memory"] == {"bytes": 1004, "copy": copied, "in place": scaled}
    assert list(found) == ["L2", "memory"]


@pytest.mark.parametrize(
    ("l2", "l3", "sizes"),
    [
        (None, None, (2**18, 2**23, 2**28)),
        (2**19, 2**25, (2**18, 2**23, 2**27)),
        (2**20, 2**29, (2**19, 2**25, 2**28)),  # a very large L3
        (2**21, 2**24, (2**20, 2**23, 2**26)),  # a large L2
        (2**22, None, (2**21, 2**23, 2**28)),
    ],
)
def test_the_arrays_fit_into_the_caches_that_the_system_reports(l2, l3, sizes):
    found = {1: 2**15, 2: l2, 3: l3}
    caches = [{"level": level, "kind": "unified", "bytes": size} for level, size in found.items() if size]
    assert tuple(probes.array_sizes(caches).values()) == sizes
