"""The time of one message between two ranks: `python -m rack.pingpong` with RANK and HOSTS set."""

import json
import statistics
import time
from typing import Any

import numpy as np

from d2l_lab.collectives.communicator import Communicator

SIZES = [2**k for k in range(10, 20)]  # bytes
REPEATS = 5


def message(comm: Communicator, x: np.ndarray[Any, Any], partner: int) -> float:
    """Return half the seconds that x takes from one rank to its partner and back; the lower rank sends first."""
    start = time.perf_counter()
    if comm.rank < partner:
        comm.send(x, partner)
        comm.receive(x, partner)
    else:
        comm.receive(x, partner)
        comm.send(x, partner)
    return (time.perf_counter() - start) / 2


def main() -> None:
    """Print, on rank 0, the sizes and the median time of a message of each."""
    times: dict[int, list[float]] = {size: [] for size in SIZES}
    with Communicator() as comm:
        for _ in range(REPEATS + 1):
            for size in SIZES:
                x = np.zeros(size, np.uint8)
                comm.barrier()
                times[size].append(message(comm, x, 1 - comm.rank))
    if comm.rank == 0:
        print(json.dumps({"bytes": SIZES, "seconds": [statistics.median(t[1:]) for t in times.values()]}))


if __name__ == "__main__":
    main()
