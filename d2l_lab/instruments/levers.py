"""Levers: changes to a training step, each promised as a saving, tried in turn with the step that lacks it.

The chapter's own loop is a `Loop`; each framework's `networks.py` says how that makes, loads and saves its network.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from time import perf_counter
from typing import Any

import numpy as np

from d2l_lab.instruments.data import DigitImages
from d2l_lab.instruments.display import RUNNING_TOTAL, show
from d2l_lab.instruments.framework import framework, needs_framework
from d2l_lab.instruments.memory import freed_memory_kept
from d2l_lab.instruments.predictions import Comparison, predict
from d2l_lab.instruments.timing import Measurement, compare, measure, minus, report, three_digits
from d2l_lab.plots.waterfall import Bar, waterfall

AS_WRITTEN = "the loop as written"
GAIN = 1.02  # what a lever has to gain in order to be kept
BATCH = 64  # images of a minibatch of the chapter's loop
EPOCHS = 3  # of both loops of a comparison
REPEATS = 15  # of both steps of a test
BUDGET = 3.0  # seconds of a test after its warm-up, after which no further round starts


class Lever(StrEnum):
    """A change to the chapter's training loop, by its name; in the order of the running total."""

    TUNED_LAYERS = "tuned layers"
    COMPILED_STEP = "compiled step"
    DEFERRED_LOSS_READ = "deferred loss read"
    BACKGROUND_LOADING = "background loading"
    IMAGES_IN_MEMORY = "images in memory"
    BFLOAT16 = "bfloat16"


KNOWN = tuple(map(str, Lever))


class Loop:
    """The chapter's training loop with some of the levers.

    Loops with the same layers and step share one network, so that it is compiled once, and each brings its own weights.
    """

    SHAPE: tuple[int, ...] = (28, 28, 1)  # of an image
    SHARING = {Lever.TUNED_LAYERS, Lever.COMPILED_STEP, Lever.BFLOAT16}  # loops that agree in these share a network

    def __init__(self, levers: tuple[str, ...], steps: int, models: dict[Any, Any]):
        self.levers, self.d2l = levers, framework()
        self.device = self.d2l.try_gpu()
        own = frozenset(levers) & self.SHARING
        if own not in models:
            models[own] = self.make(Lever.TUNED_LAYERS in own, Lever.COMPILED_STEP in own, Lever.BFLOAT16 in own)
        self.net, self.optimizer, self.step, self.first = models[own]
        self.images = DigitImages(self.SHAPE, BATCH * steps)
        self.minibatches = self.loader(self.images)
        self.drawn: Any = None  # the iterator of the epoch under way
        self.restart()

    def make(self, tuned: bool, compiled: bool, bfloat16: bool) -> tuple[Any, Any, Any, Any]:
        """Return a network, its optimizer, the function that trains it for a minibatch, and its state."""
        raise NotImplementedError

    def network(self, tuned: bool, bfloat16: bool) -> Any:
        """Return LeNet with the layers that it is to have."""
        net = self.d2l.tuned_lenet() if tuned else self.d2l.build_lenet()
        return self.d2l.in_bfloat16(net) if bfloat16 else net

    def load(self, state: Any) -> None:
        """Put weights and momenta into the network and its optimizer."""

    def save(self) -> Any:
        """Return copies of them."""

    def background(self, images: DigitImages) -> Any:
        """Return minibatches of which the next one is loaded meanwhile."""
        raise NotImplementedError

    def loader(self, images: DigitImages) -> Any:
        """Return the minibatches."""
        if Lever.IMAGES_IN_MEMORY in self.levers:
            return self.d2l.load_data_digits(BATCH, resize=28)[0]
        return (
            self.background(images) if Lever.BACKGROUND_LOADING in self.levers else self.d2l.load_images(images, BATCH)
        )

    def place(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return a minibatch on the device."""
        return X, y

    def restart(self) -> None:
        """Go back to the first weights."""
        self.state = self.first

    def begin(self, seed: int) -> None:
        """Load the loop's own weights into the network, and fix the order of the next epoch's minibatches."""
        np.random.seed(seed)
        self.load(self.state)

    def epoch(self, steps: int) -> None:
        """Train for so many minibatches and wait for the last one."""
        total: Any = 0
        late = Lever.DEFERRED_LOSS_READ in self.levers
        self.drawn = iter(self.minibatches)
        for X, y in islice(self.drawn, steps):
            loss = self.step(self.net, self.optimizer, *self.place(X, y))
            total = total + (loss if late else float(loss))
        float(total)

    def end(self) -> None:
        """Keep the weights, since another loop may use the network next, and give the iterator up.

        Out of the time of an epoch, because TensorFlow takes up to 0.15 s to end one that might still yield.
        """
        self.state, self.drawn = self.save(), None

    def accuracy(self) -> float:
        """Return the accuracy on the test set."""
        self.begin(0)
        # minibatches of the same size: no new shape to compile
        return self.d2l.evaluate_accuracy_gpu(self.net, islice(self.d2l.load_data_digits(BATCH, resize=28)[1], 5))

    def close(self) -> None:
        """End the loop's threads and processes."""
        self.minibatches = None


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

    def record(self) -> dict[str, Any]:
        """Return what a page needs of the row."""
        times = {"seconds": self.time.median, "low": self.time.low, "high": self.time.high}
        rest = {"promised": self.promised, "accuracy": self.accuracy, "kept": self.kept}
        return {"lever": self.lever} | times | rest

    def compare(self, otherwise: str = "") -> None:
        """Show the promised saving beside the obtained one, or a promised cost beside the cost; nothing if neither."""
        if not self.promised or self.obtained is None:
            return
        above, sign = self.time.median + self.obtained, math.copysign(1, self.promised)
        slow, fast = (sign * (above - seconds) for seconds in (self.time.high, self.time.low))
        name = self.lever if self.promised > 0 else f"{self.lever}: cost"
        low, high = sorted((slow, fast))
        Comparison(name, "saving", "s", abs(self.promised), sign * self.obtained, low, high, otherwise).show()


def tried_row(lever: str, before: Measurement, after: Measurement, kept_seconds: float, promised: float | None) -> Row:
    """Return the row of a lever out of the times of a step without it and with it, measured in turn.

    What counts is the ratio of the two: if the machine has become slower or faster since the step that was kept took
    `kept_seconds`, the lever's times are scaled to that figure. A lever that gains 2 % or more is kept.
    """
    drift = kept_seconds / before.median
    time = Measurement(tuple(drift * seconds for seconds in after.seconds), after.number)
    return Row(lever, time, promised, kept_seconds - time.median, kept_seconds > GAIN * time.median)


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
        return {
            RUNNING_TOTAL: {"rows": [row.record() for row in self.rows], "steps": self.steps},
            "text/plain": str(self),
        }


@dataclass(frozen=True)
class Tried:
    """All rows of `Levers`, the loop as written first, with what a minibatch holds; shown as a `RunningTotal` is."""

    rows: tuple[Row, ...]
    items: int
    unit: str

    def __str__(self) -> str:
        return table(self.rows, f"{self.unit}/s", lambda row: f"{self.items / row.time.median:,.0f}")

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        about = {"rows": [row.record() for row in self.rows], "items": self.items, "unit": self.unit}
        return {RUNNING_TOTAL: about, "text/plain": str(self)}


@needs_framework
def running_total(promises: Mapping[str, float | None], steps: int = 6) -> None:
    """Time the chapter's training loop as it was written and with each lever in turn; show a table and a waterfall.

    Each lever is tried on the loop with the levers kept so far: both train a LeNet from the same first weights for
    three epochs, which take turns. A lever that gains less than 2 % is marked, and left out of the rows below it. The
    minibatches come in the same order, unless the lever brings a loader of its own. Freed memory stays with the process
    meanwhile, since page faults could cost more than a lever saves.

    Parameters
    ----------
    promises
        The levers, each with the seconds of a step that it is to save, or None: "tuned layers", "compiled step",
        "deferred loss read", "background loading", "images in memory", "bfloat16", also the order of the rows.
    steps
        The minibatches of 64 images in an epoch, 22 at most.

    Raises
    ------
    ValueError
        For no or an unknown lever, a promise that is no time, or more steps than the images fill.
    NotImplementedError
        For "bfloat16" in MXNet.
    """
    _check(promises, steps)
    build = _builder(steps)
    with freed_memory_kept(), ExitStack() as stack:
        kept: tuple[str, ...] = ()
        best = _warm_loop(build, kept, steps, stack)
        rows: list[Row] = []
        for lever in [lever for lever in Lever if lever in promises]:
            rival = _warm_loop(build, (*kept, lever), steps, stack)
            before, after = _in_turn(best, rival, steps)
            if not rows:
                rows.append(Row(AS_WRITTEN, before, None, None, True, best.accuracy()))
                above = before.median  # seconds of a step in the last row that was kept
            row = tried_row(lever, before, after, above, promises[lever])
            rows.append(Row(row.lever, row.time, row.promised, row.obtained, row.kept, rival.accuracy()))
            if row.kept:
                best, kept, above = rival, (*kept, lever), row.time.median
    show(RunningTotal(tuple(rows), steps))
    for row in rows:
        row.compare()
    picture(rows)


@needs_framework
def try_lever(lever: str, promised: float | None = None, steps: int = 6) -> None:
    """Time the chapter's training loop as it was written and with one lever, and show promised beside obtained saving.

    Both train a LeNet from the same first weights for three epochs, which take turns.

    Parameters
    ----------
    lever
        One of those of `running_total`.
    promised
        The seconds of a step that it is to save, or None.
    steps
        The minibatches of 64 images in an epoch, 22 at most.

    Raises
    ------
    ValueError, NotImplementedError
        As in `running_total`.
    """
    _check({lever: promised}, steps)
    build = _builder(steps)
    with freed_memory_kept(), ExitStack() as stack:
        plain, changed = (_warm_loop(build, levers, steps, stack) for levers in ((), (lever,)))
        before, after = _in_turn(plain, changed, steps)
    report({AS_WRITTEN: before, f"with {lever}": after})
    if promised is None or promised <= 0:
        print(f"{lever}: no saving promised")
    else:
        tried_row(lever, before, after, before.median, promised).compare()


def _builder(steps: int) -> Build:
    """Return a function from levers to this framework's loop that has them."""
    loop = framework().Loop
    models: dict[Any, Any] = {}
    return lambda levers: loop(levers, steps, models)


def _check(promises: Mapping[str, float | None], steps: int) -> None:
    for lever, promised in promises.items():
        if lever not in KNOWN:
            raise ValueError(f"unknown lever {lever!r}; known: {', '.join(map(repr, KNOWN))}")
        if promised is not None and not math.isfinite(promised):
            raise ValueError(f"{lever!r} promises to save seconds of a step, not {promised}")
    if not promises:
        raise ValueError(f"a running total has at least one lever: {', '.join(map(repr, KNOWN))}")
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

    def test(self, lever: str, step: Callable[[], object], otherwise: str = "") -> bool:
        """Time the step with this lever in turn with the kept one; keep it if it gains 2 % or more.

        Parameters
        ----------
        lever, step
            What has been promised, and the step that has it.
        otherwise
            What to look at if the saving misses its promise.

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
        row = tried_row(lever, before, after, self.time.median, self._promises.pop(lever))
        row.compare(otherwise)
        self._rows.append(row)
        print(f"{lever}: {'kept' if row.kept else 'left out'}, {self._figures(row.time.median)}")
        if row.kept:
            self._step, self.time = step, row.time
        return row.kept

    def show(self) -> None:
        """Show the table of all levers, and draw the waterfall."""
        show(Tried(tuple(self._rows), self._items, self._unit))
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
    return minus(f"{1e3 * seconds:z.{2 if abs(seconds) < 0.01 else 1}f}")
