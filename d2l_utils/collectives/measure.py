"""Run as a program by each of n ranks: `python -m d2l_utils.collectives.measure --rank r --hosts a:p,b:p --algorithms star,ring`.

Checks each algorithm at each size against the known sum, then times the algorithms in turn. Rank 0 prints one line of JSON,
{algorithm: {bytes: {"seconds": s, "sent": [bytes that each rank sent in one all-reduce]}}}, and returns it to `launch`.
"""

import argparse
import json
import os
import statistics
import time

import numpy as np

from d2l_utils.collectives import algorithms
from d2l_utils.collectives.communicator import Communicator
from d2l_utils.jobs.job import return_value
from d2l_utils.jobs.processes import FOLDER

ALGORITHMS = {function.__name__: function for function in (algorithms.star, algorithms.direct, algorithms.ring)}


def check(comm, reduce, count):
    """Return the bytes that this rank sends to reduce `count` numbers; ValueError if the result is not the sum.

    What the ranks add differs by rank and by place; integers so small that every order gives the same sum.
    """
    place = np.arange(count, dtype=np.float32) % 1000
    x, before = place + np.float32(comm.rank), comm.sent
    reduce(comm, x)
    if not np.array_equal(x, comm.world_size * place + comm.world_size * (comm.world_size - 1) // 2):
        raise ValueError(f"rank {comm.rank} of {comm.world_size}: {reduce.__name__} of {count} numbers is not the sum")
    return comm.sent - before


def seconds(comm, reduce, x):
    """Return the time of one all-reduce of x, which all ranks begin together."""
    x[:] = 1
    comm.barrier()
    start = time.perf_counter()
    reduce(comm, x)
    return time.perf_counter() - start


def gathered(comm, values):
    """Return what all ranks pass, a list of numbers each, as an array with a row for each rank; true on rank 0."""
    rows = np.zeros((comm.world_size, len(values)))
    rows[0] = values
    if comm.rank > 0:
        comm.send(rows[0], 0)
        return rows
    for rank in range(1, comm.world_size):
        comm.receive(rows[rank], rank)
    return rows


def measured(comm, functions, sizes, repeats):
    """Return {algorithm: {bytes: {"seconds", "sent"}}}, true on rank 0; seconds are medians of the slowest rank's.

    `functions` has for each algorithm a function of a comm and a vector.
    """
    found = {name: {} for name in functions}
    for size in sizes:
        x = np.empty(size // 4, np.float32)
        sent = {name: gathered(comm, [check(comm, reduce, len(x))]) for name, reduce in functions.items()}
        runs = {name: [] for name in functions}
        for _ in range(1 + repeats):  # the first warms up
            for name, reduce in functions.items():
                runs[name].append(seconds(comm, reduce, x))
        for name in functions:
            slowest = gathered(comm, runs[name][1:]).max(axis=0)
            found[name][size] = {"seconds": statistics.median(slowest), "sent": sent[name][:, 0].astype(int).tolist()}
    return found


def _words(text):
    return text.split(",")


def main(arguments=None):
    """Measure what the command line says; RANK and HOSTS of the environment stand in for --rank and --hosts."""
    parser = argparse.ArgumentParser(description="Measure all-reduces over sockets between n processes.")
    parser.add_argument("--rank", type=int)
    parser.add_argument("--hosts", type=_words, metavar="ADDRESS:PORT,…")
    parser.add_argument("--algorithms", type=_words, default=list(ALGORITHMS), metavar=",".join(ALGORITHMS))
    parser.add_argument("--sizes", type=_words, default=["1048576"], metavar="BYTES,…")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--timeout", type=float, default=30, metavar="SECONDS")
    told = parser.parse_args(arguments)
    if unknown := {*told.algorithms} - {*ALGORITHMS}:
        parser.error(f"unknown algorithms {', '.join(sorted(unknown))}; known: {', '.join(ALGORITHMS)}")
    with Communicator(told.rank, told.hosts, told.timeout) as comm:
        functions = {name: ALGORITHMS[name] for name in told.algorithms}
        found = measured(comm, functions, [int(size) for size in told.sizes], told.repeats)
        comm.barrier()
    if comm.rank == 0:
        print(json.dumps(found))
        if FOLDER in os.environ:
            return_value(found)


if __name__ == "__main__":
    main()
