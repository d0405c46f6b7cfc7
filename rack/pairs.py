"""The time of one message between any two of n ranks: `python -m rack.pairs BYTES` with RANK and HOSTS set.

As in a tournament, n / 2 disjoint pairs play at once, so n - 1 rounds test all n (n - 1) / 2 pairs.
"""

import json
import statistics
import sys

import numpy as np

from d2l_lab.collectives.communicator import Communicator
from d2l_lab.collectives.measure import gathered
from rack.pingpong import message

REPEATS = 3


def partner(rank: int, turn: int, n: int) -> int:
    """Return with whom a rank is paired in round `turn` of n - 1, for an even n."""
    if rank == n - 1:
        return next(i for i in range(n - 1) if (turn - i) % (n - 1) == i)
    other = (turn - rank) % (n - 1)
    return n - 1 if other == rank else other


def main() -> None:
    """Print, on rank 0, for each rank a list of its median seconds to each rank; 0 to itself."""
    x = np.zeros(int(sys.argv[1]), np.uint8)
    with Communicator() as comm:
        row = np.zeros(comm.world_size)
        for turn in range(comm.world_size - 1):
            other = partner(comm.rank, turn, comm.world_size)
            comm.barrier()
            times = [message(comm, x, other) for _ in range(REPEATS + 1)]
            row[other] = statistics.median(times[1:])
        rows = gathered(comm, row)
    if comm.rank == 0:
        print(json.dumps(rows.tolist()))


if __name__ == "__main__":
    main()
