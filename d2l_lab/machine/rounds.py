"""How a figure of a machine is measured: as the median of several runs, in each of several rounds seconds apart.

The best of all runs would be faster than nearly all that a reader measures, and a machine's pace changes within
seconds: predictions start from medians, and what the rounds differ by says how far they can be trusted.
"""

import math
import statistics
import time
import timeit
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

Key = TypeVar("Key", bound=Hashable)

ROUNDS = 3
RUNS = 5  # of each figure in a round
APART = 2.0  # seconds from the start of a round to that of the next, at least
SHORTEST = 0.005  # seconds that a run lasts, at least
LONGEST = 1.0  # seconds of runs after which a round of a figure takes no further one


@dataclass(frozen=True)
class Figure:
    """A figure of the machine: what is timed, and how the figure follows from the seconds of a call."""

    call: Callable[[], object]
    of: Callable[[float], float] = float

    def round(self) -> float:
        """Return the figure as the median of a round of runs gives it."""
        return self.of(seconds_of(self.call))


def seconds_of(function: Callable[[], object]) -> float:
    """Return the median seconds of a call over a round of runs, after a warm-up."""
    number, seconds = calls_per_run(function), list[float]()
    while len(seconds) < RUNS and number * sum(seconds) < LONGEST:
        seconds.append(run(function, number))
    return statistics.median(seconds)


def calls_per_run(function: Callable[[], object]) -> int:
    """Warm up, and return how many calls last SHORTEST."""
    function()
    number = _calls(run(function, 1))
    return _calls(run(function, number)) if number > 1 else 1  # one call alone may have met with an interruption


def _calls(seconds: float) -> int:
    return math.ceil(SHORTEST / max(seconds, 1e-8))


def run(function: Callable[[], object], number: int) -> float:
    """Return the seconds of a call in a run of so many, without garbage collection."""
    return timeit.timeit(function, number=number) / number


def in_rounds(figures: Mapping[Key, Figure]) -> dict[Key, list[float]]:
    """Return each figure as every round gives it; a round takes one figure after another."""
    found: dict[Key, list[float]] = {key: [] for key in figures}
    for number in range(ROUNDS):
        start = time.monotonic()
        for key, figure in figures.items():
            found[key].append(figure.round())
        if number < ROUNDS - 1:
            time.sleep(max(0.0, start + APART - time.monotonic()))
    return found


def tree(values: Mapping[tuple[str, ...], Any]) -> dict[str, Any]:
    """Return nested dictionaries of values that are given by their paths: {("a", "b"): 1} as {"a": {"b": 1}}."""
    result: dict[str, Any] = {}
    for (*folders, name), value in values.items():
        place = result
        for folder in folders:
            place = place.setdefault(folder, {})
        place[name] = value
    return result


def medians(rounds: Any) -> Any:
    """Return a tree of figures from a tree of their rounds."""
    if isinstance(rounds, dict):
        return {name: medians(value) for name, value in rounds.items()}
    return statistics.median(rounds)
