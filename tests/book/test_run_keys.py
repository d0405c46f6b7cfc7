"""What of a machine and its environment decides whether a notebook runs again; test_execute has it run."""

import re

from tiny import MACHINE

from book import ROOT
from book.run_keys import Kernel, environment_facts, packages, python_version, settings, versions


def test_a_variable_that_the_kernel_itself_sets_counts_as_it_sets_it(monkeypatch):
    found = []
    for root, threads in ((ROOT, "2"), (ROOT / "tests", "4")):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        monkeypatch.setenv("XLA_FLAGS", f"--xla_dump_to={root}/dumps")
        kernel = Kernel("mxnet", "python", {"OMP_NUM_THREADS": "1"}, "", "3.11.9", {})
        found.append(environment_facts(root, kernel, {"machine": MACHINE})["settings"])
    assert found[0] == found[1]
    assert found[0]["OMP_NUM_THREADS"] == "1"


def test_what_the_makefile_exports_to_all_programs_decides_no_run():
    exported = re.findall(r"^export (\w+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(exported) > 5
    assert settings(dict.fromkeys(exported, "1"), ROOT) == {}


def test_the_version_of_python_is_read_without_starting_it(tmp_path):
    assert python_version(tmp_path) == ""
    for line in ("version_info = 3.12.4", "version = 3.12.4"):  # uv's words, and those of venv
        (tmp_path / "pyvenv.cfg").write_text(f"home = /usr/bin\n{line}\n")
        assert python_version(tmp_path) == "3.12.4"


def test_what_is_installed_is_read_without_importing_it(tmp_path):
    for name in ("torch-2.13.0+cu130", "Numpy-2.4.0", "tensorflow_cpu-2.21.0"):
        (tmp_path / "lib/python3.11/site-packages" / f"{name}.dist-info").mkdir(parents=True)
    installed = packages(tmp_path)
    assert versions("pytorch", installed) == {"torch": "2.13.0+cu130", "numpy": "2.4.0"}
    assert versions("tensorflow", installed) == {"tensorflow": "2.21.0", "numpy": "2.4.0"}
