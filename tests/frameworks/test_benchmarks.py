"""Benchmarks that need a framework, at their smallest size."""

import subprocess
import sys

import pytest
from launching import ROOT

pytestmark = pytest.mark.usefixtures("nothing_is_left")


def printed(name, *words):
    command = [sys.executable, str(ROOT / "benchmarks" / name), *words, "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.only("pytorch")
def test_the_benchmarks_of_all_reduces_and_of_the_hardware_print_all_parts():
    assert sum(line.startswith("2 ranks, ") for line in printed("all_reduces.py")) == 1
    found = [line.split()[0] for line in printed("hardware.py") if line[0] != " "]
    assert found == ["Dependent", "Triad", "Product", "parts"]


def test_a_step_from_scratch_equals_the_framework_s_own(framework):
    """The program asserts equal parameters itself, before it takes any time."""
    notebook = ROOT / "_build" / "notebooks" / framework / "multiple-gpus.ipynb"
    if not notebook.exists():
        pytest.fail(f"no notebook {notebook}: run `make notebooks`", pytrace=False)
    assert [line.split()[0] for line in printed("steps.py", framework)] == ["a", "one", "two,", "two,"]
