"""The card of this machine: when it is measured, when it is read, and how the landing page shows it."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from tiny import MACHINE, Project
from tiny_book import build

from book.pages.machine_card import binary, quantity
from book.pages.facts import describe_machine
from d2l_utils import card as file
from d2l_utils import machine as measuring

ROOT = Path(__file__).parents[1]
COMMON = {
    "caches": [{"level": 1, "kind": "data", "bytes": 49152, "shared_by": 1}],
    "bandwidth": {"one core": 1.7e10, "all cores": 3.2e10},
    "latency": {"16384": 1.2e-9, "268435456": 1.7e-7},
    "product": {"float32": 3.6e11},
}
GPU = {"name": "Tiny GPU", "bandwidth": 3.35e12, "product": {"float32": 5e13, "bfloat16": 9.9955e14}}
PART = {"dispatch": 7.7e-7, "product": {"float32": 2.8e11}, "gpus": []}


class Machine:
    """A machine that counts how often it is measured."""

    def __init__(self):
        self.facts, self.versions, self.measured = dict(MACHINE), {"torch": "1", "jax": "1"}, []

    def common(self):
        self.measured.append("common")
        return dict(COMMON)

    def card(self, module="torch"):
        return file.card(module, module.title(), lambda: self.measured.append(module) or dict(PART))

    def again(self, module="torch"):
        """Return what one more call measures."""
        self.measured.clear()
        self.card(module)
        return self.measured


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine, a card in a folder that is not there yet, and a copy of the code that measures."""
    machine = Machine()
    monkeypatch.setenv("D2L_MACHINE_CARD", str(tmp_path / "build" / "machine.json"))
    monkeypatch.setattr(file, "describe", lambda: dict(machine.facts))
    monkeypatch.setattr(file, "version", lambda module: machine.versions[module])
    monkeypatch.setattr(file, "_measure_common", machine.common)
    monkeypatch.setattr(file, "HERE", tmp_path)
    for module in ("machine", "kernels", "timing", "torch", "jax"):
        (tmp_path / f"{module}.py").touch()
    return machine


# When a card is measured


def test_the_first_call_measures_and_says_so_in_a_line_and_the_second_reads(machine, capsys):
    first = machine.card()
    assert machine.measured == ["common", "torch"]
    assert capsys.readouterr().out == "measuring this machine for Torch: once\n"
    assert machine.again() == []
    assert machine.card() == first
    assert capsys.readouterr().out == ""


def test_a_card_holds_what_the_interface_promises(machine):
    card = machine.card()
    assert list(card) == ["machine", "date", *COMMON, "framework", "gpus"]
    assert {key: card[key] for key in COMMON} == COMMON
    assert card["machine"] == MACHINE
    assert card["framework"] == {"name": "Torch", "version": "1", "dispatch": 7.7e-7, "product": {"float32": 2.8e11}}
    assert card["gpus"] == []


def test_each_framework_measures_its_part_and_keeps_the_others(machine):
    machine.card()
    assert machine.again("jax") == ["jax"]
    assert machine.again("torch") == machine.again("jax") == []


@pytest.mark.parametrize("fact", MACHINE)
def test_on_another_machine_all_is_measured_anew(machine, fact):
    machine.card("jax")
    machine.card()
    machine.facts[fact] = "another"
    assert machine.again() == ["common", "torch"]
    assert machine.again("jax") == ["jax"]


@pytest.mark.parametrize(
    ("module", "measured"),
    [
        ("machine", ["common", "torch"]),
        ("kernels", ["common", "torch"]),
        ("torch", ["torch"]),
        ("timing", ["torch"]),
        ("jax", []),
    ],
)
def test_what_changed_code_measured_is_measured_anew(machine, module, measured):
    machine.card()
    (file.HERE / f"{module}.py").write_text("changed")
    assert machine.again() == measured


def test_with_another_version_the_part_of_the_framework_is_measured_anew(machine):
    machine.card("jax")
    machine.card()
    machine.versions["torch"] = "2"
    assert machine.again() == ["torch"]
    assert machine.again("jax") == []
    assert machine.card()["framework"]["version"] == "2"


def without(*keys):
    def damage(text):
        content = json.loads(text)
        inner = content
        for key in keys[:-1]:
            inner = inner[key]
        del inner[keys[-1]]
        return json.dumps(content)

    return damage


@pytest.mark.parametrize(
    ("damage", "measured"),
    [
        (lambda text: text[:-20], ["common", "torch"]),
        (lambda text: "", ["common", "torch"]),
        (lambda text: "[1]", ["common", "torch"]),
        (lambda text: text.replace('"form": 1', '"form": 0'), ["common", "torch"]),
        (without("latency"), ["common", "torch"]),
        (without("frameworks"), ["common", "torch"]),
        (without("frameworks", "torch", "gpus"), ["torch"]),
    ],
)
def test_a_damaged_file_or_one_of_another_form_is_measured_anew(machine, damage, measured):
    machine.card()
    file.place().write_text(damage(file.place().read_text()))
    assert machine.again() == measured
    assert machine.again() == []


def test_where_the_file_cannot_be_written_the_card_is_measured_and_not_kept(machine, tmp_path, monkeypatch, capsys):
    (tmp_path / "taken").touch()
    monkeypatch.setenv("D2L_MACHINE_CARD", str(tmp_path / "taken" / "machine.json"))
    assert machine.card()["bandwidth"] == COMMON["bandwidth"]
    assert "the card is not kept" in capsys.readouterr().out
    assert machine.again() == ["common", "torch"]


def test_a_full_disk_leaves_the_old_card_and_no_other_file(machine, monkeypatch):
    machine.card()
    before = file.place().read_bytes()
    machine.versions["torch"] = "2"
    monkeypatch.setattr(os, "replace", lambda *paths: (_ for _ in ()).throw(OSError(28, "no space left")))
    assert machine.card()["framework"]["version"] == "2"
    assert file.place().read_bytes() == before
    assert sorted(path.name for path in file.place().parent.iterdir()) == [".machine.json.lock", "machine.json"]


def test_two_writers_at_once_wait_for_each_other_and_lose_nothing(machine):
    inside, most = [], []

    def slow(module):
        def measure():
            inside.append(module)
            most.append(len(inside))
            threading.Event().wait(0.2)
            inside.remove(module)
            return dict(PART)

        return measure

    threads = [threading.Thread(target=file.card, args=(name, name, slow(name))) for name in ("torch", "jax")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1, 1]
    assert machine.measured == ["common"]
    assert set(file.read(file.place())["frameworks"]) == {"torch", "jax"}


def test_a_measurement_that_fails_says_why_and_keeps_the_old_card(machine, monkeypatch):
    machine.card()
    before = file.place().read_bytes()
    machine.versions["torch"] = "2"
    with pytest.raises(ZeroDivisionError):
        file.card("torch", "Torch", lambda: 1 / 0)
    assert file.place().read_bytes() == before
    assert machine.again() == ["torch"]


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("echo noise >&2; echo 'no clock here' >&2; exit 1", "this machine cannot be measured: no clock here"),
        ("exit 3", "this machine cannot be measured: exit status 3"),
        ("exec sleep 60", "this machine cannot be measured in 300 s"),
    ],
)
def test_a_process_that_cannot_measure_is_quoted_in_one_line(tmp_path, monkeypatch, program, words):
    run = subprocess.run
    monkeypatch.setattr(file.sys, "executable", script(tmp_path, program))
    monkeypatch.setattr(file.subprocess, "run", lambda *a, timeout, **k: run(*a, timeout=timeout / 300, **k))
    with pytest.raises(RuntimeError) as caught:
        file._measure_common()
    assert str(caught.value) == words


def script(folder, program):
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{program}\n")
    path.chmod(0o755)
    return str(path)


def test_numpy_gets_as_many_threads_as_there_are_cores_to_use(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    monkeypatch.setattr(file, "cores", lambda: 5)
    monkeypatch.setattr(file.sys, "executable", script(tmp_path, 'echo "[$OPENBLAS_NUM_THREADS, $OMP_NUM_THREADS]"'))
    assert file._measure_common() == [5, 5]


def test_an_installed_package_keeps_the_card_in_the_readers_home(tmp_path, monkeypatch):
    monkeypatch.delenv("D2L_MACHINE_CARD", raising=False)
    assert file.place() == ROOT / "_build" / "machine.json"
    monkeypatch.setattr(file, "HERE", tmp_path / "site-packages" / "d2l_utils")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert file.place() == tmp_path / ".cache" / "d2l" / "machine.json"


def test_where_files_cannot_be_locked_the_card_is_measured(machine, monkeypatch):
    monkeypatch.setattr(file.fcntl, "flock", lambda *_: (_ for _ in ()).throw(OSError(37, "no locks available")))
    assert machine.card()["bandwidth"] == COMMON["bandwidth"]
    assert machine.again() == []


# What the system says of itself


def test_this_machine_is_described():
    facts = measuring.describe()
    assert list(facts) == list(MACHINE)
    assert facts["cpu"]
    assert facts["cores"] >= 1
    assert facts["memory_gb"] >= 1


def test_caches_are_read_from_the_folder_of_linux(tmp_path, monkeypatch):
    monkeypatch.setattr(measuring.platform, "system", lambda: "Linux")
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
        found = measuring.caches(tmp_path / "cache")
        assert [tuple(cache.values()) for cache in found] == [
            (*cache, shared) for cache, shared in zip(expected, sharing, strict=True)
        ]
        assert list(found[0]) == ["level", "kind", "bytes", "shared_by"]
    assert measuring.caches(tmp_path / "none") == []


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
    found = {name: measuring.limits(name, root, told) for name in ("cpu.max", "memory.max", "none")}
    assert found["cpu.max"] == ["max 100000", "150000 100000", "max 100000"]
    assert found["none"] == measuring.limits("cpu.max", root, tmp_path / "none") == []
    monkeypatch.setattr(measuring, "limits", found.get)
    monkeypatch.setattr(measuring.os, "sched_getaffinity", lambda process: range(8), raising=False)
    assert measuring.cores() == 2
    assert measuring.memory() == 1


def test_a_command_that_cannot_answer_answers_nothing(monkeypatch):
    run = subprocess.run
    monkeypatch.setattr(measuring.subprocess, "run", lambda *a, timeout, **k: run(*a, timeout=timeout / 100, **k))
    assert measuring.answer("echo", "yes") == "yes"
    assert measuring.answer("sleep", "60") == measuring.answer("false") == measuring.answer("no-such-command") == ""


def test_caches_are_asked_for_on_macos(tmp_path, monkeypatch):
    monkeypatch.setattr(measuring.platform, "system", lambda: "Darwin")
    sizes = {"hw.l1dcachesize": "65536", "hw.l1icachesize": "131072", "hw.l2cachesize": "4194304"}
    monkeypatch.setattr(measuring, "answer", lambda *command: sizes.get(command[-1], ""))

    def found():
        return [(cache["level"], cache["bytes"]) for cache in measuring.caches(tmp_path)]

    assert found() == [(1, 65536), (1, 131072), (2, 4194304)]
    sizes |= {"hw.perflevel0.l1dcachesize": "131072", "hw.perflevel0.l2cachesize": "16777216"}
    assert found() == [(1, 131072), (1, 131072), (2, 16777216)]


# The step of the pipeline

FAKE = """
import json, os, sys
from pathlib import Path
path = Path(os.environ['D2L_MACHINE_CARD'])
parts = json.loads(path.read_text()) if path.exists() else []
path.write_text(json.dumps(parts + [sys.argv[1]]))
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    project = Project(tmp_path)
    (tmp_path / "_build" / "machine.json").unlink()
    project.write(tmp_path / "d2l_utils" / "card.py", FAKE)
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    project.card = lambda: json.loads((tmp_path / "_build" / "machine.json").read_text())
    return project


def test_the_kernels_of_the_frameworks_measure_their_parts_of_the_card_of_the_project(project):
    assert project.call("card", "--frameworks", "jax").returncode == 0
    assert project.card() == ["jax"]
    assert project.call("card").returncode == 0
    assert project.card() == ["jax", "torch", "tensorflow", "jax", "mxnet"]
    assert project.call("card", "--anew", "--frameworks", "pytorch").returncode == 0
    assert project.card() == ["torch"]


def test_a_card_from_which_nothing_was_missing_keeps_its_time(project):
    path = project.root / "_build" / "machine.json"
    path.write_text("[]")
    os.utime(path, (0, 0))
    project.write(project.root / "d2l_utils" / "card.py", "")
    assert project.call("card", "--frameworks", "jax").returncode == 0
    assert path.stat().st_mtime == 0


def test_measuring_anew_keeps_the_old_card_until_all_is_measured(project):
    project.call("card", "--frameworks", "mxnet")
    good = FAKE + "if sys.argv[1] == 'jax': sys.exit('no clock here')"
    project.write(project.root / "d2l_utils" / "card.py", good)
    assert project.call("card", "--anew", "--frameworks", "pytorch", "jax").returncode == 1
    assert project.card() == ["mxnet"]
    assert project.call("card", "--anew", "--frameworks", "pytorch", "tensorflow").returncode == 0
    assert project.card() == ["torch", "tensorflow"]
    assert not list((project.root / "_build").glob("machine.new.json"))


def test_a_kernel_that_cannot_measure_is_named_with_its_last_words(project):
    project.write(project.root / "d2l_utils" / "card.py", "print(1)\nraise SystemExit('no clock here')")
    done = project.call("card", "--frameworks", "jax")
    assert done.returncode == 1
    assert done.stderr == "error: the card of this machine (jax): JAX cannot measure it: no clock here\n"


def test_a_kernel_that_is_missing_is_named(project):
    (project.root / "jupyter/kernels/d2l-jax/kernel.json").unlink()
    assert "no kernel d2l-jax: `make setup` installs it" in project.call("card", "--frameworks", "jax").stderr


def test_a_framework_whose_part_is_up_to_date_is_not_imported(tmp_path):
    """The docs environment has no JAX: importing it would fail."""
    kept = {"form": 1, "code": file._code("machine", "kernels"), "machine": measuring.describe(), "date": "", **COMMON}
    part = {"name": "JAX", "version": file.version("jax"), "code": file._code("jax", "timing"), **PART}
    path = tmp_path / "machine.json"
    for parts, status in (({"jax": part}, 0), ({}, 1)):
        path.write_text(json.dumps(kept | {"frameworks": parts}))
        done = subprocess.run(
            [sys.executable, "-m", "d2l_utils.card", "jax"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            env=os.environ | {"D2L_MACHINE_CARD": str(path)},
        )
        assert done.returncode == status, done.stderr
    assert "No module named 'jax'" in done.stderr


# The landing page

INDEX = "# Tiny\n\n```{machine}\n```\n"


def shown(folder, content):
    """Return the landing page of a book on a machine with this card."""
    if content is not None:
        (folder / "machine.json").write_text(content if isinstance(content, str) else json.dumps(content))
    status, warnings, output = build(folder, index=INDEX)
    assert (status, warnings) == (0, "")
    return BeautifulSoup((output / "index.html").read_text(encoding="utf-8"), "html.parser").article


def tables(page):
    return [
        [[cell.get_text(strip=True) for cell in row.select("th, td")] for row in table.select("tr")]
        for table in page.select("table")
    ]


def content(**parts):
    return {"form": file.FORM, "machine": MACHINE, "date": "2026-11-21", **COMMON, "frameworks": parts}


def part(name, **more):
    return {"name": name, "version": "1.2+cpu", "date": "2026-11-21", **PART} | more


def test_a_card_shows_the_machine_and_its_figures_in_readable_units(tmp_path):
    page = shown(tmp_path, content(mxnet=part("MXNet"), torch=part("PyTorch", gpus=[GPU])))
    assert "Tiny CPU, 2 cores, 8 GiB of memory, no GPU, Tiny OS, measured on 21 November 2026." in page.get_text()
    assert "make card" in page.get_text()
    assert [table[1:] for table in tables(page)] == [
        [["L1 data", "48 KiB", "one core"]],
        [["one core", "17.0 GB/s"], ["all cores", "32.0 GB/s"]],
        [["16 KiB", "1.20 ns"], ["256 MiB", "170 ns"]],
        [
            ["NumPy", "–", "360 Gflop/s", "–"],
            ["PyTorch 1.2", "770 ns", "280 Gflop/s", "–"],
            ["MXNet 1.2", "770 ns", "280 Gflop/s", "–"],
        ],
        [["Tiny GPU, PyTorch", "3.35 TB/s", "50.0 Tflop/s", "1000 Tflop/s"]],
    ]
    assert all(all(row) for table in tables(page) for row in table)
    assert "On a GPU that has TF32, TensorFlow and JAX use it" in page.get_text()
    assert not page.select("tr > :first-child:not(th)")


def test_what_a_machine_does_not_report_has_no_table(tmp_path):
    page = shown(tmp_path, content(jax=part("JAX", date="2026-12-01")) | {"caches": []})
    assert [table[0][0] for table in tables(page)] == ["STREAM triad on", "working set", "on the CPU"]
    assert "measured between 21 November 2026 and 1 December 2026." in page.get_text()
    assert "TF32" not in page.get_text()


@pytest.mark.parametrize("content", [None, "", '{"machine', "{}", "[1]", '{"form": 0}'])
def test_without_a_card_the_page_says_how_to_make_one(tmp_path, content):
    page = shown(tmp_path, content)
    assert "This copy holds no card: make card measures the machine." in page.get_text()
    assert not page.select("table")


def test_a_machine_is_described_in_one_phrase():
    known = {"cpu": "Abacus 9", "cores": 1, "memory_gb": 24, "gpus": ["A", "B"], "system": "Tiny OS"}
    assert describe_machine(known) == "Abacus 9, 1 core, 24 GiB of memory, A, B, Tiny OS"
    assert describe_machine({"cores": 2}) == "an unnamed CPU, 2 cores, no GPU"


def test_units_read_well_over_the_whole_range():
    values = [0.5e-9, 9.9996e-10, 1.25e-6, 0.02, 1, 31.8e9, 999.4e9, 999.6e9, 2e15]
    assert [quantity(value, "x") for value in values] == [
        "0.50 nx",
        "1.00 nx",
        "1.25 µx",
        "20.0 mx",
        "1.00 x",
        "31.8 Gx",
        "999 Gx",
        "1.00 Tx",
        "2000 Tx",
    ]
    assert [binary(size) for size in (64, 2**14, 3 * 2**19, 2**30)] == ["64 bytes", "16 KiB", "1.5 MiB", "1 GiB"]
