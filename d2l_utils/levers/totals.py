"""The running total: one training loop, timed as it was written and with each lever of the chapter added in turn.

The framework's half, a loop with some of the levers, is in its own folder; this module knows only what `Loop` says.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Protocol

from d2l_utils.display import show
from d2l_utils.plots.waterfall import Bar, waterfall
from d2l_utils.predictions import Prediction
from d2l_utils.timing import Measurement, three_digits

MIME = "application/vnd.d2l.running-total+json"
LEVERS = ("tuned layers", "compiled step", "loss read late", "loading beside", "images in memory", "bfloat16")
AS_WRITTEN = "the loop as written"
GAIN = 1.02  # what a lever has to gain in order to be kept
EPOCHS = 3  # of both loops of a comparison


class Loop(Protocol):
    """A training loop with some of the levers, as a framework's folder builds it."""

    def restart(self) -> None:
        """Go back to the first weights."""

    def begin(self, seed: int) -> None:
        """Load the loop's own weights into the network, and fix the order of the next epoch's minibatches."""

    def epoch(self, steps: int) -> None:
        """Train for so many minibatches and wait for the last one."""

    def end(self) -> None:
        """Keep the weights, since another loop may use the network next."""

    def accuracy(self) -> float:
        """Return the accuracy on the test set."""

    def close(self) -> None:
        """End the loop's threads and processes."""


@dataclass(frozen=True)
class Row:
    """A row of the table: the loop with a lever and with all those above it that were kept."""

    lever: str
    time: Measurement  # of a step
    promised: float | None  # seconds that the lever was to save
    obtained: float | None  # seconds that it saved; None in the first row
    accuracy: float
    kept: bool


@dataclass(frozen=True)
class RunningTotal:
    """All rows, the loop as written first. In a notebook it is shown as a table and sent to the page as data."""

    rows: tuple[Row, ...]
    steps: int

    def __str__(self) -> str:
        first = self.rows[0].time.median
        head = ("", "ms a step", "low–high", "gain", "promised", "obtained", "accuracy", "")
        table: list[tuple[str, ...]] = [head]
        for row in self.rows:
            spread = f"{milliseconds(row.time.low)}–{milliseconds(row.time.high)}"
            gain = f"{three_digits(first / row.time.median)} ×"
            promised, obtained = milliseconds(row.promised), milliseconds(row.obtained)
            figures = (milliseconds(row.time.median), spread, gain, promised, obtained, f"{row.accuracy:.2f}")
            table.append((row.lever, *figures, "" if row.kept else "left out"))
        return aligned(table)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        rows = [
            {
                "lever": row.lever,
                "seconds": row.time.median,
                "low": row.time.low,
                "high": row.time.high,
                "promised": row.promised,
                "accuracy": row.accuracy,
                "kept": row.kept,
            }
            for row in self.rows
        ]
        return {MIME: {"rows": rows, "steps": self.steps}, "text/plain": str(self)}


def show_running_total(
    build: Callable[[tuple[str, ...]], Loop], levers: Mapping[str, tuple[float, float] | None], steps: int
) -> None:
    """Time the loop as written and with each lever, and show the table, the waterfall and the models of the promises.

    Each lever is tried on the loop with all levers kept so far: the two train for three epochs, which take turns, from
    the same first weights. The minibatches come in the same order, unless the lever brings a loader of its own. A lever
    that gains 2 % or more is kept. What counts is the ratio of the two: if the machine has become slower or faster
    since the kept row was timed, the lever's times are scaled to that row.

    Parameters
    ----------
    build : callable
        `build(kept)` returns a loop with these levers. Each is closed at the end.
    levers : mapping
        The levers to add, in the order of LEVERS, each with the seconds that a step of the loop is predicted to take
        without it and with it, or None. What it promises to save is that part of the row above.
    steps : int
        The minibatches of an epoch.

    Raises
    ------
    ValueError
        For no or an unknown lever, a prediction that is not a time, or no step.
    """
    _check(levers, steps)
    with ExitStack() as stack:

        def loop_with(kept: tuple[str, ...]) -> Loop:
            loop = stack.enter_context(closing(build(kept)))
            loop.restart()
            _seconds(loop, min(2, steps), 0)  # compiles, starts threads, warms up
            return loop

        kept: tuple[str, ...] = ()
        best = loop_with(kept)
        rows: list[Row] = []
        above = 0.0  # seconds of a step in the last row that was kept
        for lever in [lever for lever in LEVERS if lever in levers]:
            rival = loop_with((*kept, lever))
            before, after = _in_turn(best, rival, steps)
            if not rows:
                rows.append(Row(AS_WRITTEN, before, None, None, best.accuracy(), True))
                above = before.median
            drift = above / before.median
            time = Measurement(tuple(drift * seconds for seconds in after.seconds), after.number)
            gains = above > GAIN * time.median
            predicted = levers[lever]
            promised = above * (1 - predicted[1] / predicted[0]) if predicted else None
            rows.append(Row(lever, time, promised, above - time.median, rival.accuracy(), gains))
            if gains:
                best, kept, above = rival, (*kept, lever), time.median
    _report(RunningTotal(tuple(rows), steps))


def _check(levers: Mapping[str, tuple[float, float] | None], steps: int) -> None:
    for lever, predicted in levers.items():
        if lever not in LEVERS:
            raise ValueError(f"unknown lever {lever!r}; known: {', '.join(map(repr, LEVERS))}")
        if predicted is not None and not all(0 < seconds < math.inf for seconds in predicted):
            raise ValueError(f"{lever!r}: a step takes more than 0 s without it and with it, not {predicted}")
    if not levers:
        raise ValueError(f"a running total has at least one lever: {', '.join(map(repr, LEVERS))}")
    if steps < 1:
        raise ValueError(f"an epoch has at least one step, not {steps}")


def _in_turn(one: Loop, other: Loop, steps: int) -> list[Measurement]:
    """Train both from the first weights for EPOCHS epochs, which take turns; return the seconds of a step of each."""
    loops = (one, other)
    for loop in loops:
        loop.restart()
    rounds = [[_seconds(loop, steps, seed) for loop in loops] for seed in range(EPOCHS)]
    return [Measurement(column, steps) for column in zip(*rounds, strict=True)]


def _seconds(loop: Loop, steps: int, seed: int) -> float:
    """Train for an epoch of so many steps; return the seconds of a step."""
    loop.begin(seed)
    start = perf_counter()
    loop.epoch(steps)
    seconds = (perf_counter() - start) / steps
    loop.end()
    return seconds


def _report(total: RunningTotal) -> None:
    """Show the table, then the promises as models, then the picture."""
    show(total)
    for row in total.rows:
        if row.promised is not None and row.obtained is not None:
            above = row.time.median + row.obtained
            Prediction(f"{row.lever}: step", above - row.promised).compare(row.time)
    waterfall([Bar(row.lever, row.time.median, row.obtained, row.promised, row.kept) for row in total.rows])


def aligned(table: Sequence[tuple[str, ...]]) -> str:
    """Return a table as lines: names to the left, figures to the right, and a mark after them."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = []
    for name, *rest, mark in table:
        cells = [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=False)]
        lines.append("  ".join([name.ljust(widths[0]), *cells, mark]).rstrip())
    return "\n".join(lines)


def milliseconds(seconds: float | None) -> str:
    """Return a time in milliseconds without the unit; a dash for None."""
    if seconds is None:
        return "–"
    return f"{1e3 * seconds:.2f}" if abs(seconds) < 0.01 else f"{1e3 * seconds:.1f}"
