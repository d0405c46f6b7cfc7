"""The time of one message between any two of n ranks: `python -m rack.pairs BYTES…` with RANK and HOSTS set.

As in a tournament, n / 2 disjoint pairs play at once, so n - 1 rounds test all n (n - 1) / 2 pairs.
"""

import json
import sys
import time
from collections.abc import Sequence

import numpy as np

from d2l_lab.collectives.communicator import Communicator
from d2l_lab.collectives.measure import Array, gathered

REPEATS = 5


def message(comm: Communicator, x: Array, other: int) -> float:
    """Return half the seconds that x takes from the lower rank to the higher and back; 0 on the higher.

    The higher rank's clock would not tell: it starts late, and stops when its answer has been handed to TCP.
    """
    if comm.rank > other:
        comm.receive(x, other)
        comm.send(x, other)
        return 0
    start = time.perf_counter()
    comm.send(x, other)
    comm.receive(x, other)
    return (time.perf_counter() - start) / 2


def partner(rank: int, turn: int, n: int) -> int:
    """Return with whom a rank is paired in round `turn` of n - 1, for an even n."""
    if rank == n - 1:
        return next(i for i in range(n - 1) if (turn - i) % (n - 1) == i)
    other = (turn - rank) % (n - 1)
    return n - 1 if other == rank else other


def median_seconds(comm: Communicator, sizes: Sequence[int]) -> Array:
    """Return on rank 0 the median seconds of messages between any two ranks, shape (n, n, sizes); 0 to itself.

    The sizes, in bytes, take turns, after one turn to warm up.
    """
    n = comm.world_size
    times = np.zeros((n, len(sizes), 1 + REPEATS))
    for turn in range(n - 1):
        other = partner(comm.rank, turn, n)
        for repeat in range(1 + REPEATS):
            for i, size in enumerate(sizes):
                comm.barrier()
                times[other, i, repeat] = message(comm, np.zeros(size, np.uint8), other)
    medians = gathered(comm, np.median(times[..., 1:], axis=-1).ravel()).reshape(n, n, len(sizes))
    return medians + medians.swapaxes(0, 1)


def main() -> None:
    """Print, on rank 0, the seconds as JSON."""
    with Communicator() as comm:
        seconds = median_seconds(comm, [int(size) for size in sys.argv[1:]])
        comm.barrier()
    if comm.rank == 0:
        print(json.dumps(seconds.tolist()))


if __name__ == "__main__":
    main()
