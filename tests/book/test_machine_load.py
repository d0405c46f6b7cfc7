"""How busy other programs keep the processors. The figures of the system are made up."""

from types import SimpleNamespace

import pytest

from book import machine_load


@pytest.mark.parametrize(
    ("cpus", "cores", "used", "busy"),
    [
        (2, 2, 0, 0),
        (2, 2, 5, 0.25),  # half a core for ten seconds
        (2, 2, 20, 1),
        (2, 2, 30, 1),
        (2, 2, -0.1, 0),
        (64, 2, 300, 0),  # a container with two cores of 64, of which others use 30
        (64, 2, 630, 0.5),
    ],
)
def test_others_take_what_is_left_of_the_cores_that_a_notebook_may_use(monkeypatch, cpus, cores, used, busy):
    monkeypatch.setattr(machine_load, "usable", lambda: list(range(cpus)))
    monkeypatch.setattr(machine_load, "cores", lambda: cores)
    assert machine_load.share(used, 10) == busy


def test_only_other_programs_on_cpus_that_we_may_use_count(monkeypatch):
    monkeypatch.setattr(machine_load, "usable", lambda: [0, 1])
    times = [SimpleNamespace(user=5.0, nice=1.0, system=1.0, idle=90.0, steal=0.5)] * 3
    monkeypatch.setattr(machine_load.psutil, "cpu_times", lambda percpu: times)
    monkeypatch.setattr(machine_load.os, "times", lambda: (1.0, 1.0, 3.0, 1.0, 1000.0))
    assert machine_load.used_by_others() == 2 * 7.5 - 6


@pytest.mark.parametrize(
    ("busy", "programs", "said"),
    [
        (0.1, {"tune": 0.4}, ""),
        (0.5, {"tune": 0.4, "idle": 0.0}, "other programs (tune) keep 50% of the processors busy: times will be rough"),
        (0.5, {}, "other programs, which cannot be seen from here, keep 50% of the processors busy"),
    ],
)
def test_a_line_says_who_disturbs_if_it_is_enough(monkeypatch, capsys, busy, programs, said):
    looks = iter([{}, {(number, name): taken for number, (name, taken) in enumerate(programs.items())}])
    monkeypatch.setattr(machine_load, "cpu_seconds", lambda: next(looks))
    monkeypatch.setattr(machine_load.Watch, "busy", lambda self: busy)
    monkeypatch.setattr(machine_load.time, "sleep", lambda seconds: None)
    machine_load.warn_of_others()
    found = capsys.readouterr().out
    assert found.startswith(said)
    assert bool(found) == bool(said)
