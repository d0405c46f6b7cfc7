"""The costs of all-reduces as figures. The simulation computes those of rings, hosts and servers by their messages."""

import pytest

from d2l_lab.collectives.cost_model import ring_time, star_time

S, ALPHA, B = 160e6, 1e-5, 16e9  # a message of S bytes takes 10.01 ms, an eighth of it 1.26 ms
V100 = (0, 3 * 25e9)  # three links of NVLink


@pytest.mark.parametrize(
    ("time", "arguments", "seconds"),
    [
        (star_time, (1, S, ALPHA, B), 0),
        (star_time, (2, S, ALPHA, B), 2 * 10.01e-3),
        (star_time, (8, S, ALPHA, B), 14 * 10.01e-3),
        (ring_time, (1, S, ALPHA, B), 0),
        (ring_time, (2, S, ALPHA, B), 2 * 5.01e-3),
        (ring_time, (8, S, ALPHA, B), 14 * 1.26e-3),
        (ring_time, (8, S, *V100), 3.733e-3),
    ],
)
def test_an_all_reduce_takes_as_many_messages_as_its_ranks_send_one_after_another(time, arguments, seconds):
    assert time(*arguments) == pytest.approx(seconds, rel=1e-3)
