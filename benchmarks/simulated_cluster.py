"""Measure the simulated cluster: `python benchmarks/simulated_cluster.py [--quick]`, in any environment.

How long each protocol of d2l_utils/collectives/simulation.py takes for 10,000 workers, the best of three runs, and how
many messages, steps of workers or exchanges with servers a second that makes.
"""

import argparse
import math
import time

import numpy as np

from d2l_utils.collectives.simulation import asynchronous_ends, hierarchical_ends, ring_ends, server_ends, training_ends

N = 10_000
HOST = 8
SERVERS = 64
STEPS = 200
FEW = 40  # where each exchange is an event
LINK = (14e-6, 12.5e9)  # 100 Gbit/s
INSIDE = (3.4e-6, 450e9)
S = 102.4e6  # bytes


def runs(n):
    """Return {name: (number of messages or steps, function)} for n workers."""
    start, compute = np.zeros(n), 1 + 10 * (np.random.default_rng(0).random((STEPS, n)) < 1e-3)
    rings = n * (2 * (HOST - 1) + 2 * (n // HOST - 1))
    return {
        "ring, messages": (2 * (n - 1) * n, lambda: ring_ends(start, S, *LINK)),
        "rings in hosts and between, messages": (rings, lambda: hierarchical_ends(start, HOST, S, INSIDE, LINK)),
        "servers, waits in their queue": (2 * n, lambda: server_ends(start, SERVERS, S, *LINK)),
        "synchronous training, steps": (n * STEPS, lambda: training_ends(compute, 0)),
        "bounded staleness, steps": (n * STEPS, lambda: training_ends(compute, 4)),
        "asynchronous training, steps": (n * STEPS, lambda: training_ends(compute, math.inf)),
        "asynchronous servers, exchanges": (n * FEW, lambda: asynchronous_ends(compute[:FEW], SERVERS, S, *LINK)),
    }


def main(arguments=None):
    """Print the time and the speed of each protocol."""
    parser = argparse.ArgumentParser(description="Measure the simulated cluster.")
    parser.add_argument("--quick", action="store_true", help="few workers, to try the program")
    n = 80 if parser.parse_args(arguments).quick else N
    found = {}
    for name, (number, run) in runs(n).items():
        times = []
        for _ in range(3):
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
        found[name] = number, min(times)
    print(f"simulation of {n:,} workers{'seconds':>24} {'number':>12} {'million a second':>17}")
    for name, (number, seconds) in found.items():
        print(f"{name:<38} {seconds:12.4f} {number:12,} {number / seconds / 1e6:17.1f}")
    name, (_, seconds) = max(found.items(), key=lambda item: item[1][1])
    print(f"the longest run: {name.partition(',')[0]}, {seconds:.2f} s")


if __name__ == "__main__":
    main()
