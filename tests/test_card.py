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

from book.card import binary, quantity
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
    [("machine", ["common", "torch"]), ("kernels", ["common", "torch"]), ("torch", ["torch"]), ("timing", ["torch"]),
     ("jax", [])],
)  # fmt: skip
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


def test_a_process_that_cannot_measure_is_quoted(monkeypatch):
    monkeypatch.setattr(file.sys, "executable", "/bin/false")
    with pytest.raises(RuntimeError, match="this machine cannot be measured"):
        file._measure_common()


# What the system says of itself


def test_this_machine_is_described():
    facts = measuring.describe()
    assert list(facts) == list(MACHINE)
    assert facts["cpu"]
    assert facts["cores"] >= 1
    assert facts["memory_gb"] >= 1


def test_caches_are_read_from_the_folder_of_linux(tmp_path, monkeypatch):
    monkeypatch.setattr(measuring.platform, "system", lambda: "Linux")
    told = {"index0": ("1", "Data", "48K", "0"), "index1": ("3", "Unified", "32M", "0-3,8-11"), "index2": None}
    for index, values in told.items():
        (tmp_path / index).mkdir()
        for name, value in zip(("level", "type", "size", "shared_cpu_list"), values or (), strict=False):
            (tmp_path / index / name).write_text(f"{value}\n")
    assert measuring.caches(tmp_path) == [
        {"level": 1, "kind": "data", "bytes": 49152, "shared_by": 1},
        {"level": 3, "kind": "unified", "bytes": 2**25, "shared_by": 8},
    ]
    assert measuring.caches(tmp_path / "none") == []


def test_caches_are_asked_for_on_macos(tmp_path, monkeypatch):
    monkeypatch.setattr(measuring.platform, "system", lambda: "Darwin")
    sizes = {"hw.l1dcachesize": "65536", "hw.l1icachesize": "131072", "hw.l2cachesize": "4194304"}
    monkeypatch.setattr(measuring, "answer", lambda *command: sizes.get(command[-1], ""))
    assert [(cache["level"], cache["bytes"]) for cache in measuring.caches(tmp_path)] == [
        (1, 65536), (1, 131072), (2, 4194304)]  # fmt: skip


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


def test_the_card_counts_as_new_for_make_even_if_nothing_was_measured(project):
    path = project.root / "_build" / "machine.json"
    path.write_text("[]")
    os.utime(path, (0, 0))
    project.write(project.root / "d2l_utils" / "card.py", "")
    assert project.call("card", "--frameworks", "jax").returncode == 0
    assert path.stat().st_mtime > 0


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
        done = subprocess.run([sys.executable, "-m", "d2l_utils.card", "jax"], cwd=ROOT, capture_output=True, text=True,
                              env=os.environ | {"D2L_MACHINE_CARD": str(path)})  # fmt: skip
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
    return [[[cell.get_text(strip=True) for cell in row.select("th, td")] for row in table.select("tr")]
            for table in page.select("table")]  # fmt: skip


def content(**parts):
    return {"machine": MACHINE, "date": "2026-11-21", **COMMON, "frameworks": parts}


def part(name, **more):
    return {"name": name, "version": "1.2+cpu", "date": "2026-11-21", **PART} | more


def test_a_card_shows_the_machine_and_its_figures_in_readable_units(tmp_path):
    page = shown(tmp_path, content(mxnet=part("MXNet"), torch=part("PyTorch", gpus=[GPU])))
    assert "Tiny CPU, 2 cores, 8 GB of memory, no GPU, Tiny OS, measured on 21 November 2026." in page.get_text()
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
    assert not page.select("tr > :first-child:not(th)")


def test_what_a_machine_does_not_report_has_no_table(tmp_path):
    page = shown(tmp_path, content(jax=part("JAX", date="2026-12-01")) | {"caches": []})
    assert [table[0][0] for table in tables(page)] == ["STREAM triad on", "working set", "on the CPU"]
    assert "measured between 21 November 2026 and 1 December 2026." in page.get_text()


@pytest.mark.parametrize("content", [None, "", '{"machine'])
def test_without_a_card_the_page_says_how_to_make_one(tmp_path, content):
    page = shown(tmp_path, content)
    assert "This copy holds no card: make card measures the machine." in page.get_text()
    assert not page.select("table")


def test_units_read_well_over_the_whole_range():
    values = [0.5e-9, 9.9996e-10, 1.25e-6, 0.02, 1, 31.8e9, 999.4e9, 999.6e9, 2e15]
    assert [quantity(value, "x") for value in values] == [
        "0.50 nx", "1.00 nx", "1.25 µx", "20.0 mx", "1.00 x", "31.8 Gx", "999 Gx", "1.00 Tx", "2000 Tx"]  # fmt: skip
    assert [binary(size) for size in (64, 2**14, 3 * 2**19, 2**30)] == ["64 bytes", "16 KiB", "1.5 MiB", "1 GiB"]
