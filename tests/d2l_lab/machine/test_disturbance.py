"""What is seen of others while something is measured."""

import os
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from d2l_lab.machine import disturbance
from d2l_lab.machine.disturbance import Disturbance, observing

BUSY = "import time\nend = time.monotonic() + {}\nwhile time.monotonic() < end: pass"


@pytest.fixture
def quiet(monkeypatch):
    """A clock in a list, on a machine of two cores without any other program whose reference takes 1 and 2 ms."""
    now, parts = [100.0], {"pass": 0.001, "product": 0.002}

    def reference():
        now[0] += 0.003
        return dict(parts)

    monkeypatch.delenv("D2L_QUICK", raising=False)
    monkeypatch.setattr(disturbance.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(disturbance, "reference", reference)
    monkeypatch.setattr(disturbance, "_figure", dict(parts))
    monkeypatch.setattr(disturbance, "used_by_others", lambda: 0.0)
    monkeypatch.setattr(disturbance, "cores", lambda: 2)
    monkeypatch.setattr(disturbance, "usable", lambda: [0, 1])
    return SimpleNamespace(now=now, parts=parts)


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (Disturbance(), ""),
        (Disturbance(0.2, 2, 0.75), ""),
        (Disturbance(0.81, 2), "other programs took 0.8 of 2 cores"),
        (Disturbance(0.3, 1), "other programs took 0.3 of 1 core"),
        (Disturbance(0.0, 2, 0.6), "the machine ran at 0.6 of its pace"),
        (Disturbance(2.0, 2, 0.749), "other programs took 2.0 of 2 cores, and the machine ran at 0.75 of its pace"),
    ],
)
def test_a_disturbance_begins_above_a_tenth_of_the_cores_or_below_three_quarters_of_the_pace(seen, words):
    assert (seen.disturbed, seen.words()) == (words != "", words)
    assert seen.words(lambda text, **fields: text.format(**fields).upper()) == words.upper()


@pytest.mark.parametrize(
    ("seen", "times"),
    [
        (Disturbance(), 1.0),
        (Disturbance(0.5, 2, 0.8), 4 / 3),
        (Disturbance(0.5, 2, 0.5), 2.0),
        (Disturbance(2.0, 2, 0.9), float("inf")),
        (Disturbance(0.0, 2, 1.25), 1.0),
    ],
)
def test_a_disturbance_lengthens_a_time_by_the_cores_that_were_left_or_by_the_pace(seen, times):
    assert seen.factor == pytest.approx(times)


def run_beside(command, seconds):
    """Observe for so many seconds of our own work while a shell runs a command."""
    with subprocess.Popen(["sh", "-c", command, sys.executable, BUSY.format(seconds + 1)]) as shell:
        time.sleep(0.2)
        with observing() as seen:
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                pass
        shell.terminate()
    return seen.disturbance


def test_our_own_children_are_no_others_and_a_stranger_is(monkeypatch):
    """The same loop, in another program and in a child, however busy the machine is."""
    monkeypatch.delenv("D2L_QUICK", raising=False)
    family = run_beside('exec "$0" -c "$1"', 0.7)
    strangers = run_beside('"$0" -c "$1" & exec sleep 0', 0.7)  # its parent is gone
    assert strangers.others > 0.5
    assert family.others < strangers.others or family.others > 0.9 * family.cores


def test_of_the_processor_time_ours_our_descendants_and_that_of_those_waited_for_does_not_count(monkeypatch):
    times = [SimpleNamespace(user=5.0, nice=1.0, system=1.0, idle=90.0, steal=0.5)] * 3
    gone = SimpleNamespace(cpu_times=lambda: (_ for _ in ()).throw(disturbance.psutil.NoSuchProcess(1)))
    child = SimpleNamespace(cpu_times=lambda: (1.0, 0.5, 0.25, 0.25, 9.0))
    process = SimpleNamespace(children=lambda recursive: [child, gone] if recursive else [])
    monkeypatch.setattr(disturbance.psutil, "cpu_times", lambda percpu: times)
    monkeypatch.setattr(disturbance.psutil, "Process", lambda: process)
    monkeypatch.setattr(disturbance, "usable", lambda: [0, 1])
    monkeypatch.setattr(disturbance.os, "times", lambda: (1.0, 1.0, 3.0, 1.0, 1000.0))
    assert disturbance.used_by_others() == 2 * 7.5 - 6 - 2


@pytest.mark.parametrize(
    ("cpus", "cores", "used", "found"),
    [
        (2, 2, 0, 0),
        (2, 2, 5, 0.5),  # half a core for ten seconds
        (2, 2, 30, 2),
        (2, 2, -0.1, 0),
        (64, 2, 300, 0),  # a container with two cores of 64, of which others use 30
        (64, 2, 630, 1),
    ],
)
def test_others_take_what_is_left_of_the_cores_that_this_process_may_use(monkeypatch, cpus, cores, used, found):
    monkeypatch.setattr(disturbance, "usable", lambda: list(range(cpus)))
    monkeypatch.setattr(disturbance, "cores", lambda: cores)
    assert disturbance.taken(used, 10) == found


@pytest.mark.parametrize(
    ("seconds", "used", "found"),
    [
        (0.29, 0.29, Disturbance()),  # too short to tell by ticks
        (1.0, 0.04, Disturbance(0.0, 2)),  # four ticks
        (1.0, 0.9, Disturbance(0.9, 2)),
    ],
)
def test_others_are_counted_from_three_tenths_of_a_second_and_five_ticks_on(quiet, monkeypatch, seconds, used, found):
    taken = iter([5.0, 5.0 + used])
    monkeypatch.setattr(disturbance, "used_by_others", lambda: next(taken))
    with observing() as seen:
        quiet.now[0] += seconds
    assert (seen.disturbance.others, seen.disturbance.cores) == (pytest.approx(found.others), found.cores)


@pytest.mark.parametrize(("part", "slower"), [("pass", 2), ("product", 5), ("pass", 1)])
def test_a_slowed_part_of_the_reference_is_the_pace(quiet, part, slower):
    with observing() as seen:
        quiet.parts[part] *= slower
        quiet.now[0] += 1
    assert seen.disturbance == Disturbance(0.0, 2, pytest.approx(1 / slower))


def test_one_slow_reference_of_three_is_no_slow_machine(quiet):
    with observing() as seen:
        quiet.now[0] += 1
        quiet.parts["pass"] *= 9
        seen.tick()
        quiet.parts["pass"] /= 9
    assert seen.disturbance.pace == pytest.approx(1)


@pytest.mark.parametrize(("seconds", "rounds", "most"), [(0.01, 5, 0), (0.01, 1000, 24), (0.3, 10, 8), (1.0, 10, 12)])
def test_references_take_a_twentieth_of_a_stretch_at_most_and_are_half_a_second_apart(quiet, seconds, rounds, most):
    with observing() as seen:
        start = quiet.now[0]
        for _ in range(rounds):
            seen.tick()
            quiet.now[0] += seconds
        length = quiet.now[0] - start
    spent = quiet.now[0] - start - rounds * seconds
    assert spent <= length / 20 + 1e-9
    assert most / 2 <= round(spent / 0.003) <= most


def test_without_todays_figure_the_first_long_stretch_has_it(quiet, monkeypatch):
    monkeypatch.setattr(disturbance, "_figure", {})
    quiet.parts["pass"] = 0.003
    for seconds in (0.1, 1, 1):
        with observing() as seen:
            quiet.now[0] += seconds
        assert seen.disturbance.pace == 1
        assert bool(disturbance._figure) is (seconds == 1)
    quiet.parts["pass"] = 0.006
    with observing() as seen:
        quiet.now[0] += 1
    assert seen.disturbance.pace == 0.5


def test_a_quick_run_observes_nothing(quiet, monkeypatch):
    monkeypatch.setenv("D2L_QUICK", "1")
    monkeypatch.setattr(disturbance, "used_by_others", None)
    with observing() as seen:
        quiet.now[0] += 10
        seen.tick()
    assert seen.disturbance == Disturbance()
    assert quiet.now[0] == 110


def test_the_reference_computes_in_the_calling_thread_alone():
    disturbance.reference()
    own, all_threads = time.thread_time(), sum(os.times()[:2])
    for _ in range(30):
        found = disturbance.reference()
    own, all_threads = time.thread_time() - own, sum(os.times()[:2]) - all_threads
    assert all_threads < 1.5 * own + 0.03
    assert all(0 < seconds < 1 for seconds in found.values())
