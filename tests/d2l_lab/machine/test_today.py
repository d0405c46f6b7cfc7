"""Today's machine: which figures are measured again, and what takes their place."""

import copy
from types import SimpleNamespace

import pytest

from d2l_lab.machine import disturbance, rounds, today

KEPT = {
    "caches": "kept",
    "framework": {
        "version": "1",
        "dispatch": {"issue": 1e-6, "wait": 2e-6},
        "bandwidth": {"L2": {"bytes": 4, "copy": 9.0}, "memory": {"bytes": 400, "copy": 8000.0, "in place": 8000.0}},
        "product": {"float32": 1e12},
    },
    "gpus": [],
}
GPU = {
    "name": "A",
    "dispatch": {"issue": 1e-6, "wait": 2e-6},
    "bandwidth": {"memory": {"bytes": 400, "copy": 8000.0, "in place": 8000.0}},
    "product": {"float32": 1e14, "bfloat16": 1e15},
}


@pytest.fixture
def framework(monkeypatch):
    """A framework on a machine whose clock goes on by what its operations take, which may be changed."""
    now, seconds = [0.0], {"sum": 2e-6, "copy": 0.1, "in place": 0.1, "float32": 0.016, "bfloat16": 0.016}
    done = []

    def takes(name, device):
        def call():
            done.append((name, device))
            if isinstance(seconds[name], Exception):
                raise seconds[name]
            now[0] += seconds[name]

        return call

    for module, name in ((today.time, "monotonic"), (disturbance.time, "perf_counter")):
        monkeypatch.setattr(module, name, lambda: now[0])
    monkeypatch.setattr(rounds.timeit.timeit, "__defaults__", ("pass", "pass", lambda: now[0], 1, None))
    monkeypatch.setattr(today, "reference", lambda: {"pass": 0.003})
    monkeypatch.setattr(disturbance, "reference", lambda: {"pass": 0.003})
    monkeypatch.setattr(disturbance, "_figure", {"pass": 99.0})
    monkeypatch.setattr(disturbance, "used_by_others", lambda: 0.0)
    return SimpleNamespace(
        seconds=seconds,
        now=now,
        done=done,
        try_gpu=lambda i: i,
        cpu=lambda: -1,
        synchronize=lambda *_: None,
        tiny_sum=lambda device: takes("sum", device),
        memory_passes=lambda device, size: {name: (takes(name, device), 2) for name in ("copy", "in place")},
        product=lambda device, n, kind: done.append((n, device)) or takes(kind, device),
    )


def test_dispatch_memory_and_products_are_todays_and_all_else_is_kept(framework):
    before = copy.deepcopy(KEPT)
    found = today.measure_today(framework, KEPT)
    assert before == KEPT
    part = found.machine["framework"]
    assert part["dispatch"] == {"issue": pytest.approx(2e-6), "wait": pytest.approx(2e-6)}
    assert part["bandwidth"]["memory"] == {"bytes": 400, "copy": pytest.approx(8000), "in place": pytest.approx(8000)}
    assert part["product"] == {"float32": pytest.approx(1e12)}
    assert (part["version"], part["bandwidth"]["L2"], found.machine["caches"]) == ("1", {"bytes": 4, "copy": 9}, "kept")
    assert [(each.path, each.device) for each in found.changes] == [(("dispatch", "issue"), "")]
    assert found.failed == {}


@pytest.mark.parametrize(("seconds", "told"), [(0.1 / 1.29, False), (0.1 / 1.31, True), (0.129, False), (0.131, True)])
def test_a_change_by_more_than_three_tenths_is_told(framework, seconds, told):
    framework.seconds["copy"] = seconds
    found = today.measure_today(framework, KEPT)
    changes = {each.path: each for each in found.changes}
    assert (("bandwidth", "memory", "copy") in changes) is told
    if told:
        change = changes["bandwidth", "memory", "copy"]
        assert (change.today, change.kept) == (pytest.approx(800 / seconds), 8000.0)


def test_the_first_gpu_has_todays_figures_too(framework):
    kept = KEPT | {"gpus": [GPU, copy.deepcopy(GPU) | {"name": "B"}]}
    framework.seconds |= {"copy": 0.01, "in place": 0.01}
    found = today.measure_today(framework, kept)
    assert found.machine["gpus"][0]["bandwidth"]["memory"]["copy"] == pytest.approx(80000)
    assert found.machine["gpus"][1] == kept["gpus"][1]
    assert {device for name, device in framework.done if name == "copy"} == {-1, 0}
    assert {device for name, device in framework.done if name == "sum"} == {0}
    assert {each.device for each in found.changes} == {"", "A"}


@pytest.mark.parametrize(("rate", "rows"), [(1e12, 2000), (2e11, 2000), (1.9e11, 1000), (1e9, 250)])
def test_a_product_is_smaller_where_it_would_last_too_long(framework, rate, rows):
    kept = copy.deepcopy(KEPT)
    kept["framework"]["product"]["float32"] = rate
    today.measure_today(framework, kept)
    assert (rows, -1) in framework.done


def test_the_time_is_limited_and_what_was_not_reached_is_kept(framework):
    framework.seconds["copy"] = 0.5
    found = today.measure_today(framework, KEPT)
    assert found.machine["framework"]["bandwidth"]["memory"]["copy"] == pytest.approx(1600)
    assert found.machine["framework"]["bandwidth"]["memory"]["in place"] == 8000.0


def test_what_fails_is_named_and_kept(framework):
    framework.seconds["in place"] = MemoryError("no room")
    found = today.measure_today(framework, KEPT)
    assert found.failed == {"": "MemoryError: no room"}
    assert found.machine["framework"]["product"] == KEPT["framework"]["product"]


def test_the_pace_of_later_measurements_is_set_beside_todays_reference(framework):
    today.measure_today(framework, KEPT)
    assert disturbance._figure == {"pass": 0.003}
