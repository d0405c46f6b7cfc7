"""Each benchmark that needs no framework, at its smallest size. Those of the frameworks: tests/frameworks."""

import subprocess
import sys

import pytest
from launching import ROOT

pytestmark = pytest.mark.slow


def test_a_benchmark_runs_at_its_smallest_size():
    command = [sys.executable, "benchmarks/clocks.py", "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].startswith("medians of measure within 3%: ")
