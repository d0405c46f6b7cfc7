"""What the system says of itself."""

import subprocess

import pytest

from d2l_lab.machine import system


def write(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{text}\n")


@pytest.mark.parametrize(("siblings", "sharing"), [(None, (None, None)), ("0,8", (1, 4)), ("0", (2, 8))])
def test_caches_are_read_from_the_folder_of_linux(tmp_path, monkeypatch, siblings, sharing):
    monkeypatch.setattr(system.platform, "system", lambda: "Linux")
    reported = [("1", "Data", "48K", "0,8"), ("3", "Unified", "32M", "0-3,8-11"), ("4", "Unified", "1G"), ("5",)]
    for i, texts in enumerate(reported):
        names = ("level", "type", "size", "shared_cpu_list")
        write(tmp_path / f"cache/index{i}", dict(zip(names, texts, strict=False)))
    if siblings:
        write(tmp_path / "topology", {"thread_siblings_list": siblings})
    assert system.caches(tmp_path / "cache") == [
        {"level": 1, "kind": "data", "bytes": 48 * 2**10, "shared_by": sharing[0]},
        {"level": 3, "kind": "unified", "bytes": 32 * 2**20, "shared_by": sharing[1]},
        {"level": 4, "kind": "unified", "bytes": 2**30, "shared_by": None},
    ]
    assert system.caches(tmp_path / "none") == []


@pytest.mark.parametrize(
    ("fast", "data", "unified"),
    [({}, 2**16, 2**22), ({"hw.perflevel0.l1dcachesize": 2**17, "hw.perflevel0.l2cachesize": 2**24}, 2**17, 2**24)],
)
def test_caches_on_macos_are_those_of_the_fast_cores_where_there_are_two_kinds(fast, data, unified, monkeypatch):
    monkeypatch.setattr(system.platform, "system", lambda: "Darwin")
    sizes = {"hw.l1dcachesize": 2**16, "hw.l1icachesize": 2**17, "hw.l2cachesize": 2**22} | fast
    monkeypatch.setattr(system, "answer", lambda *command: str(sizes.get(command[-1], "")))
    assert [(cache["level"], cache["bytes"]) for cache in system.caches()] == [(1, data), (1, 2**17), (2, unified)]


def test_the_narrowest_control_group_around_this_process_counts(tmp_path, monkeypatch):
    write(tmp_path, {"own": "4:memory:/v1\n0::/outer/own", "cpu.max": "100 100000", "memory.max": "1"})
    write(tmp_path / "fs", {"cpu.max": "max 100000", "memory.max": "max"})
    write(tmp_path / "fs/outer", {"cpu.max": "150000 100000", "memory.max": 3 * 2**30})
    write(tmp_path / "fs/outer/own", {"cpu.max": "max 100000", "memory.max": 2**30})
    write(tmp_path / "fs/v1", {"cpu.max": "100 100000", "memory.max": "1"})
    names = ("cpu.max", "memory.max", "none")
    found = {name: system.cgroup_limits(name, tmp_path / "fs", tmp_path / "own") for name in names}
    assert found["cpu.max"] == ["max 100000", "150000 100000", "max 100000"]
    assert found["none"] == system.cgroup_limits("cpu.max", tmp_path / "fs", tmp_path / "no-file") == []
    monkeypatch.setattr(system, "cgroup_limits", found.get)
    monkeypatch.setattr(system.os, "sched_getaffinity", lambda process: range(8), raising=False)
    assert (system.cores(), system.memory()) == (2, 1)


def test_a_command_that_cannot_answer_answers_nothing(monkeypatch):
    run = subprocess.run
    monkeypatch.setattr(system.subprocess, "run", lambda *a, timeout, **k: run(*a, timeout=timeout / 100, **k))
    assert system.answer("echo", "yes") == "yes"
    assert system.answer("sleep", "60") == system.answer("false") == system.answer("no-such-command") == ""


@pytest.mark.parametrize(
    ("script", "names"), [("printf 'A100\\nH100\\n'", ["A100", "H100"]), ("exit 9", []), (None, [])]
)
def test_the_gpus_are_those_that_nvidias_program_lists(tmp_path, monkeypatch, script, names):
    if script:
        write(tmp_path, {"nvidia-smi": f"#!/bin/sh\n{script}"})
        (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert system.gpus() == names
