"""Sentences of the text that the machine checks. Standard library only."""

import hashlib
import os
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from numbers import Real
from time import perf_counter, thread_time

MIME = "application/vnd.d2l.claim+json"
MARKS = {True: "✓", False: "✗", None: "–"}  # held, missed, not checked
ENOUGH = 0.85  # of the cores that a claim counts on; with fewer it could not be checked


class ClaimError(AssertionError):
    """A claim that this machine does not bear out, raised in strict mode."""


@dataclass(frozen=True)
class Claim:
    """A checked sentence: `held` is None if it could not be checked, `evidence` the figures, `note` what they mean."""

    sentence: str
    held: bool | None
    evidence: str = ""
    note: str = ""

    def __str__(self):
        evidence = f" ({self.evidence})" if self.evidence else ""
        return f"{MARKS[self.held]} {self.sentence}{evidence}" + (f"\n  {self.note}" if self.note else "")

    def _repr_mimebundle_(self, **_):
        return {MIME: asdict(self), "text/plain": str(self)}


def claim(sentence, observed, *, below=None, above=None, cores=None, otherwise="", measurements=3):
    """Check a sentence of the text on this machine and show ✓ or ✗ with the figures observed.

    `observed` is a truth value, a number with a bound (`below`, `above` or both, themselves excluded), or a function
    of no arguments that returns one. A function is called `measurements` times, whatever it returns; their median
    decides, and their range is shown.

    `cores` is the number of free cores that the claim counts on. If it misses, the machine is asked how many that
    many busy threads get, and where they get less, – is shown instead: the claim could not be checked.

    A claim that fails also shows `otherwise`: what the difference means. With the environment variable
    D2L_STRICT_CLAIMS=1 it raises ClaimError instead.
    """
    bounds = _bounds(below, above)
    if not isinstance(measurements, int) or measurements < 1 or not measurements % 2:
        raise ValueError(f"a claim takes an odd number of measurements, not {measurements!r}")
    if cores is not None and (not isinstance(cores, int) or cores < 1):
        raise ValueError(f"a claim counts on at least 1 core, not {cores!r}")
    observe = observed if callable(observed) else lambda: observed
    values = [_scalar(observe(), bounds) for _ in range(measurements if callable(observed) else 1)]
    median = next((value for value in values if value != value), statistics.median_low(values))  # nan has no order
    held = median if isinstance(median, bool) else _lies(median, below, above)
    evidence, note = _evidence(values, median, (below, above), held), "" if held else " ".join(otherwise.split())
    if not held and cores and (got := free_cores(cores)) < ENOUGH * cores:
        held, note = None, f"not checked: {cores} busy threads got {got:.1f} cores"
    checked = Claim(" ".join(sentence.split()), held, evidence, note)
    if held is False and os.environ.get("D2L_STRICT_CLAIMS", "0") not in ("", "0"):
        raise ClaimError(str(checked))
    _show(checked)


def free_cores(number, seconds=0.2):
    """Return how many cores' worth of work `number` busy threads get done, the median of three measurements.

    A core's worth is what one thread does in the processor time that it is given, whatever else runs.
    """
    data = bytes(100_000)

    def hashes(_):  # Python lets other threads run while it hashes
        done, start, end = 0, thread_time(), perf_counter() + seconds
        while perf_counter() < end:
            hashlib.sha256(data)
            done += 1
        return done, thread_time() - start

    def once():
        done, given = hashes(0)
        return sum(other for other, _ in pool.map(hashes, range(number))) / seconds / (done / given)

    with ThreadPoolExecutor(number) as pool:
        return statistics.median(once() for _ in range(3))


def _show(checked):
    """Display the claim as data in a notebook; print it elsewhere."""
    ipython = sys.modules.get("IPython")
    if ipython and ipython.get_ipython():
        ipython.display.display(checked)
    else:
        print(checked)


def _bounds(below, above):
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


def _scalar(value, bounds):
    """Return what was observed as a Python truth value or number, and check that it fits the bounds."""
    original = value
    if hasattr(value, "numpy") and not hasattr(value, "item"):
        value = value.numpy()
    if getattr(value, "ndim", 0) or getattr(value, "size", 1) == 0:
        raise TypeError(f"a claim observes one value, not an array of shape {tuple(value.shape)}")
    if hasattr(value, "item"):
        value = value.item()
    if not isinstance(value, Real):
        raise TypeError(f"a claim observes a truth value or a number, not {original!r}")
    if isinstance(value, bool) and bounds:
        raise TypeError(f"a truth value cannot lie {bounds}: give the claim a number, or no bound")
    if not isinstance(value, bool) and not bounds:
        raise ValueError(f"a claim about the number {value!r} needs a bound: below=, above= or both")
    return value if isinstance(value, int) else float(value)


def _lies(value, below, above):
    return (below is None or value < below) and (above is None or value > above)


def _figure(value, bounds):
    """Return a number to three digits, or in full where these would read like a bound."""
    short = str(value) if isinstance(value, int) else f"{value:.3g}"
    return repr(value) if any(b is not None and value != b and float(short) == b for b in bounds) else short


def _evidence(values, median, bounds, held):
    """Return the median, the range and the bounds in words; for truth values how many of several were true."""
    if isinstance(median, bool):
        return f"{sum(values)} of {len(values)} times" if len(values) > 1 else ""
    parts = [_figure(median, bounds)]
    if len(values) > 1 and median == median:
        parts.append(f"{_figure(min(values), bounds)} … {_figure(max(values), bounds)} in {len(values)} measurements")
    return "; ".join([*parts, _bounds(*bounds) if held else f"not {_bounds(*bounds)}"])
