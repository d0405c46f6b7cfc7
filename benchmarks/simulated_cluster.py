"""Measure the simulated cluster: `python benchmarks/simulated_cluster.py [--quick]`, in any environment.

How long each protocol of d2l_utils/collectives/simulation.py takes for 10,000 workers, the best of three runs, and how
many steps of workers a second that makes.
"""

import argparse
import math
import time

import numpy as np

from d2l_utils.collectives.simulation import training_ends

N = 10_000
STEPS = 200


def runs(n):
    """Return {name: (number of steps, function)} for n workers."""
    compute = 1 + 10 * (np.random.default_rng(0).random((STEPS, n)) < 1e-3)
    return {
        "synchronous training": (n * STEPS, lambda: training_ends(compute, 0)),
        "bounded staleness": (n * STEPS, lambda: training_ends(compute, 4)),
        "asynchronous training": (n * STEPS, lambda: training_ends(compute, math.inf)),
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
    print(f"the longest run: {name}, {seconds:.2f} s")


if __name__ == "__main__":
    main()
