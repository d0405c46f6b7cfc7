"""Two all-reduces over a Communicator: each replaces the vector x, in place, by the sum of all ranks' vectors.

With S the bytes of x, and n a divisor of its length, `star` makes rank 0 send (n - 1) S bytes and the others S;
`ring` makes each rank send 2 (n - 1) / n S (Patarasuk and Yuan 2009). All ranks together send 2 (n - 1) S in either.
"""

from typing import Any

import numpy as np

from d2l_lab.collectives.communicator import Communicator

Vector = np.ndarray[Any, Any]  # of one dimension


def star(comm: Communicator, x: Vector) -> None:
    """Rank 0 adds up the vectors of all others and sends each of them the sum."""
    if comm.rank > 0:
        comm.send(x, 0)
        comm.receive(x, 0)
        return
    arrived = np.empty_like(x)
    for rank in range(1, comm.world_size):
        comm.receive(arrived, rank)
        x += arrived
    for rank in range(1, comm.world_size):
        comm.send(x, rank)


def ring(comm: Communicator, x: Vector) -> None:
    """Partial sums travel round the ring and grow (reduce-scatter); then the complete sums do (all-gather)."""
    rank, n = comm.rank, comm.world_size
    parts = np.array_split(x, n)
    right, left = (rank + 1) % n, (rank - 1) % n
    arrived = np.empty_like(parts[0])  # the longest of the parts
    for step in range(n - 1):
        grows = parts[(rank - step - 1) % n]
        space = arrived[: len(grows)]
        comm.sendrecv(parts[(rank - step) % n], right, space, left)
        grows += space
    for step in range(n - 1):
        whole, into = parts[(rank - step + 1) % n], parts[(rank - step) % n]
        comm.sendrecv(whole, right, into, left)
