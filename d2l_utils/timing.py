"""Clocks: one-shot times, repeated measurements with their spread, and fair comparisons. Standard library only.

Nothing here synchronises. A framework may return before the work is done: the timed code itself has to wait.
"""

import gc
import statistics
from dataclasses import dataclass
from itertools import repeat
from time import perf_counter

SHORTEST_RUN = 0.005  # seconds; well above the clock's resolution and the cost of reading it


class Timer:
    """Record multiple running times in seconds, in the list `times`. The clock starts on construction."""

    def __init__(self):
        self.times = []
        self.start()

    def start(self):
        """Start the clock, or start it afresh."""
        self.tik = perf_counter()

    def stop(self):
        """Append the seconds since the last start to `times` and return them."""
        self.times.append(perf_counter() - self.tik)
        return self.times[-1]

    def avg(self):
        """Return the mean of the recorded times."""
        if not self.times:
            raise ValueError("the timer has recorded no time yet: call stop() first")
        return sum(self.times) / len(self.times)

    def sum(self):
        """Return the sum of the recorded times."""
        return sum(self.times)

    def cumsum(self):
        """Return the running sums of the recorded times as a list."""
        total = 0.0
        return [total := total + seconds for seconds in self.times]


class Benchmark:
    """Time a block once and print its seconds: `with Benchmark('product'): …`. Waits for no device.

    A block that raises an exception prints nothing. The Timer stands in the attribute `timer`.
    """

    def __init__(self, description="Done"):
        self.description = description

    def __enter__(self):
        self.timer = Timer()
        return self

    def __exit__(self, kind, value, traceback):
        seconds = self.timer.stop()
        if kind is None:
            print(f"{self.description}: {seconds:.4f} sec")


@dataclass(frozen=True)
class Measurement:
    """Times of several runs: `seconds` per call of each run, `number` of calls in a run."""

    seconds: tuple
    number: int

    @property
    def low(self):
        """The lower quartile, in seconds per call."""
        return self._quartiles()[0]

    @property
    def median(self):
        """The median, in seconds per call."""
        return statistics.median(self.seconds)

    @property
    def high(self):
        """The upper quartile, in seconds per call."""
        return self._quartiles()[2]

    def _quartiles(self):
        if len(self.seconds) == 1:
            return self.seconds * 3
        return statistics.quantiles(self.seconds, n=4, method="inclusive")

    def __str__(self):
        unit, factor = time_unit(self.median)
        median, low, high = (_three_digits(x * factor) for x in (self.median, self.low, self.high))
        runs = f"{len(self.seconds)} run" + "s" * (len(self.seconds) != 1)
        return f"{median} {unit} ({low} … {high}; {runs} of {self.number})"


def time_unit(seconds):
    """Return the unit in which this time reads best, and how many of it make a second."""
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return unit, factor
    return "ns", 1e9


def _three_digits(x):
    return f"{x:.{2 - (x >= 9.995) - (x >= 99.95)}f}"


def measure(function, repeats=9, budget=10.0):
    """Measure the seconds that a call of `function` takes, over `repeats` runs after a warm-up.

    A run repeats the call until it lasts 5 ms or more. Once `budget` seconds are spent, no further run starts, but
    at least one is measured. Garbage collection is off during a run, as in `timeit`.
    """
    return compare({"": function}, repeats, budget)[""]


def compare(functions, repeats=9, budget=10.0):
    """Measure several functions fairly: after a warm-up of each, their runs alternate A B A B ….

    Takes a dictionary from names to functions of no arguments, returns one from the names to Measurements.
    `budget` bounds the seconds that all of them take together, as in `measure`.
    """
    if not functions or repeats < 1:
        raise ValueError("compare takes at least one function and at least one repeat")
    deadline = perf_counter() + budget
    numbers = {name: _calls_per_run(function) for name, function in functions.items()}
    seconds = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            seconds[name].append(_run(function, numbers[name]) / numbers[name])
        if perf_counter() > deadline:
            break
    return {name: Measurement(tuple(seconds[name]), numbers[name]) for name in functions}


def report(measurements, steps=1):
    """Print a table of Measurements: one a line, with the ratio of its median to the first one's.

    If each call took several `steps`, such as an epoch of training, the times printed are those of one step.
    """
    measurements = {
        name: Measurement(tuple(x / steps for x in m.seconds), m.number * steps) for name, m in measurements.items()
    }
    rows = [(name, str(m), m.median) for name, m in measurements.items()]
    width, length = (max(len(row[column]) for row in rows) for column in (0, 1))
    for name, text, median in rows:
        print(f"{name:<{width}}  {text:<{length}}  {median / rows[0][2]:.3g} ×")


def _calls_per_run(function):
    """Warm `function` up and find the 1, 2, 5, 10, … calls that last SHORTEST_RUN."""
    _run(function, 1)
    for power in range(10):
        for number in (10**power, 2 * 10**power, 5 * 10**power):
            if _run(function, number) >= SHORTEST_RUN:
                return number
    return number


def _run(function, number):
    """Return the seconds that `number` calls take, with the garbage collector off."""
    calls = repeat(None, number)
    collecting = gc.isenabled()
    gc.disable()
    try:
        start = perf_counter()
        for _ in calls:
            function()
        return perf_counter() - start
    finally:
        if collecting:
            gc.enable()
