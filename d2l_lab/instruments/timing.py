"""Clocks: one-shot times, repeated measurements with their spread, and fair comparisons.

Nothing here synchronises. A framework may return before the work is done: the timed code itself has to wait.
"""

import math
import os
import random
import statistics
import timeit
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from time import perf_counter

from d2l_lab.instruments.display import aligned
from d2l_lab.instruments.words import say, say_line, say_record
from d2l_lab.machine.disturbance import Disturbance, observing

SHORTEST_RUN = 0.005  # seconds; well above the clock's resolution and the cost of reading it
_disturbances: list[Disturbance] = []  # of all that was measured in this process
NEAR = 1.5  # times off, at most, for a prediction that needs no further word
FEWEST = 3  # runs that are measured whatever they take: fewer have no spread worth the name


class Timer:
    """Record multiple running times in seconds, in the list `times`. The clock starts on construction."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.start()

    def start(self) -> None:
        """Start the clock, or start it afresh."""
        self.tik = perf_counter()

    def stop(self) -> float:
        """Append the seconds since the last start to `times` and return them."""
        self.times.append(perf_counter() - self.tik)
        return self.times[-1]

    def avg(self) -> float:
        """Return the mean of the recorded times; ValueError if there is none."""
        if not self.times:
            raise ValueError("the timer has recorded no time yet: call stop() first")
        return sum(self.times) / len(self.times)

    def sum(self) -> float:
        """Return the sum of the recorded times."""
        return sum(self.times)

    def cumsum(self) -> list[float]:
        """Return the running sums of the recorded times."""
        return list(accumulate(self.times))


@dataclass(frozen=True)
class Measurement:
    """The times of several runs, each of the same number of calls.

    Parameters
    ----------
    seconds : tuple of float
        The seconds per call, one figure for each run.
    number : int
        The calls in a run.
    disturbance : Disturbance
        What others did meanwhile.
    """

    seconds: tuple[float, ...]
    number: int
    disturbance: Disturbance = Disturbance()

    def __post_init__(self) -> None:
        _disturbances.append(self.disturbance)

    @property
    def low(self) -> float:
        """The lower quartile, in seconds per call."""
        return self._quartiles()[0]

    @property
    def median(self) -> float:
        """The median, in seconds per call."""
        return statistics.median(self.seconds)

    @property
    def high(self) -> float:
        """The upper quartile, in seconds per call."""
        return self._quartiles()[2]

    def _quartiles(self) -> list[float]:
        if len(self.seconds) == 1:
            return [self.seconds[0]] * 3
        return statistics.quantiles(self.seconds, n=4, method="inclusive")

    def __str__(self) -> str:
        return self.text(self.median)

    def text(self, scale: float) -> str:
        """Return median, quartiles and numbers of runs and calls, in the unit in which a time of `scale` reads best."""
        unit, factor = time_unit(scale)
        median, low, high = (three_digits(x * factor) for x in (self.median, self.low, self.high))
        about = {"n": len(self.seconds), "number": self.number}
        runs = say("1 run of {number}", **about) if about["n"] == 1 else say("{n} runs of {number}", **about)
        return f"{median} {unit} ({low} … {high}; {runs})"


class Disturbed:
    """What others did at worst while anything was measured since one looked last: a result rests on all of that."""

    def __init__(self) -> None:
        self._looked = 0

    def since(self, *more: Disturbance) -> Disturbance:
        """Return the worst of what was measured since the last call, and of these."""
        found = [Disturbance(), *more, *_disturbances[self._looked :]]
        self._looked = len(_disturbances)
        others, cores, pace = ([getattr(each, name) for each in found] for name in ("others", "cores", "pace"))
        return Disturbance(max(others), max(cores), min(pace))


def time_unit(seconds: float) -> tuple[str, float]:
    """Return the unit in which a time reads best, and how many of it make a second: 0.02 gives ("ms", 1000)."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return unit, factor
    return "ns", 1e9


def column_scale(figures: Iterable[float]) -> float | None:
    """Return the size whose unit suits all figures of a column, None if they lie too far apart for one unit.

    It is as large as it may be so that the smallest figure has at most one 0 before its digits: 0.56 ms beside 43 ms.
    """
    sizes = [abs(figure) for figure in figures if figure]
    if not sizes or max(sizes) > 1e5 * min(sizes):
        return None
    return min(10 * min(sizes), max(sizes))


def three_digits(number: float) -> str:
    """Return a number to three significant digits and without an exponent: 0.0914, −1.00, 12.3, 1600."""
    if number == 0 or not math.isfinite(number):
        return minus(f"{number:zg}")
    exponent = int(f"{number:.2e}".partition("e")[2])  # that of the rounded number
    return minus(f"{number:.{max(0, 2 - exponent)}f}")


def minus(number: str) -> str:
    """Return a number in digits as readers get it: with a minus sign (U+2212) in place of Python's hyphen."""
    return number.replace("-", "−", 1) if number.startswith("-") else number


def measure(function: Callable[[], object], repeats: int = 9, budget: float = 10.0) -> Measurement:
    """Measure the seconds that a call of a function takes, over several runs after a warm-up.

    A run repeats the call until it lasts 5 ms or more. Garbage collection is off during a run, as in `timeit`.

    Parameters
    ----------
    function : callable
        What is timed; it takes no arguments and waits for its own result.
    repeats : int
        How many runs are measured.
    budget : float
        Seconds of measured runs after which no further one starts, but three are measured in any case.
    """
    return compare({"": function}, repeats, budget)[""]


def compare(
    functions: Mapping[str, Callable[[], object]], repeats: int = 9, budget: float = 10.0
) -> dict[str, Measurement]:
    """Measure several functions fairly: after a warm-up of each, rounds of one run of each, in an order that is drawn.

    The order is the same whenever the program runs. What other programs take of the processors meanwhile is noted.

    Parameters
    ----------
    functions : dict
        The functions, each without arguments, by name.
    repeats : int
        How many runs of each are measured; one in a test run that judges no times (D2L_QUICK=1).
    budget : float
        Seconds of measured rounds after which no further one starts, but three are measured in any case. The warm-up,
        in which a function may be compiled, does not count.

    Returns
    -------
    dict
        A Measurement for each name.

    Raises
    ------
    ValueError
        If there is no function or no repeat.
    """
    if not functions or repeats < 1:
        raise ValueError("compare takes at least one function and at least one repeat")
    repeats = 1 if os.environ.get("D2L_QUICK") == "1" else repeats
    timers = {name: timeit.Timer(function, timer=perf_counter) for name, function in functions.items()}
    numbers = {name: _calls_per_run(timer) for name, timer in timers.items()}
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    draw = random.Random(0)
    with observing() as seen:
        deadline = perf_counter() + budget
        for done in range(repeats):
            if done >= FEWEST and perf_counter() > deadline:
                break
            seen.tick()
            for name in draw.sample(list(timers), len(timers)):
                seconds[name].append(timers[name].timeit(numbers[name]) / numbers[name])
    return {name: Measurement(tuple(seconds[name]), numbers[name], seen.disturbance) for name in functions}


def _calls_per_run(timer: timeit.Timer) -> int:
    """Warm up, then find the 1, 2, 5, 10, … calls that last SHORTEST_RUN; timeit's own autorange wants 0.2 s."""
    timer.timeit(1)
    for power in range(10):
        for number in (10**power, 2 * 10**power, 5 * 10**power):
            if timer.timeit(number) >= SHORTEST_RUN:
                return number
    return number


def report(measurements: Mapping[str, Measurement], steps: int = 1) -> None:
    """Print a table of Measurements, one a line, each with the ratio of its median to the first one's.

    A line below it says what disturbed them, if something did.

    Parameters
    ----------
    measurements : dict
        The Measurements by name, as `compare` returns them.
    steps : int
        How many steps a call took, such as those of an epoch: the times printed are those of one step.
    """
    found = {
        name: replace(whole, seconds=tuple(each / steps for each in whole.seconds), number=whole.number * steps)
        for name, whole in measurements.items()
    }
    scale = column_scale(step.median for step in found.values())
    first = next(iter(found.values())).median
    rows = [
        (say_record(name), step.text(scale or step.median), f"{three_digits(step.median / first)} ×")
        for name, step in found.items()
    ]
    print(aligned(rows, (0, 1, 2)))
    for words in dict.fromkeys(step.disturbance.words() for step in found.values() if step.disturbance.disturbed):
        print(say_line("while this was measured, {words}", words=words))
