"""The benchmark's ring all-reduce, between processes."""

from pathlib import Path

import pytest

from d2l_utils.launch import launch

RING = Path(__file__).parents[2] / "benchmarks" / "ring.py"
ELEMENTS = (3, 1001, 2_000_003)  # fewer than four ranks, one piece a chunk, several pieces


@pytest.mark.only("pytorch")
@pytest.mark.parametrize("n", [2, 4])
def test_the_ring_gives_every_rank_the_sum_where_chunks_differ_in_length(n, tmp_path):
    """The program asserts the sums itself, before it takes any time."""
    ranks = launch([str(RING), str(tmp_path / "rendezvous"), "1", *map(str, ELEMENTS)], n)
    assert [list(rank) for rank in ranks] == [list(ELEMENTS)] * n
