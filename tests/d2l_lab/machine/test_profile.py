"""The machine profile: when it is measured, when it is read, and what it is made of."""

import errno
import os
import time
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import pytest
from tiny import MACHINE

from d2l_lab.machine import measuring, operations, probes, profile
from d2l_lab.machine.rounds import Figure

FIGURES = dict.fromkeys(("caches", "bandwidth", "latency", "product"), "measured")
FRAMEWORK = dict.fromkeys(("dispatch", "bandwidth", "product"), "measured")


class Machine:
    """A machine that counts how often it is measured."""

    def __init__(self):
        self.facts, self.versions, self.measured = dict(MACHINE), {"torch": "1", "jax": "1"}, []
        self.failing = {}

    def common(self):
        self.measured.append("machine")
        return {
            "format": profile.FORMAT,
            "machine": dict(self.facts),
            "date": "2026-11-21",
            **FIGURES,
            "frameworks": {},
        }

    def part(self, module):
        self.measured.append(module)
        return FRAMEWORK | {"gpus": [], "version": self.versions[module], "failed": dict(self.failing)}

    def again(self, module="torch"):
        self.measured = []
        measuring.main(module)
        return self.measured


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A machine, and a profile in a folder that is not there yet."""
    here = Machine()
    monkeypatch.setenv("D2L_MACHINE_PROFILE", str(tmp_path / "build" / "machine.json"))
    monkeypatch.setattr(profile, "describe", lambda: dict(here.facts))
    for module in (profile, measuring):
        monkeypatch.setattr(module, "version", lambda name: here.versions[name])
    monkeypatch.setattr(measuring, "measure_machine", here.common)
    monkeypatch.setattr(measuring, "measure_framework", here.part)
    monkeypatch.setattr(measuring, "settled", lambda profile, part, module: (profile, part))
    return here


def test_a_section_has_what_it_lacks_measured_once_which_lines_say_and_then_reads(here, monkeypatch, capsys):
    monkeypatch.setattr(profile, "measure_missing", lambda module, path, quiet: measuring.main(module))
    framework = {"version": "1"} | FRAMEWORK
    expected = {"machine": MACHINE, "date": "2026-11-21", **FIGURES, "framework": framework, "gpus": []}
    once = "measuring what this machine can do: once\nmeasuring what this machine can do with torch: once\n"
    for lines in (once, ""):
        assert profile.profile_for("torch") == expected
        assert capsys.readouterr().out == lines


def test_each_framework_measures_what_is_missing_and_after_a_change_what_it_concerns(here):
    everything = (["machine", "torch"], ["jax"])
    assert (here.again("torch"), here.again("jax")) == everything
    for fact in MACHINE:
        here.facts[fact] = "another"
        assert (here.again("torch"), here.again("jax")) == everything
        assert (here.again("torch"), here.again("jax")) == ([], [])
    here.versions["torch"] = "2"
    assert (here.again("torch"), here.again("jax")) == (["torch"], [])
    assert (here.again("torch"), here.again("jax")) == ([], [])


def test_each_state_of_a_machine_keeps_its_profile_and_the_one_of_the_last_measurement_is_on_top(here):
    def top():
        return profile.read(profile.profile_path())["machine"]["gpus"]

    assert here.again("torch") == ["machine", "torch"]
    mine = profile.profile_for("torch")
    here.facts["gpus"] = ["one that is there at times"]
    assert (here.again("torch"), top()) == (["machine", "torch"], here.facts["gpus"])
    here.facts["gpus"] = MACHINE["gpus"]
    assert profile.profile_for("torch") == mine  # read from below, and nothing is measured
    assert (here.again("torch"), top()) == ([], MACHINE["gpus"])
    assert here.again("jax") == ["jax"]
    for number in range(2 * profile.STATES):
        here.facts["memory_gb"] = number
        here.again("torch")
    kept = profile.states(profile.read(profile.profile_path()))
    assert [each["machine"]["memory_gb"] for each in kept] == list(range(15, 7, -1))
    assert not any("others" in each for each in kept)


def test_a_quick_run_measures_what_is_kept_as_any_other_does(here, monkeypatch):
    monkeypatch.setenv("D2L_QUICK", "1")
    monkeypatch.setattr(measuring, "measure_machine", lambda: here.common() | {"caches": os.environ.get("D2L_QUICK")})
    here.again()
    assert profile.profile_for("torch")["caches"] is None


def test_a_product_that_failed_is_told_and_measured_again_after_a_while_and_all_else_stays(here, monkeypatch, capsys):
    monkeypatch.setattr(profile, "measure_missing", lambda module, path, quiet: measuring.main(module))
    d2l = types.SimpleNamespace(cpu=lambda: -1, product=lambda device, n, kind: (device, n, kind))
    asked, line = [], "a product in bfloat16 on the CPU failed, which is tried again later: {}: no room\n"

    def products(prepare, n, kinds):
        asked.append((n, kinds))
        again = ({}, {"bfloat16": "ValueError: no room"}), ({("product", "bfloat16"): "figure"}, {})
        return again[len(asked) > 1]

    monkeypatch.setattr(measuring, "framework", lambda module: d2l)
    monkeypatch.setattr(operations, "products", products)
    monkeypatch.setattr(measuring, "in_rounds", lambda figures: dict.fromkeys(figures, [1.0, 2.0, 4.0]))
    monkeypatch.setitem(FRAMEWORK, "rounds", {"product": {"float32": [1.0]}})
    monkeypatch.setitem(FRAMEWORK, "product", {"float32": 1.0})
    here.failing = {"bfloat16": "MemoryError: no room"}
    before = profile.profile_for("torch")
    assert capsys.readouterr().out.endswith(2 * line.format("MemoryError"))  # the program's, and the reader's
    assert profile.profile_for("torch") == before
    assert (asked, capsys.readouterr().out) == ([], "")
    monkeypatch.setattr(profile, "PAUSE", -60)
    assert profile.profile_for("torch") == before
    assert capsys.readouterr().out.endswith(line.format("ValueError"))
    before["framework"]["product"]["bfloat16"] = 2.0
    for _ in range(2):
        assert profile.profile_for("torch") == before
    assert asked == [(2000, ["bfloat16"])] * 2
    rounds = profile.read(profile.profile_path())["frameworks"]["torch"]["rounds"]
    assert rounds == {"product": {"float32": [1.0], "bfloat16": [1.0, 2.0, 4.0]}}
    assert here.measured == ["machine", "torch"]


NOW = f'{{"format": {profile.FORMAT}, "machine": {{}}, "frameworks": {{}}, "others": '


@pytest.mark.parametrize(
    "damage",
    [
        *("", "[]", "{}", "3", "null", '{"format": 1, "machine": {}, "frameworks": {}}'),
        *(f'{{"format": {profile.FORMAT}}}', NOW + "3}", NOW + "[3]}", NOW + "[{}]}", NOW + "null}"),
    ],
)
def test_a_damaged_profile_is_none_and_is_measured_anew(here, damage):
    here.again()
    path = profile.profile_path()
    path.write_text(damage)
    assert profile.read(path) == {}
    assert here.again() == ["machine", "torch"]
    assert here.again() == []


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("os.replace", "cannot write .*json: .*full; let .* D2L_MACHINE_PROFILE name a file"),
        ("d2l_lab.machine.measuring.measure_framework", "measurement failed: .*full"),
    ],
)
def test_what_failed_is_said_and_the_old_profile_stays(here, monkeypatch, function, words):
    here.again()
    before = profile.profile_path().read_bytes()
    here.versions["torch"] = "2"
    monkeypatch.setattr(function, Mock(side_effect=OSError(errno.ENOSPC, "full")))
    with pytest.raises(SystemExit, match=words):
        here.again()
    assert profile.profile_path().read_bytes() == before


def test_two_programs_at_once_wait_for_each_other_and_lose_nothing(here, monkeypatch):
    def slow(module):
        part = here.part(module)
        time.sleep(0.2)
        here.measured.append("end")
        return part

    monkeypatch.setattr(measuring, "measure_framework", slow)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(measuring.main, ("torch", "jax")))
    machine, first, one_end, second, other_end = here.measured
    assert (machine, one_end, other_end) == ("machine", "end", "end")
    assert {first, second} == set(profile.read(profile.profile_path())["frameworks"]) == {"torch", "jax"}


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("echo noise >&2; echo 'no clock here' >&2; exit 1", "no clock here"),
        ("exit 3", "exit status 3"),
        ("exit 0", "exit status 0"),  # and no profile
        ("exec sleep 60", "the measurement took longer than 1 s"),
        (None, "{} does not start: [Errno 2] No such file or directory: '{}'"),
    ],
)
def test_a_program_that_cannot_measure_is_quoted_in_one_line(here, tmp_path, monkeypatch, program, words):
    python = tmp_path / "python"
    if program:
        python.write_text(f"#!/bin/sh\n{program}\n")
        python.chmod(0o755)
    monkeypatch.setattr(profile, "LONGEST", 1)
    with pytest.raises(RuntimeError) as caught:
        profile.measure_missing("torch", profile.profile_path(), str(python))
    assert str(caught.value) == "no machine profile for torch: " + words.format(python, python)


def test_an_installed_package_keeps_the_profile_in_the_readers_home(tmp_path, monkeypatch):
    monkeypatch.delenv("D2L_MACHINE_PROFILE", raising=False)
    assert profile.profile_path() == Path(__file__).parents[3] / "_build" / "machine.json"
    monkeypatch.setattr(profile, "PACKAGE", tmp_path / "site-packages" / "d2l_lab")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert profile.profile_path() == tmp_path / ".cache" / "d2l" / "machine.json"


def test_each_gpu_is_measured_on_its_own(monkeypatch):
    """A framework with two GPUs, whose devices are numbers, and whose figures are what is measured."""
    d2l = types.SimpleNamespace(
        try_gpu=lambda i=0: i,
        cpu=lambda: -1,
        synchronize=None,
        gpu_names=lambda: ["A", "B"],
        tiny_sum=lambda device: f"sum on {device}",
        memory_passes=lambda device, size: f"{size} bytes on {device}",
        product=lambda device, n, kind: f"{kind} on {device}",
    )
    monkeypatch.setattr(operations, "dispatch", lambda add, synchronize: {("dispatch", "wait"): add})
    monkeypatch.setattr(
        operations,
        "bandwidths",
        lambda passes, sizes: {("bandwidth", level, "copy"): passes(size) for level, size in sizes.items()},
    )
    monkeypatch.setattr(operations, "array_sizes", lambda caches: {"memory": 64})
    monkeypatch.setattr(
        operations,
        "products",
        lambda prepare, n, kinds: ({("product", kind): f"{prepare(n, kind)}, {n} rows" for kind in kinds}, {}),
    )
    monkeypatch.setattr(measuring, "in_rounds", lambda figures: {key: [each] for key, each in figures.items()})
    monkeypatch.setattr(measuring.importlib, "import_module", lambda name: d2l)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    part = measuring.measure_framework("torch")
    *gpus, cpu = [
        {
            "dispatch": {"wait": f"sum on {max(i, 0)}"},
            "bandwidth": {level: {"bytes": n, "copy": f"{n} bytes on {i}"} for level, n in sizes.items()},
            "product": {kind: f"{kind} on {i}, {rows} rows" for kind in measuring.KINDS},
            "failed": {},
        }
        for i, sizes, rows in (
            (0, operations.GPU_ARRAYS, 8192),
            (1, operations.GPU_ARRAYS, 8192),
            (-1, {"memory": 64}, 2000),
        )
    ]
    rounds = [gpu.pop("rounds") for gpu in part["gpus"]]
    assert [each["dispatch"] for each in rounds] == [{"wait": ["sum on 0"]}, {"wait": ["sum on 1"]}]
    assert part["gpus"] == [{"name": name} | gpu for name, gpu in zip("AB", gpus, strict=True)]
    assert {key: part[key] for key in cpu} == cpu


def test_the_machines_figures_are_medians_of_their_rounds_which_are_kept_beside_them(monkeypatch):
    monkeypatch.setattr(probes, "triad_bandwidth", lambda threads, length: Figure(None))
    monkeypatch.setattr(probes, "latency", lambda size: Figure(None))
    monkeypatch.setattr(probes, "numpy_product", lambda n: Figure(None))
    monkeypatch.setattr(measuring, "in_rounds", lambda figures: dict.fromkeys(figures, [3.0, 9.0, 4.0]))
    found = measuring.measure_machine()
    assert (found["bandwidth"], found["product"]) == ({"one core": 4.0, "all cores": 4.0}, {"float32": 4.0})
    assert found["latency"] == {str(size): 4.0 for size in probes.WORKING_SETS}
    assert found["rounds"]["product"] == {"float32": [3.0, 9.0, 4.0]}
    assert {*profile.COMMON} <= found.keys()


def contradicting(triad, in_place):
    profile = {"bandwidth": {"all cores": triad}, "rounds": {"bandwidth": {"all cores": [triad] * 3}}}
    rounds = {"bandwidth": {"memory": {"in place": [in_place] * 3}}}
    return profile, {"bandwidth": {"memory": {"bytes": 64, "in place": in_place}}, "rounds": rounds}


def test_a_pass_in_place_far_above_the_triad_is_measured_again_with_it_and_all_rounds_count(monkeypatch):
    d2l = types.SimpleNamespace(cpu=lambda: -1, memory_passes=lambda device, size: {"in place": (device, size)})
    asked = []

    def in_rounds(figures):
        asked.extend(figures.items())
        return {path: [50.0, 60.0, 70.0] if "memory" in path else [45.0, 50.0, 48.0] for path in figures}

    monkeypatch.setattr(measuring, "framework", lambda module: d2l)
    monkeypatch.setattr(measuring, "in_rounds", in_rounds)
    monkeypatch.setattr(probes, "all_cores_bandwidth", lambda: "triad")
    monkeypatch.setattr(
        operations,
        "bandwidths",
        lambda passes, sizes: {("bandwidth", "memory", name): each for name, each in passes(sizes["memory"]).items()},
    )
    for consistent in (contradicting(64.0, 96.0), contradicting(64.0, 20.0)):
        assert measuring.settled(*consistent, "torch") == consistent
    assert asked == []
    before = contradicting(46.0, 96.0)
    profile, part = measuring.settled(*before, "torch")
    assert asked == [(("bandwidth", "memory", "in place"), (-1, 64)), (("bandwidth", "all cores"), "triad")]
    assert (profile["bandwidth"]["all cores"], part["bandwidth"]["memory"]["in place"]) == (46.0, 83.0)
    assert part["rounds"]["bandwidth"]["memory"]["in place"] == [96.0, 96.0, 96.0, 50.0, 60.0, 70.0]
    assert before == contradicting(46.0, 96.0)
