"""Each benchmark that needs no framework, at its smallest size. Those of the frameworks: tests/frameworks."""

import subprocess
import sys

import pytest
from launching import ROOT

from benchmarks import building

pytestmark = pytest.mark.slow


def test_a_benchmark_runs_at_its_smallest_size():
    command = [sys.executable, "benchmarks/clocks.py", "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].startswith("medians of measure within 3%: ")


def test_the_build_of_one_section_is_set_beside_nbconvert(monkeypatch, capsys):
    commands = []

    def copy(folder):
        for path in ("notebooks/hybridize.md", "book/pages/_static/book.css"):
            (folder / path).parent.mkdir(parents=True)
            (folder / path).touch()

    def seconds(*command, folder):
        commands.append(command[2])
        return 2.0

    monkeypatch.setattr(building, "copy_project", copy)
    monkeypatch.setattr(building, "seconds", seconds)
    building.main(["jax", "--section", "hybridize"])
    assert commands == 4 * ["book", "sphinx"] + ["nbconvert"]
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-2:] for line in lines[1:]] == [["2.00", "1.000"]] + 4 * [["4.00", "2.000"]]
