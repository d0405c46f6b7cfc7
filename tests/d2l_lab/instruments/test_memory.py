"""Memory that a function needs, counted by the operating system or by whatever counters there are."""

import gc
import json
import mmap
import os
import platform
import subprocess
import sys
from time import sleep

import numpy as np
import pytest

from book import ROOT
from d2l_lab.instruments.memory import (
    Memory,
    course_with,
    memory_with,
    new_pages,
    process_counters,
    usual_thresholds,
)
from d2l_lab.protocol import Counters

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


def test_garbage_of_before_is_not_freed_meanwhile_and_so_not_counted():
    older = [np.ones(8 * MB)]
    older.append(older)
    del older

    def collecting():
        gc.collect()
        return two_of_three()

    assert memory_with(COUNTERS, collecting, nothing).kept == pytest.approx(64 * MB, rel=0.1)


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


# A step takes three arrays and frees them; a text is filled by its own process, and never lies in large pages unseen.
STEPS = """
import json, resource
from d2l_lab.instruments.memory import keep_freed_memory

def faults(size=24 * 2**20, steps=5):
    for step in range(steps + 2):
        if step == 2:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        arrays = [b"x" * size for _ in range(3)]
        del arrays
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

found = {"before": faults(), "small before": faults(2**21)}
found["changes"] = [keep_freed_memory(keep) for keep in (False, True, True)]
found["kept"] = faults()
found["changes"].append(keep_freed_memory(False))
found |= {"after": faults(), "small after": faults(2**21)}
print(json.dumps(found))
"""
NOT_GLIBC = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc alone can be told what to keep")


def faults(**settings):
    """Return the page faults of five steps before freed memory is kept, while it is, and afterwards."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MALLOC_", "GLIBC_TUN"))}
    command = [sys.executable, "-c", STEPS]
    done = subprocess.run(command, cwd=ROOT, env=environment | settings, capture_output=True, text=True, timeout=100)
    return json.loads(done.stdout)


@NOT_GLIBC
def test_freed_memory_is_kept_until_it_is_to_be_as_usual_again():
    found = faults()
    assert found["changes"] == [False, True, False, True]
    most = max(found["before"], found["after"]) / 4  # of those that remain; a page has 4 KiB, or 2 MiB at most
    assert min(found["before"], found["after"]) > 5 * 36 / 2
    assert found["kept"] < min(most, 5 * 36 / 4)


@NOT_GLIBC
@pytest.mark.parametrize(
    "settings",
    [
        {"MALLOC_MMAP_THRESHOLD_": "0x100000"},  # the smaller arrays, too, get new pages
        {"GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=268435456"},  # all stay
    ],
)
def test_thresholds_of_the_environment_hold_again_afterwards(settings):
    found = faults(**settings)
    for size in ("", "small "):
        assert (found[f"{size}before"] > 45) == (found[f"{size}after"] > 45), found
    assert (found["small before"] > 45) == ("MALLOC_MMAP_THRESHOLD_" in settings)


@pytest.mark.parametrize(
    ("environment", "trim", "mmap"),
    [
        ({}, 2**26, 2**25),
        ({"MALLOC_ARENA_MAX": "1", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}, 2**26, 2**25),
        ({"MALLOC_TRIM_THRESHOLD_": "0x100"}, 256, 2**17),
        ({"MALLOC_TRIM_THRESHOLD_": "0", "GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=9"}, 0, 9),
        ({"MALLOC_TOP_PAD_": "4096"}, 2**17, 2**17),
        ({"MALLOC_TRIM_THRESHOLD_": "much", "GLIBC_TUNABLES": ":"}, 2**26, 2**25),
    ],
)
def test_thresholds_are_those_of_the_environment_or_the_most_that_glibc_sets_itself(environment, trim, mmap):
    assert usual_thresholds(environment) == [(-1, trim), (-3, mmap)]


@pytest.mark.skipif(platform.system() != "Linux", reason="the test knows how Linux counts new pages")
def test_new_pages_are_those_of_memory_that_every_call_maps_anew_and_kept_memory_has_none():
    kept = bytearray(16 * MB)

    def map_anew():
        memory = mmap.mmap(-1, 16 * MB)
        memory.write(kept)

    pages, seconds = new_pages(map_anew)
    assert 16 * MB / pages == pytest.approx(mmap.PAGESIZE, rel=0.1)
    assert seconds > 0
    pages, _ = new_pages(lambda: memoryview(kept)[:1])
    assert pages < 100
