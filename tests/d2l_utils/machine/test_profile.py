"""The machine profile: when it is measured, when it is read, and what it is made of."""

import ast
import errno
import json
import os
import subprocess
import sys
import threading
import types
from pathlib import Path

import pytest
from tiny import MACHINE

from book import MODULES
from d2l_utils.machine import measuring, probes, profile, system

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

    def common(self):
        self.measured.append("machine")
        facts = {"code": profile.code(*profile.MEASURING), "machine": dict(self.facts), "date": "2026-11-21"}
        return facts | FIGURES | {"frameworks": {}}

    def part(self, module):
        self.measured.append(module)
        own = {"code": profile.code(f"{module}/__init__.py"), "version": self.versions[module], "date": "2026-11-21"}
        return PART | own

    def again(self, module="torch"):
        """Return what one more run of the program measures."""
        self.measured.clear()
        measuring.main(module)
        return self.measured


def fail(error):
    """Return a function that raises the error, whatever it is called with."""

    def raise_it(*_, **__):
        raise error

    return raise_it


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A machine, a profile in a folder that is not there yet, and a copy of the code that measures."""
    here = Machine()
    monkeypatch.setenv("D2L_MACHINE_PROFILE", str(tmp_path / "build" / "machine.json"))
    monkeypatch.setattr(profile, "describe", lambda: dict(here.facts))
    monkeypatch.setattr(profile, "version", lambda module: here.versions[module])
    monkeypatch.setattr(profile, "PACKAGE", tmp_path)
    monkeypatch.setattr(measuring, "measure_machine", here.common)
    monkeypatch.setattr(measuring, "measure_framework", here.part)
    for path in (*profile.MEASURING, "torch/__init__.py", "jax/__init__.py"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(f'"""A module."""\nname = "{path}"\n')
    return here


# When it is measured


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


def test_each_framework_measures_its_part_and_keeps_the_others_also_with_another_version(here):
    here.again()
    assert here.again("jax") == ["jax"]
    assert here.again() == []
    here.versions["torch"] = "2"
    assert here.again() == ["torch"]
    assert here.again("jax") == []
    assert profile.profile_for("torch")["framework"]["version"] == "2"


@pytest.mark.parametrize("fact", MACHINE)
def test_on_another_machine_all_is_measured_anew(here, fact):
    here.again("jax")
    here.facts[fact] = "another"
    assert here.again() == ["machine", "torch"]
    assert here.again("jax") == ["jax"]


@pytest.mark.parametrize(
    ("path", "measured"),
    [("machine/probes.py", ["machine", "torch"]), ("torch/__init__.py", ["torch"]), ("jax/__init__.py", [])],
)
def test_what_changed_code_measured_is_measured_anew(here, path, measured):
    here.again()
    (profile.PACKAGE / path).write_text(f'"""Another docstring."""\n# a comment\n\nname = "{path}"  # here too\n')
    assert here.again() == []
    (profile.PACKAGE / path).write_text("name = 'another'\n")
    assert here.again() == measured


def test_the_hash_of_code_is_that_of_its_lines_the_same_in_every_python(tmp_path, monkeypatch):
    """How a version of Python prints a syntax tree plays no part."""
    monkeypatch.setattr(profile, "PACKAGE", tmp_path)
    hashes = set()
    for doc in ('"""One.\n\n    Two.\n    """', "'One.'  # two", "# none"):
        lines = ["# one", "class A:", f"    {doc}", "", "    def b(self):", f"        {doc}", "        return 'é # {}'"]
        (tmp_path / "a.py").write_text("\n".join(lines), encoding="utf-8")
        hashes.add(profile.code("a.py"))
    assert hashes == {profile._hash("class A:\n    def b(self):\n        return 'é # {}'")}


@pytest.mark.parametrize("text", [*DAMAGED, "half", "another figure", "another format"])
def test_a_damaged_profile_is_none_and_is_measured_anew(here, text, monkeypatch):
    here.again()
    path, whole = profile.profile_path(), profile.profile_path().read_text()
    changed = {"half": whole[: len(whole) // 2], "another figure": whole.replace("17000000000.0", "18000000000.0")}
    path.write_text(changed.get(text, whole if text == "another format" else text))
    if text == "another format":
        monkeypatch.setattr(profile, "FORMAT", 1)
    assert profile.read(path) == {}
    assert here.again() == ["machine", "torch"]
    assert here.again() == []


@pytest.mark.parametrize(
    ("module", "name", "words"),
    [
        (os, "replace", "cannot write .*machine.json: .*full"),
        (measuring, "measure_framework", "measurement failed: .*full"),
    ],
)
def test_what_failed_is_said_and_the_old_profile_stays_and_no_other_file(here, monkeypatch, module, name, words):
    here.again()
    before = profile.profile_path().read_bytes()
    here.versions["torch"] = "2"
    monkeypatch.setattr(module, name, fail(OSError(errno.ENOSPC, "full")))
    with pytest.raises(SystemExit, match=words):
        here.again()
    assert profile.profile_path().read_bytes() == before
    names = sorted(path.name for path in profile.profile_path().parent.iterdir())
    assert names == [".machine.json.lock", "machine.json"]


def test_two_programs_at_once_wait_for_each_other_and_lose_nothing(here, monkeypatch):
    inside, most = [], []

    def slow(module):
        inside.append(module)
        most.append(len(inside))
        threading.Event().wait(0.2)
        inside.remove(module)
        return here.part(module)

    monkeypatch.setattr(measuring, "measure_framework", slow)
    threads = [threading.Thread(target=measuring.main, args=(name,)) for name in ("torch", "jax")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1, 1]
    assert here.measured.count("machine") == 1
    assert set(profile.read(profile.profile_path())["frameworks"]) == {"torch", "jax"}


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


def test_another_python_measures_with_its_settings_and_code_and_is_quiet_if_asked(tmp_path, capfd):
    program = "import os; print('measuring'); open(os.environ['D2L_MACHINE_PROFILE'], 'w').write(os.environ['THREADS'])"
    (tmp_path / "d2l_utils" / "machine").mkdir(parents=True)
    (tmp_path / "d2l_utils" / "__init__.py").touch()
    (tmp_path / "d2l_utils" / "machine" / "measuring.py").write_text(program)
    for quiet in (False, True):
        profile.measure_missing("jax", tmp_path / "a.json", sys.executable, {"THREADS": "1"}, tmp_path, quiet)
        assert capfd.readouterr().out == ("" if quiet else "measuring\n")
    assert (tmp_path / "a.json").read_text() == "1"


def test_a_section_says_that_it_measures_and_then_reads(here, monkeypatch, capsys):
    monkeypatch.setattr(profile, "measure_missing", lambda module, path, quiet: measuring.main(module))
    assert profile.profile_for("torch")["machine"] == MACHINE
    assert capsys.readouterr().out.startswith("measuring what this machine can do: once\n")


def test_an_installed_package_keeps_the_profile_in_the_readers_home(tmp_path, monkeypatch):
    monkeypatch.delenv("D2L_MACHINE_PROFILE", raising=False)
    assert profile.profile_path() == ROOT / "_build" / "machine.json"
    monkeypatch.setattr(profile, "PACKAGE", tmp_path / "site-packages" / "d2l_utils")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert profile.profile_path() == tmp_path / ".cache" / "d2l" / "machine.json"


# What the program asks for


def test_numpys_product_has_a_thread_for_each_core_to_use_whatever_the_environment_says():
    code = """
from threadpoolctl import threadpool_info
from d2l_utils.machine import probes
probes.cores = lambda: 3
probes.fastest = lambda product: print({pool["num_threads"] for pool in threadpool_info()}) or 1.0
probes.numpy_product(8)
"""
    single = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=single, capture_output=True, text=True)
    assert done.stdout == "{3}\n", done.stderr


def test_the_four_modules_define_what_the_program_measures_with_the_same_parameters():
    wanted = {
        "_tiny_sum": ["device"],
        "_product": ["device", "n", "kind"],
        "_copy": ["device", "size"],
        "_gpu_names": [],
    }
    for module in MODULES.values():
        tree = ast.parse((ROOT / "d2l_utils" / module / "__init__.py").read_text(encoding="utf-8"))
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        found = {node.name: [argument.arg for argument in node.args.args] for node in functions}
        assert {name: found.get(name) for name in wanted} == wanted, module


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
    monkeypatch.setattr(probes, "dispatch", lambda add, synchronize: add)
    monkeypatch.setattr(probes, "copy_bandwidth", lambda copy, size: copy)
    monkeypatch.setattr(probes, "product_rates", lambda prepare, n, kinds: [prepare(n, kind) for kind in kinds])
    monkeypatch.setattr(measuring.importlib, "import_module", lambda name: d2l)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    part = measuring.measure_framework("torch")
    assert (part["dispatch"], part["product"]) == ("sum on 0", ["float32 on -1", "bfloat16 on -1"])
    assert part["gpus"] == [
        {"name": name, "bandwidth": f"copy on {i}", "product": [f"float32 on {i}", f"bfloat16 on {i}"]}
        for i, name in enumerate("AB")
    ]


def test_a_framework_whose_part_is_up_to_date_is_not_imported(tmp_path):
    """The docs environment has no JAX: importing it would fail."""
    content = {"code": profile.code(*profile.MEASURING), "machine": system.describe(), "date": "", **FIGURES}
    part = {"version": profile.version("jax"), "code": profile.code("jax/__init__.py"), **PART}
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(profile.sealed(content | {"frameworks": {"jax": part}})))
    profile.measure_missing("jax", path)
    path.write_text(json.dumps(profile.sealed(content | {"frameworks": {}})))
    with pytest.raises(RuntimeError, match="no machine profile for jax: .*No module named 'jax'"):
        profile.measure_missing("jax", path)
