"""Three all-reduces over a Mesh: each replaces the vector x, in place, by the sum of all ranks' vectors.

What a rank sends, where S are the bytes of x and n divides its length: star (n - 1) S at rank 0 and S elsewhere,
sharded and ring 2 (n - 1) / n S (Patarasuk and Yuan 2009). All ranks together send 2 (n - 1) S by each of them.
"""

import numpy as np


def star(mesh, x):
    """Rank 0 adds up the vectors of all others and sends each of them the sum."""
    if mesh.rank > 0:
        mesh.send(0, x)
        mesh.receive(0, x)
        return
    arrived = np.empty_like(x)
    for rank in range(1, mesh.n):
        mesh.receive(rank, arrived)
        x += arrived
    for rank in range(1, mesh.n):
        mesh.send(rank, x)


def sharded(mesh, x):
    """Each rank is the server of one part of x: all push it to that rank, then pull the sum from it."""
    parts, rank, n = np.array_split(x, mesh.n), mesh.rank, mesh.n
    mine, arrived = parts[rank], np.empty_like(parts[rank])
    for step in range(1, n):
        to, source = (rank + step) % n, (rank - step) % n
        mesh.exchange(to, parts[to], source, arrived)
        mine += arrived
    for step in range(1, n):
        to, source = (rank + step) % n, (rank - step) % n
        mesh.exchange(to, mine, source, parts[source])


def ring(mesh, x):
    """Partial sums go round and grow; then the whole sums go round."""
    parts, rank, n = np.array_split(x, mesh.n), mesh.rank, mesh.n
    right, left = (rank + 1) % n, (rank - 1) % n
    arrived = np.empty_like(parts[0])  # the longest of the parts
    for step in range(n - 1):
        grows = parts[(rank - step - 1) % n]
        space = arrived[: len(grows)]
        mesh.exchange(right, parts[(rank - step) % n], left, space)
        grows += space
    for step in range(n - 1):
        whole, into = parts[(rank - step + 1) % n], parts[(rank - step) % n]
        mesh.exchange(right, whole, left, into)
