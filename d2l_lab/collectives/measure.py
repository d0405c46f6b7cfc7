"""All-reduces checked against the known sum, and timed.

`python -m d2l_lab.collectives.measure REPEATS BYTES…`, run by each of n ranks with RANK and HOSTS set, measures both
algorithms at each size. Rank 0 prints {algorithm: {bytes: seconds}} as JSON.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from d2l_lab.collectives.algorithms import ring, star
from d2l_lab.collectives.communicator import Communicator

Array = np.ndarray[Any, Any]
Reduce = Callable[[Communicator, Array], None]
ALGORITHMS: dict[str, Reduce] = {"star": star, "ring": ring}


def check(comm: Communicator, reduce: Reduce, count: int) -> int:
    """Return the bytes that this rank sends to reduce `count` numbers.

    The addends differ by rank and by place, and are integers so small that every order of addition gives the same sum.

    Raises
    ------
    ValueError
        If the result is not the sum.
    """
    place = np.arange(count, dtype=np.float32) % 1000
    x, before = place + np.float32(comm.rank), comm.sent
    reduce(comm, x)
    if not np.array_equal(x, comm.world_size * place + comm.world_size * (comm.world_size - 1) // 2):
        raise ValueError(f"rank {comm.rank} of {comm.world_size}: {reduce.__name__} of {count} numbers is not the sum")
    return comm.sent - before


def seconds(comm: Communicator, reduce: Reduce, x: Array) -> float:
    """Return the time of one all-reduce of x, which all ranks start together."""
    x[:] = 1
    comm.barrier()
    start = time.perf_counter()
    reduce(comm, x)
    return time.perf_counter() - start


def gathered(comm: Communicator, values: Sequence[float] | Array) -> Array:
    """Return on rank 0 an array with a row of values for each rank; the other ranks' results have no meaning."""
    rows = np.zeros((comm.world_size, len(values)))
    rows[0] = values
    if comm.rank > 0:
        comm.send(rows[0], 0)
        return rows
    for rank in range(1, comm.world_size):
        comm.receive(rows[rank], rank)
    return rows


def measured(comm: Communicator, sizes: Sequence[int], repeats: int) -> dict[str, dict[int, float]]:
    """Check the algorithms at sizes in bytes, and time them in turn after one turn to warm up.

    Returns
    -------
    dict
        {name: {bytes: seconds}}, to be used on rank 0: the median of the slowest rank's times.
    """
    medians: dict[str, dict[int, float]] = {name: {} for name in ALGORITHMS}
    for size in sizes:
        x = np.empty(size // 4, np.float32)
        for reduce in ALGORITHMS.values():
            check(comm, reduce, len(x))
        runs: dict[str, list[float]] = {name: [] for name in ALGORITHMS}
        for _ in range(1 + repeats):
            for name, reduce in ALGORITHMS.items():
                runs[name].append(seconds(comm, reduce, x))
        for name, times in runs.items():
            medians[name][size] = statistics.median(gathered(comm, times[1:]).max(axis=0))
    return medians


def main() -> None:
    """Measure what the command line asks for."""
    repeats, *sizes = map(int, sys.argv[1:])
    with Communicator() as comm:
        medians = measured(comm, sizes, repeats)
        comm.barrier()
    if comm.rank == 0:
        print(json.dumps(medians))


if __name__ == "__main__":
    main()
