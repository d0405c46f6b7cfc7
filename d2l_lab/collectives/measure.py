"""Run as a program by each of n ranks: `python -m d2l_lab.collectives.measure --rank r --hosts a:p,b:p`.

It checks each algorithm at each size against the known sum and then times the algorithms in turn. Rank 0 prints one
line of JSON, {algorithm: {bytes: {"seconds": s, "sent": [bytes that each rank sent in one all-reduce]}}}, and returns
the same to `launch`.
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from d2l_lab.collectives import algorithms
from d2l_lab.collectives.communicator import Communicator
from d2l_lab.processes.control import FOLDER
from d2l_lab.processes.job import return_value

Array = np.ndarray[Any, Any]
Reduce = Callable[[Communicator, Array], None]
ALGORITHMS: dict[str, Reduce] = {"star": algorithms.star, "ring": algorithms.ring}


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


def gathered(comm: Communicator, values: Sequence[float]) -> Array:
    """Return on rank 0 an array with a row of values for each rank; the other ranks' results have no meaning."""
    rows = np.zeros((comm.world_size, len(values)))
    rows[0] = values
    if comm.rank > 0:
        comm.send(rows[0], 0)
        return rows
    for rank in range(1, comm.world_size):
        comm.receive(rows[rank], rank)
    return rows


def measured(
    comm: Communicator, functions: Mapping[str, Reduce], sizes: Sequence[int], repeats: int
) -> dict[str, dict[int, dict[str, Any]]]:
    """Check and time all-reduces at each size; they take turns, after one turn to warm up.

    Parameters
    ----------
    functions
        The all-reduces by name.
    sizes
        In bytes.
    repeats
        How often each is timed.

    Returns
    -------
    dict
        {name: {bytes: {"seconds": s, "sent": [bytes of each rank]}}}, to be used on rank 0; the seconds are the median
        of the slowest rank's.
    """
    found: dict[str, dict[int, dict[str, Any]]] = {name: {} for name in functions}
    for size in sizes:
        x = np.empty(size // 4, np.float32)
        sent = {name: gathered(comm, [check(comm, reduce, len(x))]) for name, reduce in functions.items()}
        runs: dict[str, list[float]] = {name: [] for name in functions}
        for _ in range(1 + repeats):
            for name, reduce in functions.items():
                runs[name].append(seconds(comm, reduce, x))
        for name in functions:
            slowest = gathered(comm, runs[name][1:]).max(axis=0)
            found[name][size] = {"seconds": statistics.median(slowest), "sent": sent[name][:, 0].astype(int).tolist()}
    return found


def _words(text: str) -> list[str]:
    return text.split(",")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what the command line asks for; RANK and HOSTS of the environment replace --rank and --hosts."""
    parser = argparse.ArgumentParser(description="Measure all-reduces over sockets between n processes.")
    parser.add_argument("--rank", type=int)
    parser.add_argument("--hosts", type=_words, metavar="ADDRESS:PORT,…")
    parser.add_argument("--algorithms", type=_words, default=list(ALGORITHMS), metavar=",".join(ALGORITHMS))
    parser.add_argument("--sizes", type=_words, default=["1048576"], metavar="BYTES,…")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--timeout", type=float, default=30, metavar="SECONDS")
    options = parser.parse_args(arguments)
    if unknown := {*options.algorithms} - {*ALGORITHMS}:
        parser.error(f"unknown algorithms {', '.join(sorted(unknown))}; known: {', '.join(ALGORITHMS)}")
    with Communicator(options.rank, options.hosts, options.timeout) as comm:
        functions = {name: ALGORITHMS[name] for name in options.algorithms}
        found = measured(comm, functions, [int(size) for size in options.sizes], options.repeats)
        comm.barrier()
    if comm.rank == 0:
        print(json.dumps(found))
        if FOLDER in os.environ:
            return_value(found)


if __name__ == "__main__":
    main()
