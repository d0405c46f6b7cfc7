"""Three all-reduces over a Communicator: each replaces the vector x, in place, by the sum of all ranks' vectors.

What a rank sends, where S are the bytes of x and n divides its length: star (n - 1) S at rank 0 and S elsewhere,
sharded and ring 2 (n - 1) / n S (Patarasuk and Yuan 2009). All ranks together send 2 (n - 1) S by each of them.
"""

import numpy as np


def star(comm, x):
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


def direct(comm, x):
    """Each rank is the server of one part of x: all push it to that rank, then pull the sum from it."""
    rank, n = comm.rank, comm.world_size
    parts = np.array_split(x, n)
    mine, arrived = parts[rank], np.empty_like(parts[rank])
    for step in range(1, n):
        to, source = (rank + step) % n, (rank - step) % n
        comm.sendrecv(parts[to], to, arrived, source)
        mine += arrived
    for step in range(1, n):
        to, source = (rank + step) % n, (rank - step) % n
        comm.sendrecv(mine, to, parts[source], source)


def ring(comm, x):
    """Partial sums go round and grow; then the whole sums go round."""
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
