"""The loops that measure compute what they should, and figures count what is done."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

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
    figure = probes.triad_bandwidth(3, 1000)
    figure.call()
    assert sorted(moved) == [333] * 8 + [334] * 4  # four passes
    assert figure.of(2.0) == 24 * 1000 * 4 / 2


def test_each_call_of_a_latency_goes_on_where_the_last_one_ended(monkeypatch):
    places = []
    monkeypatch.setattr(probes, "chase", lambda ring, place, steps: places.append((place, steps)) or place + 8)
    figure = probes.latency(2**10)
    for _ in range(3):
        figure.call()
    assert places == [(0, 2**21), (8, 2**21), (16, 2**21)]
    assert figure.of(2.0) == 2**-20


def test_numpys_product_counts_2_flops_a_pair_and_has_a_thread_for_each_usable_core_whatever_the_environment_says():
    code = """
import numpy
from threadpoolctl import threadpool_info
from d2l_lab.machine import probes
probes.cores = lambda: 3
figure = probes.numpy_product(10)
numpy.matmul = lambda *_, out: print({pool["num_threads"] for pool in threadpool_info()})
figure.call()
print(figure.of(2.0))
"""
    single = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, env=single, capture_output=True, text=True)
    assert done.stdout == "{3}\n1000.0\n", done.stderr
