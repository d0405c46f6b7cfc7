"""Memory that a function needs, counted by the operating system or by whatever counters there are."""

from time import sleep

import numpy as np
import pytest

from d2l_utils.memory import Counters, Memory, course_with, memory_with, process_counters

MB = 2**20
COUNTERS = process_counters()


def nothing():
    """There is nothing to wait for."""


def two_of_three():
    """Fill 96 MiB, hold them until a sampling thread has had its turn on a busy machine, and return 64."""
    arrays = [np.ones(4 * MB) for _ in range(3)]
    sleep(0.3)
    return arrays[:2]


def test_the_peak_and_what_the_result_keeps_are_told_apart_and_memory_that_was_freed_counts_again():
    memory = memory_with(COUNTERS, two_of_three, nothing)
    assert memory.peak == pytest.approx(96 * MB, rel=0.1)
    assert memory.kept == pytest.approx(64 * MB, rel=0.1)
    for _ in range(3):
        assert memory_with(COUNTERS, two_of_three, nothing).peak == pytest.approx(96 * MB, rel=0.1)


def test_the_wait_belongs_to_what_is_measured():
    asked, late = [], []

    def wait():
        if asked and not late:
            late.append(np.ones(4 * MB))

    assert memory_with(COUNTERS, lambda: asked.append(1), wait).kept == pytest.approx(32 * MB, rel=0.1)


def test_a_frameworks_counters_are_read_in_order():
    calls = []

    def counter(name, values):
        def read():
            calls.append(name)
            return values.pop(0)

        return read

    counters = Counters(counter("current", [100, 130]), lambda: calls.append("reset"), counter("peak", [170]))
    assert memory_with(counters, lambda: calls.append("function"), lambda: calls.append("wait")) == Memory(70, 30)
    assert calls == ["wait", "wait", "reset", "current", "function", "wait", "wait", "peak", "current"]


def test_the_course_begins_at_nothing_and_reaches_the_peak_and_an_error_ends_its_reader():
    seconds, in_use = course_with(COUNTERS, two_of_three, nothing)
    assert seconds == sorted(seconds)
    assert seconds[0] == in_use[0] == 0
    assert max(in_use) > 64 * MB

    def fails():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        course_with(COUNTERS, fails, nothing)
