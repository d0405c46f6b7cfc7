"""Levers: changes to a training step, each promised as a saving, tried in turn with the step that lacks it.

The chapter's own loop with some of the levers is in each framework's folder; this module knows only what `Loop` says.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Protocol

from d2l_utils.display import show
from d2l_utils.machine.memory import freed_memory_kept
from d2l_utils.plots.waterfall import Bar, waterfall
from d2l_utils.predictions import Comparison, predict
from d2l_utils.timing import Measurement, compare, measure, report, three_digits

MIME = "application/vnd.d2l.running-total+json"
LEVERS = ("tuned layers", "compiled step", "deferred loss read", "background loading", "images in memory", "bfloat16")
AS_WRITTEN = "the loop as written"
GAIN = 1.02  # what a lever has to gain in order to be kept
EPOCHS = 3  # of both loops of a comparison
REPEATS = 5  # of both steps of a test
BUDGET = 4.0  # seconds of a test, after which no further round starts


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


Build = Callable[[tuple[str, ...]], Loop]  # from the levers to the loop that has them


@dataclass(frozen=True)
class Row:
    """A row of the table: the step with a lever and with all those above it that were kept."""

    lever: str
    time: Measurement  # of a step
    promised: float | None  # seconds that the lever was to save, or below 0 to cost
    obtained: float | None  # seconds that it saved; None in the first row
    kept: bool
    accuracy: float | None = None

    def compare(self) -> None:
        """Show the promised saving beside the obtained one, or a promised cost beside the cost; nothing if neither."""
        if not self.promised or self.obtained is None:
            return
        above, sign = self.time.median + self.obtained, math.copysign(1, self.promised)
        slow, fast = (sign * (above - seconds) for seconds in (self.time.high, self.time.low))
        name = self.lever if self.promised > 0 else f"{self.lever}: cost"
        low, high = sorted((slow, fast))
        show(Comparison(name, "saving", "s", abs(self.promised), sign * self.obtained, low, high))


def tested(lever: str, before: Measurement, after: Measurement, above: float, promised: float | None) -> Row:
    """Return the row of a lever out of the times of a step without it and with it, measured in turn.

    What counts is the ratio of the two: if the machine has become slower or faster since the kept step took `above`
    seconds, the lever's times are scaled to that figure. A lever that gains 2 % or more is kept.
    """
    drift = above / before.median
    time = Measurement(tuple(drift * seconds for seconds in after.seconds), after.number)
    return Row(lever, time, promised, above - time.median, above > GAIN * time.median)


def picture(rows: Sequence[Row]) -> None:
    """Draw the waterfall of these rows."""
    waterfall([Bar(row.lever, row.time.median, row.obtained, row.promised, row.kept) for row in rows])


@dataclass(frozen=True)
class RunningTotal:
    """All rows, the loop as written first. In a notebook it is shown as a table and sent to the page as data."""

    rows: tuple[Row, ...]
    steps: int

    def __str__(self) -> str:
        return table(self.rows, "accuracy", lambda row: f"{row.accuracy:.2f}")

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


def show_running_total(build: Build, promises: Mapping[str, float | None], steps: int) -> None:
    """Time the loop as written and with each lever, and show the table, promised beside obtained, and the waterfall.

    Each lever is tried on the loop with all levers kept so far: the two train for three epochs, which take turns, from
    the same first weights. The minibatches come in the same order, unless the lever brings a loader of its own. Freed
    memory stays with the process meanwhile, since page faults could cost more than a lever saves.

    Parameters
    ----------
    build : callable
        `build(kept)` returns a loop with these levers. Each is closed at the end.
    promises : mapping
        The levers to add, in the order of LEVERS, each with the seconds of a step that it is to save, or None.
    steps : int
        The minibatches of an epoch.

    Raises
    ------
    ValueError
        For no or an unknown lever, a promise that is no time, or no step.
    """
    _check(promises, steps)
    with freed_memory_kept(), ExitStack() as stack:
        kept: tuple[str, ...] = ()
        best = _warm_loop(build, kept, steps, stack)
        rows: list[Row] = []
        for lever in [lever for lever in LEVERS if lever in promises]:
            rival = _warm_loop(build, (*kept, lever), steps, stack)
            before, after = _in_turn(best, rival, steps)
            if not rows:
                rows.append(Row(AS_WRITTEN, before, None, None, True, best.accuracy()))
                above = before.median  # seconds of a step in the last row that was kept
            row = tested(lever, before, after, above, promises[lever])
            rows.append(Row(row.lever, row.time, row.promised, row.obtained, row.kept, rival.accuracy()))
            if row.kept:
                best, kept, above = rival, (*kept, lever), row.time.median
    show(RunningTotal(tuple(rows), steps))
    for row in rows:
        row.compare()
    picture(rows)


def show_lever(build: Build, lever: str, promised: float | None, steps: int) -> None:
    """Time the loop as written and with one lever, in turn, and show both and the promised beside the obtained saving.

    Parameters and errors are those of `show_running_total`.
    """
    _check({lever: promised}, steps)
    with freed_memory_kept(), ExitStack() as stack:
        plain, changed = (_warm_loop(build, levers, steps, stack) for levers in ((), (lever,)))
        before, after = _in_turn(plain, changed, steps)
    report({AS_WRITTEN: before, f"with {lever}": after})
    if promised is None or promised <= 0:
        print(f"{lever}: no saving promised")
    else:
        tested(lever, before, after, before.median, promised).compare()


def _check(promises: Mapping[str, float | None], steps: int) -> None:
    for lever, promised in promises.items():
        if lever not in LEVERS:
            raise ValueError(f"unknown lever {lever!r}; known: {', '.join(map(repr, LEVERS))}")
        if promised is not None and not math.isfinite(promised):
            raise ValueError(f"{lever!r} promises to save seconds of a step, not {promised}")
    if not promises:
        raise ValueError(f"a running total has at least one lever: {', '.join(map(repr, LEVERS))}")
    if steps < 1:
        raise ValueError(f"an epoch has at least one step, not {steps}")


def _warm_loop(build: Build, levers: tuple[str, ...], steps: int, stack: ExitStack) -> Loop:
    """Return a loop with these levers that has compiled, started its threads and trained a little."""
    loop = stack.enter_context(closing(build(levers)))
    loop.restart()
    _seconds(loop, min(2, steps), 0)
    return loop


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


class Levers:
    """A training step, and what each change to it promised to save and saved.

    Freed memory stays with the process while steps are timed, since page faults could cost more than a lever saves.

    Parameters
    ----------
    step : callable
        Trains for one minibatch, as it was first written, and waits for it. It is timed at once.
    items : int
        What a minibatch holds, for a rate.
    unit : str
        The name of these items: "tokens", "images".

    Attributes
    ----------
    time : Measurement
        The time of a step with all levers that were kept so far.

    Raises
    ------
    ValueError
        For a minibatch without items.
    """

    def __init__(self, step: Callable[[], object], items: int, unit: str = "tokens"):
        if items < 1:
            raise ValueError(f"a minibatch holds at least one of its {unit}, not {items}")
        self._step, self._items, self._unit = step, items, unit
        self._promises: dict[str, float] = {}
        with freed_memory_kept():
            self.time = measure(step, REPEATS, BUDGET)
        self._rows = [Row(AS_WRITTEN, self.time, None, None, True)]
        print(f"{AS_WRITTEN}: {self._figures(self.time.median)}")

    def promise(self, lever: str, saving: float) -> None:
        """State and print how many seconds of a step a lever is to save, beside all those kept so far.

        Raises
        ------
        TypeError, ValueError
            If `saving` is not a number above 0.
        """
        self._promises[lever] = predict(lever, saving, kind="saving").value

    def test(self, lever: str, step: Callable[[], object]) -> bool:
        """Time the step with this lever in turn with the kept one; keep it if it gains 2 % or more.

        Returns
        -------
        bool
            Whether the lever was kept.

        Raises
        ------
        ValueError
            If the lever has promised nothing.
        """
        if lever not in self._promises:
            raise ValueError(f"{lever!r} has promised nothing; call promise({lever!r}, seconds) before the test")
        with freed_memory_kept():
            before, after = compare({"without": self._step, "with": step}, REPEATS, BUDGET).values()
        row = tested(lever, before, after, self.time.median, self._promises.pop(lever))
        row.compare()
        self._rows.append(row)
        print(f"{lever}: {'kept' if row.kept else 'left out'}, {self._figures(row.time.median)}")
        if row.kept:
            self._step, self.time = step, row.time
        return row.kept

    def show(self) -> None:
        """Print the table of all levers, and draw the waterfall."""
        print(table(self._rows, f"{self._unit}/s", lambda row: f"{self._items / row.time.median:,.0f}"))
        picture(self._rows)

    def _figures(self, seconds: float) -> str:
        return f"{milliseconds(seconds)} ms a step, {self._items / seconds:,.0f} {self._unit}/s"


def table(rows: Sequence[Row], more: str, figure: Callable[[Row], str]) -> str:
    """Return rows as aligned lines: names to the left, figures to the right, the last one `figure`, under `more`."""
    first = rows[0].time.median
    lines = [("", "ms a step", "low–high", "gain", "promised", "obtained", more, "")]
    for row in rows:
        figures = (
            milliseconds(row.time.median),
            f"{milliseconds(row.time.low)}–{milliseconds(row.time.high)}",
            f"{three_digits(first / row.time.median)} ×",
            milliseconds(row.promised),
            milliseconds(row.obtained),
            figure(row),
        )
        lines.append((row.lever, *figures, "" if row.kept else "left out"))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    aligned = []
    for name, *rest, mark in lines:
        cells = [cell.rjust(width) for cell, width in zip(rest, widths[1:-1], strict=True)]
        aligned.append("  ".join([name.ljust(widths[0]), *cells, mark]).rstrip())
    return "\n".join(aligned)


def milliseconds(seconds: float | None) -> str:
    """Return a time in milliseconds without the unit; a dash for None."""
    if seconds is None:
        return "–"
    return f"{1e3 * seconds:.2f}" if abs(seconds) < 0.01 else f"{1e3 * seconds:.1f}"
