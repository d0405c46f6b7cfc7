"""Measure the clocks: `python benchmarks/clocks.py [--quick]`; beside torch.utils.benchmark too where it is.

Prints, as ratios within one run, what `with Benchmark` adds to an empty block, and how far the medians of `measure`
lie from those of `timeit` and `torch.utils.benchmark` on the same callables. Candidates take turns, and a ratio is
the median of the rounds' ratios. Ends with status 1 when a median of `measure` is more than 3 % off timeit's.
"""

import argparse
import contextlib
import importlib
import importlib.util
import io
import os
import random
import statistics
import sys
import time
import timeit

from d2l_utils.timing import Benchmark, measure

WITHIN = 0.03
REPEATS = 5
CALLABLES = {"1 µs": (1e-6, 4), "1 ms": (1e-3, 4), "100 ms": (0.1, 14)}  # seconds: of a call, spent on measuring it


def busy(seconds):
    """Return a function of no arguments that computes, without a clock, for about so many seconds."""

    def spin(count):
        total = 0
        for i in range(count):
            total += i
        return total

    count = 100_000
    each = min(timeit.repeat(lambda: spin(count), number=1, repeat=9)) / count
    loops = max(1, round(seconds / each))
    return lambda: spin(loops)


def by_measure(function, number):
    return measure(function, repeats=REPEATS).median


def by_timeit(function, number):
    return statistics.median(timeit.repeat(function, number=number, repeat=REPEATS)) / number


def by_torch(function, number):
    timer = sys.modules["torch.utils.benchmark"].Timer("function()", globals={"function": function})
    return statistics.median(timer.timeit(number).median for _ in range(REPEATS))


def ratios(function, candidates, budget):
    """Return, for each candidate, the median over all rounds of its time over timeit's, and the number of rounds.

    All candidates call the function equally often in a run, and their order is drawn by lot in each round, so that
    what else runs on the machine disturbs them with equal chance.
    """
    number = measure(function, repeats=1).number
    rounds, lot, deadline = [], random.Random(0), time.perf_counter() + budget
    while time.perf_counter() < deadline:
        order = lot.sample(list(candidates), len(candidates))
        seconds = {name: candidates[name](function, number) for name in order}
        rounds.append({name: seconds[name] / seconds["timeit"] for name in candidates})
    return {name: statistics.median(r[name] for r in rounds) for name in candidates if name != "timeit"}, len(rounds)


def empty_block():
    """Return the seconds that an empty block takes under Benchmark, its printing included, and in timeit's loop."""

    def under_benchmark():
        with Benchmark():
            pass

    with contextlib.redirect_stdout(io.StringIO()):
        added = min(timeit.repeat(under_benchmark, number=1000, repeat=9)) / 1000
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        under_benchmark()
    return added, printed.getvalue().strip()


def main(arguments=None):
    """Print the ratios; return whether a median of `measure` is off."""
    parser = argparse.ArgumentParser(description="Measure the clocks.")
    parser.add_argument("--quick", action="store_true", help="the first callable for a moment, to try the program")
    quick = parser.parse_args(arguments).quick
    callables = {"1 µs": (1e-6, 0.1)} if quick else CALLABLES
    candidates = {"timeit": by_timeit, "measure": by_measure}
    if importlib.util.find_spec("torch"):
        importlib.import_module("torch.utils.benchmark")
        candidates["torch.utils.benchmark"] = by_torch
    added, line = empty_block()
    one = min(timeit.repeat("timeit('pass', number=1)", "from timeit import timeit", number=20, repeat=9)) / 20
    print(f"with Benchmark around nothing: {added * 1e6:.1f} µs, {added / one:.2g} × timeit.timeit('pass', number=1)")
    start, off = time.perf_counter(), 0
    for name, (seconds, budget) in callables.items():
        found, rounds = ratios(busy(seconds), candidates, budget)
        for candidate, ratio in found.items():
            print(f"{candidate:>22} / timeit, callable of {name:>6}: {ratio:.3f} ({rounds} rounds)")
            off += candidate == "measure" and abs(ratio - 1) > WITHIN
    verdict = "no" if off else "yes"
    print(f"medians of measure within {WITHIN:.0%}: {verdict}; {time.perf_counter() - start:.0f} s", end="; ")
    print(f"{os.getloadavg()[0]:.1f} processes wanted {os.cpu_count()} cores (with more than cores, run again later)")
    return bool(off) and not quick


if __name__ == "__main__":
    sys.exit(main())
