"""The costs of all-reduces: known cases, limits, and units."""

import pytest

from d2l_utils.collectives.cost_model import (
    bus_bandwidth,
    hierarchical_time,
    ring_time,
    server_time,
    star_time,
    tree_time,
)

FLAT = (star_time, tree_time, ring_time)
S, ALPHA, B = 160e6, 1e-5, 16e9


@pytest.mark.parametrize("time", FLAT)
def test_one_rank_has_nothing_to_reduce(time):
    assert time(1, S, ALPHA, B) == 0


@pytest.mark.parametrize("time", FLAT)
def test_two_ranks_exchange_the_same_bytes_by_every_algorithm_but_the_ring_cuts_them(time):
    expected = 2 * (ALPHA + (S / 2 if time is ring_time else S) / B)
    assert time(2, S, ALPHA, B) == pytest.approx(expected)


@pytest.mark.parametrize("time", FLAT)
def test_without_latency_the_time_is_bytes_over_bandwidth(time):
    assert time(8, 3 * S, 0, 3 * B) == pytest.approx(time(8, S, 0, B))


def test_of_many_ranks_the_ring_keeps_its_bytes_the_star_does_not_and_the_ring_waits_for_latency():
    assert ring_time(10**6, S, 0, B) == pytest.approx(2 * S / B, rel=1e-5)
    assert star_time(10**6, S, 0, B) == pytest.approx(2e6 * S / B, rel=1e-5)
    assert ring_time(10**6, 0, ALPHA, B) == pytest.approx(2e6 * ALPHA, rel=1e-5)


def test_one_server_is_a_star_and_a_server_beside_each_worker_sends_what_a_ring_sends():
    assert server_time(7, 1, S, ALPHA, B) == pytest.approx(star_time(8, S, ALPHA, B))
    assert server_time(8, 8, S, 0, B) == pytest.approx(2 * S / B)
    assert ring_time(8, S, 0, B) == pytest.approx(7 / 8 * server_time(8, 8, S, 0, B))


def test_more_servers_than_workers_gain_nothing_but_latency():
    assert server_time(8, 16, S, 0, B) == pytest.approx(server_time(8, 8, S, 0, B))
    assert server_time(8, 16, S, ALPHA, B) > server_time(8, 8, S, ALPHA, B)


def test_a_hierarchy_of_one_level_is_a_ring():
    link = (ALPHA, B)
    assert hierarchical_time(8, 1, S, link, link) == pytest.approx(ring_time(8, S, *link))
    assert hierarchical_time(1, 8, S, link, link) == pytest.approx(ring_time(8, S, *link))


def test_eight_v100_sum_160_megabytes_over_three_links_of_nvlink_in_4_milliseconds():
    assert ring_time(8, S, 0, 3 * 25e9) == pytest.approx(3.7e-3, rel=0.01)


def test_bus_bandwidth_of_a_ring_without_latency_is_the_link():
    assert bus_bandwidth(8, S, ring_time(8, S, 0, B)) == pytest.approx(B)
