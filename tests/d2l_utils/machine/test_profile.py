"""The kept of this machine: when it is measured, when it is read, and what it is made of."""

import ast
import json
import os
import subprocess
import sys
import threading
import types
from pathlib import Path

import pytest
from tiny import MACHINE

from d2l_utils.machine import measuring, profile, system

ROOT = Path(__file__).parents[3]
FIGURES = {
    "caches": [{"level": 1, "kind": "data", "bytes": 49152, "shared_by": 1}],
    "bandwidth": {"one core": 1.7e10, "all cores": 3.2e10},
    "latency": {"16384": 1.2e-9, "268435456": 1.7e-7},
    "product": {"float32": 3.6e11},
}
PART = {"dispatch": 7.7e-7, "product": {"float32": 2.8e11}, "gpus": []}
DAMAGED = ["", "[]", "{}", "3", "null", '{"form": 1}', '{"machine', '{"seal": 1}', '{"machine": {}, "frameworks": 3}']


class Machine:
    """A machine that counts how often it is measured."""

    def __init__(self):
        self.facts, self.versions, self.measured = dict(MACHINE), {"torch": "1", "jax": "1"}, []

    def common(self, _):
        self.measured.append("machine")
        facts = {"code": profile.code(*profile.MEASURING), "machine": dict(self.facts), "date": "2026-11-21"}
        return facts | FIGURES | {"frameworks": {}}

    def part(self, _, module):
        self.measured.append(module)
        return PART | {"code": profile.code(module), "version": self.versions[module], "date": "2026-11-21"}

    def again(self, module="torch"):
        """Return what one more run of the program measures."""
        self.measured.clear()
        measuring.main(module)
        return self.measured


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A machine, a kept in a folder that is not there yet, and a copy of the code that measures."""
    here = Machine()
    monkeypatch.setenv("D2L_MACHINE_PROFILE", str(tmp_path / "build" / "machine.json"))
    monkeypatch.setattr(profile, "describe", lambda: dict(here.facts))
    monkeypatch.setattr(profile, "version", lambda module: here.versions[module])
    monkeypatch.setattr(profile, "HERE", tmp_path)
    monkeypatch.setattr(measuring, "load_probes", lambda: None)
    monkeypatch.setattr(measuring, "measure_machine", here.common)
    monkeypatch.setattr(measuring, "measure_framework", here.part)
    for module in (*profile.MEASURING, "torch", "jax"):
        (tmp_path / f"{module}.py").write_text(f'"""A module."""\nname = "{module}"\n')
    return here


# When a kept is measured


def test_the_program_measures_once_and_says_so_and_a_section_then_reads(here, capsys):
    assert here.again() == ["machine", "torch"]
    assert capsys.readouterr().out == "measuring what this machine can do with torch: once\n"
    assert here.again() == []
    assert profile.profile_for("torch") == {
        "machine": MACHINE,
        "date": "2026-11-21",
        **FIGURES,
        "framework": {"version": "1", "dispatch": 7.7e-7, "product": {"float32": 2.8e11}},
        "gpus": [],
    }
    assert capsys.readouterr().out == ""


def test_each_framework_measures_its_part_and_keeps_the_others(here):
    here.again()
    assert here.again("jax") == ["jax"]
    assert here.again("torch") == here.again("jax") == []


@pytest.mark.parametrize("fact", MACHINE)
def test_on_another_machine_all_is_measured_anew(here, fact):
    here.again("jax")
    here.facts[fact] = "another"
    assert here.again() == ["machine", "torch"]
    assert here.again("jax") == ["jax"]


@pytest.mark.parametrize(
    ("module", "measured"),
    [("probes", ["machine", "torch"]), ("kernels", ["machine", "torch"]), ("torch", ["torch"]), ("jax", [])],
)
def test_what_changed_code_measured_is_measured_anew(here, module, measured):
    here.again()
    path = profile.HERE / f"{module}.py"
    path.write_text(f'"""Another docstring."""\n# a comment\n\nname = "{module}"  # here too\n')
    assert here.again() == []
    path.write_text("name = 'another'\n")
    assert here.again() == measured


def test_the_hash_of_code_is_the_same_in_every_python(tmp_path, monkeypatch):
    """What is hashed are lines of the source: how a version of Python prints a syntax tree plays no part."""
    monkeypatch.setattr(profile, "HERE", tmp_path)
    hashes = set()
    for doc in ('"""One.\n\n    Two.\n    """', "'One.'  # two", "# none"):
        source = (
            f'# one\nclass A:\n    {doc}\n\n    def b(self):\n        {doc}\n        return f"# {{self!r:>{{3}}}}"\n'
        )
        (tmp_path / "a.py").write_text(source)
        hashes.add(profile.code("a"))
    assert hashes == {profile._hash('class A:\n    def b(self):\n        return f"# {self!r:>{3}}"')}


def test_with_another_version_the_part_of_the_framework_is_measured_anew(here):
    here.again("jax")
    here.again()
    here.versions["torch"] = "2"
    assert here.again() == ["torch"]
    assert here.again("jax") == []
    assert profile.profile_for("torch")["framework"]["version"] == "2"


@pytest.mark.parametrize("text", [*DAMAGED, "half", "another figure"])
def test_a_damaged_card_is_no_card_and_is_measured_anew(here, text):
    here.again()
    path, whole = profile.place(), profile.place().read_text()
    changed = {"half": whole[: len(whole) // 2], "another figure": whole.replace("17000000000.0", "18000000000.0")}
    path.write_text(changed.get(text, text))
    assert profile.read(path) == {}
    assert here.again() == ["machine", "torch"]
    assert here.again() == []


def test_a_card_of_another_form_is_measured_anew(here, monkeypatch):
    here.again()
    monkeypatch.setattr(profile, "FORM", 1)
    assert here.again() == ["machine", "torch"]


def test_a_full_disk_is_said_and_leaves_the_old_card_and_no_other_file(here, monkeypatch):
    here.again()
    before = profile.place().read_bytes()
    here.versions["torch"] = "2"
    monkeypatch.setattr(os, "replace", lambda *paths: (_ for _ in ()).throw(OSError(28, "no space left")))
    with pytest.raises(SystemExit, match="the kept cannot be kept: .*no space left"):
        here.again()
    assert profile.place().read_bytes() == before
    assert sorted(path.name for path in profile.place().parent.iterdir()) == [".machine.json.lock", "machine.json"]


def test_two_programs_at_once_wait_for_each_other_and_lose_nothing(here, monkeypatch):
    inside, most = [], []

    def slow(_, module):
        inside.append(module)
        most.append(len(inside))
        threading.Event().wait(0.2)
        inside.remove(module)
        return here.part(_, module)

    monkeypatch.setattr(measuring, "measure_framework", slow)
    threads = [threading.Thread(target=measuring.main, args=(name,)) for name in ("torch", "jax")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1, 1]
    assert here.measured.count("machine") == 1
    assert set(profile.read(profile.place())["frameworks"]) == {"torch", "jax"}


def test_where_files_cannot_be_locked_the_card_is_measured(here, monkeypatch):
    monkeypatch.setattr(measuring.fcntl, "flock", lambda *_: (_ for _ in ()).throw(OSError(37, "no locks available")))
    assert here.again() == ["machine", "torch"]
    assert here.again() == []


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("echo noise >&2; echo 'no clock here' >&2; exit 1", "this machine cannot be measured: no clock here"),
        ("exit 3", "this machine cannot be measured: exit status 3"),
        ("exec sleep 60", "this machine cannot be measured in 1 s"),
    ],
)
def test_a_program_that_cannot_measure_is_quoted_in_one_line(here, tmp_path, monkeypatch, capsys, program, words):
    (tmp_path / "python").write_text(f"#!/bin/sh\n{program}\n")
    (tmp_path / "python").chmod(0o755)
    monkeypatch.setattr(profile.sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(profile, "LONGEST", 1)
    with pytest.raises(RuntimeError) as caught:
        profile.profile_for("torch")
    assert str(caught.value) == words
    assert capsys.readouterr().out == "measuring what this machine can do: once\n"


def test_an_installed_package_keeps_the_card_in_the_readers_home(tmp_path, monkeypatch):
    monkeypatch.delenv("D2L_MACHINE_PROFILE", raising=False)
    assert profile.place() == ROOT / "_build" / "machine.json"
    monkeypatch.setattr(profile, "HERE", tmp_path / "site-packages" / "d2l_utils")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert profile.place() == tmp_path / ".cache" / "d2l" / "machine.json"


# What the program asks for


def test_numpy_starts_as_many_threads_as_there_are_cores_to_use_and_the_framework_as_many_as_it_is_told(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr(measuring, "cores", lambda: 5)
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
    monkeypatch.setattr(measuring.importlib, "import_module", lambda name: [os.environ.get(key) for key in names])
    assert measuring.load_probes() == ["5", "5"]
    assert os.environ["OMP_NUM_THREADS"] == "1"


def test_the_four_modules_define_what_the_program_measures_with_the_same_parameters():
    def primitives(module):
        defined = ast.parse((ROOT / "d2l_utils" / f"{module}.py").read_text()).body
        found = {node.name: ast.unparse(node.args) for node in defined if isinstance(node, ast.FunctionDef)}
        return {name: found.get(name) for name in ("_tiny_sum", "_product", "_copy", "_gpu_names")}

    for module in ("torch", "tensorflow", "jax", "mxnet"):
        wanted = {"_tiny_sum": "device", "_product": "device, n, kind", "_copy": "device, size", "_gpu_names": ""}
        assert primitives(module) == wanted, module


def test_each_gpu_is_measured_on_its_own(monkeypatch):
    """A framework with two GPUs, whose devices are numbers, and probes that return what they are given."""
    d2l = types.SimpleNamespace(
        try_gpu=lambda i=0: i,
        synchronize=None,
        _gpu_names=lambda: ["A", "B"],
        _tiny_sum=lambda device: f"sum on {device}",
        _copy=lambda device, size: f"copy on {device}",
        _product=lambda device, n, kind: f"{kind} on {device}",
    )
    probes = types.SimpleNamespace(
        dispatch=lambda add, synchronize: add,
        copy_bandwidth=lambda copy, size: copy,
        product_rates=lambda prepare, n, kinds: [prepare(n, kind) for kind in kinds],
    )
    monkeypatch.setattr(measuring.importlib, "import_module", lambda name: d2l)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    part = measuring.measure_framework(probes, "torch")
    assert (part["dispatch"], part["product"]) == ("sum on 0", ["float32 on -1", "bfloat16 on -1"])
    assert part["gpus"] == [
        {"name": name, "bandwidth": f"copy on {i}", "product": [f"float32 on {i}", f"bfloat16 on {i}"]}
        for i, name in enumerate("AB")
    ]


def test_a_framework_whose_part_is_up_to_date_is_not_imported(tmp_path):
    """The docs environment has no JAX: importing it would fail."""
    content = {"code": profile.code(*profile.MEASURING), "machine": system.describe(), "date": "", **FIGURES}
    part = {"version": profile.version("jax"), "code": profile.code("jax"), **PART}
    path = tmp_path / "machine.json"
    for parts, status in (({"jax": part}, 0), ({}, 1)):
        path.write_text(json.dumps(profile.sealed(content | {"frameworks": parts})))
        done = subprocess.run(
            [sys.executable, "-m", "d2l_utils.machine.measuring", "jax"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            env=os.environ | {"D2L_MACHINE_PROFILE": str(path)},
        )
        assert done.returncode == status, done.stderr
    assert "No module named 'jax'" in done.stderr


# What the system says of itself


def test_caches_are_read_from_the_folder_of_linux(tmp_path, monkeypatch):
    monkeypatch.setattr(system.platform, "system", lambda: "Linux")
    told = {
        "index0": ("1", "Data", "48K", "0,8"),
        "index1": ("3", "Unified", "32M", "0-3,8-11"),
        "index2": ("4", "Unified", "1G"),
        "index3": (),
    }
    for index, values in told.items():
        (tmp_path / "cache" / index).mkdir(parents=True)
        for name, value in zip(("level", "type", "size", "shared_cpu_list"), values, strict=False):
            (tmp_path / "cache" / index / name).write_text(f"{value}\n")
    expected = [(1, "data", 49152), (3, "unified", 2**25), (4, "unified", 2**30)]
    for siblings, sharing in ((None, [None] * 3), ("0,8", [1, 4, None]), ("0", [2, 8, None])):
        if siblings:
            (tmp_path / "topology").mkdir(exist_ok=True)
            (tmp_path / "topology" / "thread_siblings_list").write_text(f"{siblings}\n")
        found = system.caches(tmp_path / "cache")
        assert [tuple(cache.values()) for cache in found] == [
            (*cache, shared) for cache, shared in zip(expected, sharing, strict=True)
        ]
        assert list(found[0]) == ["level", "kind", "bytes", "shared_by"]
    assert system.caches(tmp_path / "none") == []


def test_the_narrowest_control_group_around_this_process_counts(tmp_path, monkeypatch):
    told, root = tmp_path / "cgroup", tmp_path / "fs"
    told.write_text("4:memory:/v1\n0::/outer/own\n")
    groups = {
        root: ("max 100000", "max"),
        root / "outer": ("150000 100000", str(3 * 2**30)),
        root / "outer" / "own": ("max 100000", str(2**30)),
        root / "v1": ("100 100000", "1"),
        tmp_path: ("100 100000", "1"),
    }
    for folder, (quota, memory) in groups.items():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cpu.max").write_text(f"{quota}\n")
        (folder / "memory.max").write_text(f"{memory}\n")
    found = {name: system.limits(name, root, told) for name in ("cpu.max", "memory.max", "none")}
    assert found["cpu.max"] == ["max 100000", "150000 100000", "max 100000"]
    assert found["none"] == system.limits("cpu.max", root, tmp_path / "none") == []
    monkeypatch.setattr(system, "limits", found.get)
    monkeypatch.setattr(system.os, "sched_getaffinity", lambda process: range(8), raising=False)
    assert system.cores() == 2
    assert system.memory() == 1


def test_a_command_that_cannot_answer_answers_nothing(monkeypatch):
    run = subprocess.run
    monkeypatch.setattr(system.subprocess, "run", lambda *a, timeout, **k: run(*a, timeout=timeout / 100, **k))
    assert system.answer("echo", "yes") == "yes"
    assert system.answer("sleep", "60") == system.answer("false") == system.answer("no-such-command") == ""


def test_caches_are_asked_for_on_macos(tmp_path, monkeypatch):
    monkeypatch.setattr(system.platform, "system", lambda: "Darwin")
    sizes = {"hw.l1dcachesize": "65536", "hw.l1icachesize": "131072", "hw.l2cachesize": "4194304"}
    monkeypatch.setattr(system, "answer", lambda *command: sizes.get(command[-1], ""))

    def found():
        return [(cache["level"], cache["bytes"]) for cache in system.caches(tmp_path)]

    assert found() == [(1, 65536), (1, 131072), (2, 4194304)]
    sizes |= {"hw.perflevel0.l1dcachesize": "131072", "hw.perflevel0.l2cachesize": "16777216"}
    assert found() == [(1, 131072), (1, 131072), (2, 16777216)]
