"""The time of one message between two ranks: `python -m rack.pingpong` with RANK and HOSTS in the environment."""

import json
import statistics
import time
from typing import Any

import numpy as np

from d2l_utils.collectives.communicator import Communicator

SIZES = [2**k for k in range(10, 20)]  # bytes
REPEATS = 5


def message(comm: Communicator, x: np.ndarray[Any, Any]) -> float:
    """Return half the seconds that x takes to the other rank and back."""
    start = time.perf_counter()
    if comm.rank == 0:
        comm.send(x, 1)
        comm.receive(x, 1)
    else:
        comm.receive(x, 0)
        comm.send(x, 0)
    return (time.perf_counter() - start) / 2


def main() -> None:
    """Print, on rank 0, the sizes and the median time of a message of each."""
    times: dict[int, list[float]] = {size: [] for size in SIZES}
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
