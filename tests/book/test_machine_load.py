"""How busy other programs keep the processors. The figures of the system are made up."""

import pytest

from book import machine_load


def test_a_watch_tells_the_share_of_the_cores_that_others_kept_busy(monkeypatch):
    used = iter([3.0, 3.0 + 0.5 * 10])
    monkeypatch.setattr(machine_load, "used_by_others", lambda: next(used))
    monkeypatch.setattr(machine_load.time, "monotonic", iter([100.0, 110.0]).__next__)
    monkeypatch.setattr(machine_load, "taken", lambda used, seconds: used / seconds)
    monkeypatch.setattr(machine_load, "cores", lambda: 2)
    assert machine_load.Watch().busy() == 0.25


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
