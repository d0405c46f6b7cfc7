"""The benchmark's all-reduces, between processes."""

from pathlib import Path

import pytest

from d2l_utils.jobs.job import free_ports, launch

SOCKETS = Path(__file__).parents[2] / "benchmarks" / "sockets.py"
RING = Path(__file__).parents[2] / "benchmarks" / "ring.py"
ELEMENTS = (3, 1001, 2_000_003)  # fewer than four ranks, one piece a chunk, several pieces


@pytest.mark.only("pytorch")
@pytest.mark.parametrize("n", [2, 4])
def test_the_ring_gives_every_rank_the_sum_where_chunks_differ_in_length(n, tmp_path):
    """The program asserts the sums itself, before it takes any time."""
    ranks = launch([str(RING), str(tmp_path / "rendezvous"), "1", *map(str, ELEMENTS)], n)
    assert [list(rank) for rank in ranks] == [list(ELEMENTS)] * n


@pytest.mark.only("pytorch")
def test_the_schemes_over_sockets_and_gloo_give_the_sum_side_by_side(tmp_path):
    """The program asserts the sums itself, before it takes any time."""
    hosts = ",".join(f"127.0.0.1:{port}" for port in free_ports(2))
    found, _ = launch([str(SOCKETS), str(tmp_path / "rendezvous"), "1", "4096"], 2, environment={"HOSTS": hosts})
    assert {name: rows[4096]["sent"] for name, rows in found.items()} == {
        "star": [4096, 4096],
        "direct": [4096, 4096],
        "ring": [4096, 4096],
        "gloo": [0, 0],
    }
