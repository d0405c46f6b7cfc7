"""Claims: sentences of the text that the machine checks. Standard library only."""

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any

from d2l_lab.instruments.display import show, wrapped
from d2l_lab.instruments.timing import Disturbed, minus
from d2l_lab.instruments.words import say, say_record
from d2l_lab.machine.disturbance import Disturbance

MIME = "application/vnd.d2l.claim+json"
MARKS = {True: "✓", False: "✗"}  # held, missed
_disturbed = Disturbed()  # of what was measured since the last claim


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
        Whether it holds on this machine.
    figure
        The observed number to three digits, "" for a truth value.
    above, below
        Its bounds, "" for none.
    note
        What a miss means.
    timed
        Whether it compares times or rates; otherwise it is about results or counts.
    others, cores, pace
        The fields of a Disturbance: what others did at worst while the times of a timed claim were measured.
    """

    sentence: str
    held: bool
    figure: str = ""
    above: str = ""
    below: str = ""
    note: str = ""
    timed: bool = False
    others: float = 0.0
    cores: int = 0
    pace: float = 1.0

    @property
    def disturbance(self) -> Disturbance:
        return Disturbance(self.others, self.cores, self.pace)

    def evidence(self, say: Callable[..., str] = say) -> str:
        """Return the figures behind the result in the words of `say`, "" for a truth value."""
        if not self.figure:
            return ""
        if self.above and self.below:
            bounds = {"low": self.above, "high": self.below}
            words = say("{figure}; claimed between {low} and {high}", figure=self.figure, **bounds)
        elif self.above:
            words = say("{figure}; claimed above {bound}", figure=self.figure, bound=self.above)
        else:
            words = say("{figure}; claimed below {bound}", figure=self.figure, bound=self.below)
        words = words if self.held else say("{evidence}, missed", evidence=words)
        observed = self.disturbance.words(say)
        return say("{evidence}; disturbed: {observed}", evidence=words, observed=observed) if observed else words

    def __str__(self) -> str:
        evidence = say(" ({figures})", figures=self.evidence()) if self.figure else ""
        note = f"\n{wrapped(say_record(self.note))}" if self.note else ""
        return f"{wrapped(say_record(self.sentence) + evidence, MARKS[self.held])}{note}"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {MIME: asdict(self), "text/plain": str(self)}


def claim(
    sentence: str,
    observed: Any,
    *,
    below: float | None = None,
    above: float | None = None,
    timed: bool = False,
    if_missed: str = "",
) -> None:
    """Check a sentence of the text on this machine and show ✓ or ✗ with the observed figure.

    Parameters
    ----------
    observed
        A truth value, or a number with a bound.
    below, above
        The bounds of a number, which may not equal them.
    timed
        Whether the claim compares times or rates, so that a miss may be due to the machine.
    if_missed
        What a miss means; shown below it.

    Raises
    ------
    ClaimError
        In a test run (D2L_TEST=1), if the claim misses and is not timed; with D2L_STRICT=1 also if it is timed.
    TypeError, ValueError
        If the observed value or a bound is not what a claim can check.
    """
    bounds = _bounds(below, above)
    value = _scalar(observed, bounds)
    held = bool(value) if not bounds else (below is None or value < below) and (above is None or value > above)
    figure = _figure(value, (below, above)) if bounds else ""
    least, most = ("" if bound is None else minus(str(bound)) for bound in (above, below))
    note = "" if held else " ".join(if_missed.split())
    meanwhile = _disturbed.since()
    since = asdict(meanwhile) if timed else {}
    checked = Claim(" ".join(sentence.split()), held, figure, least, most, note, timed, **since)
    if not held and _is_error(checked):
        raise ClaimError(str(checked))
    show(checked)


def _is_error(missed: Claim) -> bool:
    """Return whether a miss ends this run."""
    return os.environ.get("D2L_TEST") == "1" and (os.environ.get("D2L_STRICT") == "1" or not missed.timed)


def _bounds(below: float | None, above: float | None) -> str:
    """Return the bounds in words, or nothing when there are none."""
    for bound in (below, above):
        if bound is not None and (isinstance(bound, bool) or not isinstance(bound, Real)):
            raise TypeError(f"a bound is a number, not {bound!r}")
    least, most = minus(str(above)), minus(str(below))
    if below is None:
        return "" if above is None else f"above {least}"
    if above is None:
        return f"below {most}"
    if above >= below:
        raise ValueError(f"nothing lies above {above} and below {below}")
    return f"between {least} and {most}"


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


def _figure(value: float, bounds: tuple[float | None, float | None]) -> str:
    """Return a number to three digits, or in full where these would equal a bound that it does not."""
    short = str(value) if isinstance(value, int) else f"{value:.3g}"
    misleading = any(bound is not None and value != bound and float(short) == bound for bound in bounds)
    return minus(repr(value) if misleading else short)
