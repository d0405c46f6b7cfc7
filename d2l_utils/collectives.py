"""Run as a program by each of n ranks: `python -m d2l_utils.collectives --rank r --hosts a:p,b:p --schemes star,ring`.

Checks each scheme at each size against the known sum, then times the schemes in turn. Rank 0 prints one line of JSON,
{scheme: {bytes: {"seconds": s, "sent": [bytes that each rank sent in one all-reduce]}}}, and hands it back to `launch`.
"""

import argparse
import json
import os
import statistics
import time

import numpy as np

from . import schemes
from .launch import hand_back
from .mesh import Mesh
from .processes import FOLDER

SCHEMES = {function.__name__: function for function in (schemes.star, schemes.sharded, schemes.ring)}


def check(mesh, reduce, count):
    """Return the bytes that this rank sends to reduce `count` numbers; ValueError if the result is not the sum.

    What the ranks add differs by rank and by place; integers so small that every order gives the same sum.
    """
    place = np.arange(count, dtype=np.float32) % 1000
    x, before = place + np.float32(mesh.rank), mesh.sent
    reduce(mesh, x)
    if not np.array_equal(x, mesh.n * place + mesh.n * (mesh.n - 1) // 2):
        raise ValueError(f"rank {mesh.rank} of {mesh.n}: {reduce.__name__} of {count} numbers is not the sum")
    return mesh.sent - before


def seconds(mesh, reduce, x):
    """Return the time of one all-reduce of x, which all ranks begin together."""
    x[:] = 1
    mesh.barrier()
    start = time.perf_counter()
    reduce(mesh, x)
    return time.perf_counter() - start


def gathered(mesh, values):
    """Return what all ranks pass, a list of numbers each, as an array with a row for each rank; true on rank 0."""
    rows = np.zeros((mesh.n, len(values)))
    rows[0] = values
    if mesh.rank > 0:
        mesh.send(0, rows[0])
        return rows
    for rank in range(1, mesh.n):
        mesh.receive(rank, rows[rank])
    return rows


def measured(mesh, functions, sizes, repeats):
    """Return {scheme: {bytes: {"seconds", "sent"}}}, true on rank 0; seconds are medians of the slowest rank's.

    `functions` has for each scheme a function of a mesh and a vector.
    """
    found = {name: {} for name in functions}
    for size in sizes:
        x = np.empty(size // 4, np.float32)
        sent = {name: gathered(mesh, [check(mesh, reduce, len(x))]) for name, reduce in functions.items()}
        runs = {name: [] for name in functions}
        for _ in range(1 + repeats):  # the first warms up
            for name, reduce in functions.items():
                runs[name].append(seconds(mesh, reduce, x))
        for name in functions:
            slowest = gathered(mesh, runs[name][1:]).max(axis=0)
            found[name][size] = {"seconds": statistics.median(slowest), "sent": sent[name][:, 0].astype(int).tolist()}
    return found


def _words(text):
    return text.split(",")


def main(arguments=None):
    """Measure what the command line says; RANK and HOSTS of the environment stand in for --rank and --hosts."""
    parser = argparse.ArgumentParser(description="Measure all-reduces over sockets between n processes.")
    parser.add_argument("--rank", type=int)
    parser.add_argument("--hosts", type=_words, metavar="ADDRESS:PORT,…")
    parser.add_argument("--schemes", type=_words, default=list(SCHEMES), metavar=",".join(SCHEMES))
    parser.add_argument("--sizes", type=_words, default=["1048576"], metavar="BYTES,…")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--timeout", type=float, default=30, metavar="SECONDS")
    told = parser.parse_args(arguments)
    if unknown := {*told.schemes} - {*SCHEMES}:
        parser.error(f"unknown schemes {', '.join(sorted(unknown))}; known: {', '.join(SCHEMES)}")
    with Mesh(told.rank, told.hosts, told.timeout) as mesh:
        functions = {name: SCHEMES[name] for name in told.schemes}
        found = measured(mesh, functions, [int(size) for size in told.sizes], told.repeats)
        mesh.barrier()
    if mesh.rank == 0:
        print(json.dumps(found))
        if FOLDER in os.environ:
            hand_back(found)


if __name__ == "__main__":
    main()
