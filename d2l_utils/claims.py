"""Claims: sentences of the text that the machine checks. Standard library only."""

import hashlib
import math
import os
import statistics
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from numbers import Real
from time import perf_counter, thread_time
from typing import Any

from d2l_utils.display import show

MIME = "application/vnd.d2l.claim+json"
MARKS = {True: "✓", False: "✗", None: "–"}  # held, missed, not checked
ENOUGH = 0.85  # of the cores that a claim needs; with fewer it is not checked


class ClaimError(AssertionError):
    """A claim that does not hold on this machine, raised in a test run."""


@dataclass(frozen=True)
class Claim:
    """A sentence and the result of its check.

    Parameters
    ----------
    sentence
        What is claimed.
    held
        Whether it holds on this machine; None if it could not be checked.
    evidence
        The figures behind the result.
    note
        What a miss means, or why the claim was not checked.
    timed
        Whether it compares times or rates; otherwise it is about results or counts.
    """

    sentence: str
    held: bool | None
    evidence: str = ""
    note: str = ""
    timed: bool = False

    def __str__(self) -> str:
        evidence = f" ({self.evidence})" if self.evidence else ""
        note = f"\n  {self.note}" if self.note else ""
        return f"{MARKS[self.held]} {self.sentence}{evidence}{note}"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {MIME: asdict(self), "text/plain": str(self)}


def claim(
    sentence: str,
    observed: Any,
    *,
    below: float | None = None,
    above: float | None = None,
    cores: int | None = None,
    timed: bool = False,
    otherwise: str = "",
    measurements: int = 3,
) -> None:
    """Check a sentence of the text on this machine and show ✓ or ✗ with the observed figures.

    Parameters
    ----------
    observed
        A truth value, a number with a bound, or a function of no arguments that returns one of these.
    below, above
        The bounds of a number, which may not equal them.
    cores
        How many free cores the claim needs. If it misses and as many busy threads get less than that, it shows –:
        not checked. A claim that needs free cores is timed.
    timed
        Whether the claim compares times or rates, so that a miss may be due to the machine.
    otherwise
        What a miss means; shown below it.
    measurements
        How often a function is called, whatever it returns: an odd number. The median decides.

    Raises
    ------
    ClaimError
        In a test run (D2L_TEST=1), if the claim misses and is not timed; with D2L_STRICT=1 also if it is timed.
    TypeError, ValueError
        If the observed value or a bound is not what a claim can check.
    """
    bounds = _bounds(below, above)
    if not isinstance(measurements, int) or measurements < 1 or measurements % 2 == 0:
        raise ValueError(f"a claim takes an odd number of measurements, not {measurements!r}")
    if cores is not None and (not isinstance(cores, int) or cores < 1):
        raise ValueError(f"a claim needs at least 1 core, not {cores!r}")
    results = [observed() for _ in range(measurements)] if callable(observed) else [observed]
    values = [_scalar(result, bounds) for result in results]
    median = _median(values)
    held: bool | None = median if isinstance(median, bool) else _within(median, below, above)
    evidence, note = _evidence(values, median, (below, above), held), "" if held else " ".join(otherwise.split())
    if not held and cores is not None:
        got = free_cores(cores)
        if got < ENOUGH * cores:
            held, note = None, f"not checked: {cores} busy threads got {got:.1f} cores"
    checked = Claim(" ".join(sentence.split()), held, evidence, note, timed or cores is not None)
    if checked.held is False and _is_error(checked):
        raise ClaimError(str(checked))
    show(checked)


def free_cores(number: int, seconds: float = 0.2) -> float:
    """Return how many cores' worth of work `number` busy threads get done, the median of three measurements.

    One core's worth is what a thread does in the processor time that it is given, whatever else runs.
    """
    with ThreadPoolExecutor(number) as pool:
        return statistics.median(_cores_once(pool, number, seconds) for _ in range(3))


def _cores_once(pool: ThreadPoolExecutor, number: int, seconds: float) -> float:
    """Return the cores' worth of work that `number` threads get done."""
    alone, processor_seconds = _hash_for(seconds)
    together = sum(done for done, _ in pool.map(_hash_for, [seconds] * number))
    return (together / seconds) / (alone / processor_seconds)


def _hash_for(seconds: float) -> tuple[int, float]:
    """Hash for some seconds, while other threads can run; return how often and in how much processor time."""
    data, done = bytes(100_000), 0
    start, end = thread_time(), perf_counter() + seconds
    while perf_counter() < end:
        hashlib.sha256(data)
        done += 1
    return done, thread_time() - start


def _is_error(missed: Claim) -> bool:
    """Return whether a miss ends this run."""
    return os.environ.get("D2L_TEST") == "1" and (os.environ.get("D2L_STRICT") == "1" or not missed.timed)


def _bounds(below: float | None, above: float | None) -> str:
    """Return the bounds in words, or nothing when there are none."""
    for bound in (below, above):
        if bound is not None and (isinstance(bound, bool) or not isinstance(bound, Real)):
            raise TypeError(f"a bound is a number, not {bound!r}")
    if below is None:
        return "" if above is None else f"above {above}"
    if above is None:
        return f"below {below}"
    if above >= below:
        raise ValueError(f"nothing lies above {above} and below {below}")
    return f"between {above} and {below}"


def _scalar(value: Any, bounds: str) -> float:
    """Return an observed value as Python's bool, int or float, and check that it fits the bounds."""
    array = value.numpy() if hasattr(value, "numpy") and not hasattr(value, "item") else value
    if getattr(array, "ndim", 0) or getattr(array, "size", 1) == 0:
        raise TypeError(f"a claim observes one value, not an array of shape {tuple(array.shape)}")
    number = array.item() if hasattr(array, "item") else array
    if not isinstance(number, Real):
        raise TypeError(f"a claim observes a truth value or a number, not {value!r}")
    if isinstance(number, bool) and bounds:
        raise TypeError(f"a truth value cannot lie {bounds}: give the claim a number, or no bound")
    if not isinstance(number, bool) and not bounds:
        raise ValueError(f"a claim about the number {number!r} needs a bound: below=, above= or both")
    return number if isinstance(number, int) else float(number)


def _median(values: list[float]) -> float:
    """Return the median, or nan if one of the values is nan, which has no order."""
    if any(isinstance(value, float) and math.isnan(value) for value in values):
        return math.nan
    return statistics.median_low(values)


def _within(value: float, below: float | None, above: float | None) -> bool:
    """Return whether a value lies within its bounds."""
    return (below is None or value < below) and (above is None or value > above)


def _figure(value: float, bounds: tuple[float | None, float | None]) -> str:
    """Return a number to three digits, or in full where these would equal a bound that it does not."""
    short = str(value) if isinstance(value, int) else f"{value:.3g}"
    misleading = any(bound is not None and value != bound and float(short) == bound for bound in bounds)
    return repr(value) if misleading else short


def _evidence(values: list[float], median: float, bounds: tuple[float | None, float | None], held: bool | None) -> str:
    """Return the median, the range and the bounds in words; for truth values how many of several were true."""
    if isinstance(median, bool):
        return f"{sum(values)} of {len(values)} times" if len(values) > 1 else ""
    parts = [_figure(median, bounds)]
    if len(values) > 1 and not math.isnan(median):
        parts.append(f"{_figure(min(values), bounds)}–{_figure(max(values), bounds)} in {len(values)} runs")
    return "; ".join([*parts, f"claimed {_bounds(*bounds)}" + ("" if held else ", missed")])
