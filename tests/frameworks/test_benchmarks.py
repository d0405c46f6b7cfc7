"""Benchmarks that need a framework, at their smallest size."""

import subprocess
import sys
from pathlib import Path

import pytest

from d2l_utils.jobs.job import free_ports, launch

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
ELEMENTS = (3, 1001, 2_000_003)  # fewer than four ranks, one piece a chunk, several pieces

pytestmark = pytest.mark.usefixtures("nothing_is_left")


def printed(*command):
    """Run a benchmark; return the lines that it prints."""
    words = [sys.executable, str(BENCHMARKS / command[0]), *command[1:], "--quick"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.only("pytorch")
@pytest.mark.parametrize("n", [2, 4])
def test_the_ring_gives_every_rank_the_sum_where_chunks_differ_in_length(n, tmp_path):
    """The program asserts the sums itself, before it takes any time."""
    ranks = launch([str(BENCHMARKS / "ring.py"), str(tmp_path / "rendezvous"), "1", *map(str, ELEMENTS)], n)
    assert [list(rank) for rank in ranks] == [list(ELEMENTS)] * n


@pytest.mark.only("pytorch")
def test_the_algorithms_over_sockets_and_gloo_give_the_sum_side_by_side(tmp_path):
    """The program asserts the sums itself, before it takes any time."""
    hosts = ",".join(f"127.0.0.1:{port}" for port in free_ports(2))
    command = [str(BENCHMARKS / "sockets.py"), str(tmp_path / "rendezvous"), "1", "4096"]
    found, _ = launch(command, 2, environment={"HOSTS": hosts})
    sent = {name: rows[4096]["sent"] for name, rows in found.items()}
    assert sent == {"star": [4096, 4096], "direct": [4096, 4096], "ring": [4096, 4096], "gloo": [0, 0]}


@pytest.mark.only("pytorch")
def test_the_benchmark_of_all_reduces_prints_both_tables():
    lines = printed("all_reduces.py")
    assert sum(line.startswith("2 ranks, ") for line in lines) == 2


@pytest.mark.only("pytorch")
def test_the_benchmark_of_the_hardware_prints_all_parts():
    lines = printed("hardware.py")
    assert [line.split()[0] for line in lines if line[0] != " "] == ["Dependent", "Triad", "Product", "What", "parts"]


def test_a_step_from_scratch_equals_the_framework_s_own(framework):
    """The program asserts equal parameters itself, before it takes any time."""
    if not (ROOT / "_build" / "notebooks" / framework / "multiple-gpus.ipynb").exists():
        pytest.skip("make notebooks has not written the section's notebook")
    assert [line.split()[0] for line in printed("steps.py", framework)] == ["a", "one", "two,", "two,"]
