"""Measure all-reduces: `python benchmarks/all_reduces.py [--quick]`, in the PyTorch environment.

Sets the ring of ring.py beside the framework's own all-reduce, over gloo on 127.0.0.1, or over NCCL where each rank
has a GPU. Bus bandwidth is nccl-tests': 2(n − 1)/n bytes for each byte of the array, over the time. A run takes as
long as its slowest rank, and the figures are medians of runs that took turns. Ends with status 1 when the ring's
bandwidth at 16 MiB is below 0.7 of the framework's.
"""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from turns import load

from d2l_lab.processes.job import launch

SIZES = {"64 KiB": 2**16, "1 MiB": 2**20, "16 MiB": 2**24}  # bytes
WORLDS = (2, 4)
RUNS = 31
LEAST = 0.7  # of the framework's bandwidth, at the largest size
WORKER = Path(__file__).with_name("ring.py")


def all_reduces(n, sizes, runs):
    """Return {elements: {name: seconds}} of the all-reduces over n ranks, checked before they are timed."""
    with tempfile.TemporaryDirectory() as folder:
        elements = [str(size // 4) for size in sizes.values()]
        ranks = launch([str(WORKER), f"{folder}/rendezvous", str(runs), *elements], n)
    return {
        count: {name: statistics.median(map(max, *(rank[count][name] for rank in ranks))) for name in ranks[0][count]}
        for count in ranks[0]
    }


def main():
    """Print the table; return whether the ring misses its bound."""
    parser = argparse.ArgumentParser(description="Measure all-reduces.")
    parser.add_argument("--quick", action="store_true", help="two ranks and one size, to try the program")
    quick = parser.parse_args().quick
    sizes, worlds, runs = (SIZES, WORLDS, RUNS) if not quick else ({"64 KiB": 2**16}, (2,), 1)
    missed = 0
    print("all-reduce          ms: ring  framework   GB/s: ring  framework   ring's bandwidth / framework's")
    for n in worlds:
        found = all_reduces(n, sizes, runs)
        for title, size in sizes.items():
            times = found[size // 4]
            ring, framework = (2 * (n - 1) / n * size / times[name] / 1e9 for name in ("ring", "framework"))
            milliseconds = f"{1e3 * times['ring']:13.2f} {1e3 * times['framework']:10.2f}"
            print(f"{n} ranks, {title:>6} {milliseconds} {ring:12.2f} {framework:10.2f}   {ring / framework:.2f}")
        missed += ring / framework < LEAST
    print(f"at {title} at least {LEAST}: {'no' if missed else 'yes'}; {load()}")
    return bool(missed) and not quick


if __name__ == "__main__":
    sys.exit(main())
