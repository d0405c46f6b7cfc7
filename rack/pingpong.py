"""The time of one message between two ranks: `python -m rack.pingpong` with RANK and HOSTS in the environment."""

import json
import statistics
import time

import numpy as np

from d2l_utils.collectives.communicator import Communicator

SIZES = [2**k for k in range(10, 20)]  # bytes
REPEATS = 5


def message(comm, x):
    """Return half the seconds that x takes to the other rank and back."""
    start = time.perf_counter()
    for sends in (comm.rank == 0, comm.rank == 1):
        comm.send(x, 1 - comm.rank) if sends else comm.receive(x, 1 - comm.rank)
    return (time.perf_counter() - start) / 2


def main():
    times = {size: [] for size in SIZES}
    with Communicator() as comm:
        for _ in range(REPEATS + 1):
            for size in SIZES:
                x = np.zeros(size, np.uint8)
                comm.barrier()
                times[size].append(message(comm, x))
    if comm.rank == 0:
        print(json.dumps({"bytes": SIZES, "seconds": [statistics.median(t[1:]) for t in times.values()]}))


if __name__ == "__main__":
    main()
