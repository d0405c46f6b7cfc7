"""Memory that a function needs, in bytes of this framework's arrays."""

import os
import subprocess
import sys

import numpy as np
import pytest

UNIT = 4 * 2**22  # bytes of the array below


@pytest.fixture(scope="module")
def one(native, d2l):
    """A function that returns a new array of UNIT bytes, called once before."""
    source = native.put(d2l.try_gpu(), np.ones(UNIT // 4, "float32"))

    def make():
        return source + 1

    d2l.synchronize(make())
    return make


def test_results_are_kept_the_peak_is_not_below_them_and_the_course_reaches_it(d2l, one):
    memory = d2l.memory_of(one)
    assert memory.kept == pytest.approx(UNIT, rel=0.1)
    assert UNIT * 0.9 < memory.peak < 2.2 * UNIT
    assert d2l.memory_of(lambda: [one(), one()]).kept == pytest.approx(2 * UNIT, rel=0.1)
    seconds, in_use = d2l.memory_over_time(lambda: [one() for _ in range(8)])
    assert len(seconds) == len(in_use)
    assert max(in_use) > 6 * UNIT


@pytest.mark.only("tensorflow")
def test_without_onednn_whose_allocator_counts_the_system_counts():
    program = """
import tensorflow as tf
from d2l_utils import tensorflow as d2l
x = tf.ones(2**22)
print(d2l.memory_of(lambda: x + 1).kept)
"""
    settings = os.environ | {"TF_ENABLE_ONEDNN_OPTS": "0"}
    done = subprocess.run([sys.executable, "-c", program], env=settings, capture_output=True, text=True, timeout=100)
    assert int(done.stdout) == pytest.approx(UNIT, rel=0.1), done.stderr
