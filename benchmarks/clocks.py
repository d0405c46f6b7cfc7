"""Measure the clock: `python benchmarks/clocks.py [--quick]`.

Prints, as ratios within one run, how far the medians of `measure` lie from those of `timeit` on the same callables: a
ratio is the median of the rounds' ratios. Ends with status 1 when one is more than 3 % off.
"""

import argparse
import statistics
import sys
import timeit

from turns import load, take_turns

from d2l_lab.instruments.timing import measure

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


def ratio(function, budget):
    """Return the median over the rounds of `measure`'s time over that of `timeit`, and the number of rounds."""
    number = measure(function, repeats=1).number
    ways = {
        "timeit": lambda: statistics.median(timeit.repeat(function, number=number, repeat=REPEATS)) / number,
        "measure": lambda: measure(function, repeats=REPEATS).median,
    }
    found = take_turns(ways, seconds=budget)
    return statistics.median(map(float.__truediv__, found["measure"], found["timeit"])), len(found["timeit"])


def main():
    """Print the ratios; return whether a median of `measure` is off."""
    parser = argparse.ArgumentParser(description="Measure the clock.")
    parser.add_argument("--quick", action="store_true", help="the first callable for a moment, to try the program")
    quick = parser.parse_args().quick
    off = 0
    for name, (seconds, budget) in ({"1 µs": (1e-6, 0.1)} if quick else CALLABLES).items():
        found, rounds = ratio(busy(seconds), budget)
        print(f"measure / timeit, callable of {name:>6}: {found:.3f} ({rounds} rounds)")
        off += abs(found - 1) > WITHIN
    print(f"medians of measure within {WITHIN:.0%}: {'no' if off else 'yes'}; {load()}")
    return bool(off) and not quick


if __name__ == "__main__":
    sys.exit(main())
