"""Pairs: a step without a change and with it, timed in turn until one is certainly faster. Standard library only.

The evidence is that of Wilcoxon's signed ranks (Biometrics Bulletin 1, 1945): it needs no normal noise, and a single
disturbed pair moves it little.
"""

import math
import os
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import cache
from time import perf_counter

LOOKS = (6, 10, 17, 28)  # the numbers of pairs after which the evidence is looked at
LEVEL = 1 / 64  # of each look: as rare as six tosses of a coin that all show heads
PATIENCE = 4  # budgets of seconds that the first pairs may take

Pair = tuple[float, float]  # seconds without and with the change, measured one right after the other


class Verdict(StrEnum):
    """What pairs show of a change."""

    GAINS = "gains"
    LOSES = "loses"
    NOISE = "within the noise"


def measured_in_pairs(measure: Callable[[int, float], Sequence[Pair]], budget: float) -> list[Pair]:
    """Measure pairs until the verdict is certain, at most 28 of them; in a test run that judges no times, one.

    Parameters
    ----------
    measure
        Measures so many further pairs, or fewer: none starts after so many seconds.
    budget
        Seconds after which no further pairs are measured while the verdict is open, except that the first six may take
        four times as long. Fewer than six are too few for any verdict but noise.
    """
    if os.environ.get("D2L_QUICK") == "1":
        return list(measure(1, math.inf))
    found: list[Pair] = []
    start = perf_counter()
    for look in LOOKS:
        found += measure(look - len(found), PATIENCE * budget)
        if verdict(found) is not Verdict.NOISE or perf_counter() - start > budget:
            break
    return found


def verdict(pairs: Sequence[Pair]) -> Verdict:
    """Return what pairs show: a change that does nothing passes for a gain in at most one case of twenty.

    That holds for all looks together, which simulations in the tests show.
    """
    logs = [change for change in (math.log(before / after) for before, after in pairs) if change]
    if _tail(logs) <= LEVEL:
        return Verdict.GAINS
    if _tail([-change for change in logs]) <= LEVEL:
        return Verdict.LOSES
    return Verdict.NOISE


def _tail(changes: Sequence[float]) -> float:
    """Return how likely so large a sum of the ranks of the positive changes is if the signs are tossed with a coin."""
    ranked = sorted(changes, key=abs)
    positive = sum(rank for rank, change in enumerate(ranked, 1) if change > 0)
    counts = _sums(len(ranked))
    return sum(counts[positive:]) / 2 ** len(ranked)


@cache
def _sums(number: int) -> list[int]:
    """Return how many subsets of the ranks 1 … number have each sum."""
    counts = [1] + [0] * (number * (number + 1) // 2)
    for rank in range(1, number + 1):
        counts = [count + (counts[place - rank] if place >= rank else 0) for place, count in enumerate(counts)]
    return counts
