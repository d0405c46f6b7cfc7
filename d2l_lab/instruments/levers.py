"""Levers: changes to a training step, each promised as a saving, tried in pairs with the step that lacks it."""

import math
import random
import statistics
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from time import perf_counter
from typing import Any

from d2l_lab.instruments.display import RUNNING_TOTAL, aligned, show, wrapped
from d2l_lab.instruments.framework import framework, needs_framework
from d2l_lab.instruments.loops import (
    SEEN,
    WHOLE,
    Build,
    Lever,
    Loop,
    Pieces,
    loss_from_the_start,
    pieces_beside,
    seconds_alone,
    seconds_of,
    seconds_to_draw,
    seconds_until,
)
from d2l_lab.instruments.memory import can_keep_freed_memory, keep_freed_memory
from d2l_lab.instruments.pairs import Pair, Verdict, measured_in_pairs, verdict
from d2l_lab.instruments.predictions import Comparison, predict, quantity
from d2l_lab.instruments.timing import Measurement, compare, measure, minus, report, three_digits
from d2l_lab.instruments.words import say, say_line, say_record
from d2l_lab.machine.disturbance import Disturbance, Observation, observing
from d2l_lab.plots.waterfall import Bar, waterfall

AS_WRITTEN = "the loop as written"
REPEATS = 15  # of a step as it was written
BUDGET = 3.0  # seconds of a comparison's pairs, after which no further ones start
HASTE = 1.5  # seconds of each lever's pairs in the running total, which has many
WORTH = 0.1  # of a step: what a promise from its pieces has to reach, since a clock can hardly tell less from nothing
SHARE = 0.9  # of the test digits: what a loop is to reach
LIMIT = 12.0  # seconds of training in which it is to reach them
ALIKE, ROUNDED = 1e-3, 0.05  # how far losses may lie apart, in float32 and where products are rounded to fewer bits

Promise = (
    float | None | Callable[[Pieces], float | None]
)  # seconds to be saved, or how they follow from a loop's pieces
KNOWN = tuple(map(str, Lever))
BESIDE = {Lever.DEFERRED_LOSS_READ, Lever.BACKGROUND_LOADING}  # levers that load beside the steps
COSTING = set(Lever) - {Lever.TUNED_LAYERS, Lever.COMPILED_STEP}  # that can save less than the pieces say


@dataclass(frozen=True)
class Row:
    """A row of the table: the step with a lever and with all those above it that were kept."""

    lever: str
    time: Measurement  # of a step
    promised: float | None = None  # seconds that the lever was to save, or below 0 to cost
    above: float | None = None  # seconds of a step without the lever; None in the first row
    verdict: Verdict = Verdict.GAINS
    losses: tuple[float, float] | None = None  # after the same steps as the loop as written, and that loop's
    alike: float = ALIKE  # how far these may lie apart

    @property
    def kept(self) -> bool:
        return self.verdict is Verdict.GAINS

    @property
    def obtained(self) -> float | None:
        """The seconds of a step that the lever saved; None in the first row."""
        return None if self.above is None else self.above - self.time.median

    @property
    def learns(self) -> bool | None:
        """Whether its loss is that of the loop as written, but for rounding; None if nobody looked."""
        return None if self.losses is None else math.isclose(*self.losses, rel_tol=self.alike)

    def record(self) -> dict[str, Any]:
        """Return what a page needs of the row."""
        times = {"seconds": self.time.median, "low": self.time.low, "high": self.time.high}
        rest = {"promised": self.promised, "kept": self.kept, "verdict": str(self.verdict)}
        learned = {"learns": self.learns, "losses": self.losses}
        return {"lever": self.lever} | times | rest | learned

    def compare(self, if_missed: str = "") -> None:
        """Show the promised saving beside the obtained one, or a promised cost beside the cost; nothing if neither."""
        if not self.promised or self.above is None:
            return
        sign = math.copysign(1, self.promised)
        low, median, high = (
            sign * (self.above - seconds) for seconds in (self.time.high, self.time.median, self.time.low)
        )
        name = self.lever if self.promised > 0 else f"{self.lever}: cost"
        low, high = sorted((low, high))
        seen = asdict(self.time.disturbance)
        Comparison(name, "saving", "s", abs(self.promised), median, low, high, if_missed, **seen).show()


def tried_row(
    lever: str, pairs: Sequence[Pair], number: int, above: float, promised: float | None, meanwhile: Disturbance
) -> Row:
    """Return the row of a lever from the seconds of a step without it and with it, in pairs of `number` calls each.

    What counts is the ratio within a pair: if the machine has become slower or faster since the step without the lever
    took `above` seconds, the step with it is said to take that figure over the ratio. So the spread of the row is that
    of the differences.
    """
    time = Measurement(tuple(above * after / before for before, after in pairs), number, meanwhile)
    return Row(lever, time, promised, above, verdict(pairs))


def verdict_of(row: Row, figures: str = "") -> str:
    """Return what pairs have shown of a lever, in words, with these figures behind them."""
    about = {"lever": say_record(row.lever), "pairs": len(row.time.seconds), "figures": figures}
    if row.verdict is Verdict.GAINS:
        return say_line("{lever}: it gains: kept (pairs: {pairs}){figures}", **about)
    if row.verdict is Verdict.LOSES:
        return say_line("{lever}: it loses: left out (pairs: {pairs}){figures}", **about)
    return say_line("{lever}: within the noise: left out (pairs: {pairs}){figures}", **about)


def picture(rows: Sequence[Row]) -> None:
    """Draw the waterfall of these rows."""
    waterfall([Bar(row.lever, row.time.median, row.obtained, row.promised, row.kept) for row in rows])


@dataclass(frozen=True)
class RunningTotal:
    """All rows, the loop as written first. In a notebook it is shown as a table and sent to the page as data.

    With it come the seconds of training until nine of ten test digits were right, of the loop as written and of that
    with the levers kept; None for one that was stopped before.
    """

    rows: tuple[Row, ...]
    steps: int
    until: tuple[float | None, float | None]

    def __str__(self) -> str:
        return table(self.rows, say("learns"), learned)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        about = {"rows": [row.record() for row in self.rows], "steps": self.steps, "until": self.until, "limit": LIMIT}
        return {RUNNING_TOTAL: about, "text/plain": str(self)}


def learned(row: Row) -> str:
    """Return whether a row's loop learns as the first one does: ✓, or ✗ with both losses."""
    if row.losses is None or row.learns:
        return "–" if row.losses is None else "✓"
    loss, first = (f"{loss:.4f}" for loss in row.losses)
    return "✗ " + say("{loss}, not {first}", loss=loss, first=first)


@dataclass(frozen=True)
class Tried:
    """All rows of `Levers`, the loop as written first, with what a minibatch holds; shown as a `RunningTotal` is."""

    rows: tuple[Row, ...]
    items: int
    unit: str

    def __str__(self) -> str:
        return table(self.rows, f"{say_record(self.unit)}/s", lambda row: f"{self.items / row.time.median:,.0f}")

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        about = {"rows": [row.record() for row in self.rows], "items": self.items, "unit": self.unit}
        return {RUNNING_TOTAL: about, "text/plain": str(self)}


@needs_framework
def running_total(promises: Mapping[str, Promise], steps: int = 6) -> None:
    """Time the chapter's training loop as it was written and with each lever in turn; show a table and a waterfall.

    Each lever is tried on the loop with the levers kept so far. Both train a LeNet from the same first weights on the
    same minibatches, in pairs of epochs in drawn order, until their ratio lies certainly on one side of 1 or a second
    and a half is over. A lever that does not certainly gain is left out of the rows below it. Its loss after a few
    steps is compared with that of the loop as written, and in the end both the loop as written and the one with all
    levers kept train until nine of ten test digits are right.

    Parameters
    ----------
    promises
        The levers, each with the seconds of a step that it is to save, or None, or a function that returns these from
        the `Pieces` of the loop just above; below a tenth of the step, the lever is not tried. The function is called
        first without what the lever costs, and again with it only if that promises enough. The levers, in the order of
        the rows: "tuned layers", "compiled step", "deferred loss read", "background loading", "images in
        memory", "bfloat16", "memory kept".
    steps
        The minibatches of 64 images in an epoch, 22 at most. Where a worker loads, an epoch has 11 at least, because
        each waits once for the first minibatch.

    Raises
    ------
    ValueError
        For no or an unknown lever, a promise that is no time, or more steps than the images fill.
    NotImplementedError
        For "bfloat16" in MXNet.
    """
    _check(promises, steps)
    build = _builder()
    with ExitStack() as stack:
        stack.callback(keep_freed_memory, False)
        best = stack.enter_context(closing(build(())))
        loss = loss_from_the_start(best)
        first_until = seconds_until(best, SHARE, LIMIT)
        time, first = _observed(best, steps)
        rows = [Row(AS_WRITTEN, time, losses=(loss, loss))]
        print(pieces_in_words(first))
        pieces_of = cache(_pieces)  # of a loop above several levers once
        for lever in _possible(promises):
            waits = Lever.BACKGROUND_LOADING in (lever, *best.levers) and Lever.IMAGES_IN_MEMORY not in best.levers
            enough = max(steps, WHOLE // 2) if waits else steps
            rival = stack.enter_context(closing(build((*best.levers, lever))))
            row = _tried(best, rival, lever, promises[lever], enough, rows, pieces_of, HASTE)
            if row:
                rows.append(row)
                best = rival if row.kept else best
        until = (first_until, seconds_until(best, SHARE, LIMIT))
    show(RunningTotal(tuple(rows), steps, until))
    for row in rows:
        row.compare()
    print(wrapped(sum_in_words(rows)))
    print(wrapped(until_in_words(until)))
    picture(rows)


@needs_framework
def try_lever(lever: str, promised: Promise = None, steps: int = 6, if_missed: str = "", wait: float = 0.0) -> None:
    """Time the chapter's training loop as it was written and with one lever, and show promised beside obtained saving.

    Both train a LeNet from the same first weights, in pairs of epochs as in `running_total`.

    Parameters
    ----------
    lever
        One of those of `running_total`.
    promised
        The seconds of a step that it is to save, or None, or a function that returns these from the `Pieces` of the
        loop as written; below a tenth of the step, the lever is not tried.
    steps
        The minibatches of 64 images in an epoch, 22 at most. Where a worker loads, each epoch waits for the first one.
    if_missed
        What to look at if the saving misses its promise.
    wait
        The seconds that each image waits before it is enlarged, as `DigitImages` has it.

    Raises
    ------
    ValueError, NotImplementedError
        As in `running_total`.
    """
    _check({lever: promised}, steps)
    build = _builder(wait)
    chosen = _possible([lever])
    if not chosen:
        return
    with ExitStack() as stack:
        stack.callback(keep_freed_memory, False)
        plain = stack.enter_context(closing(build(())))
        loss_from_the_start(plain)  # warms up
        time, _ = _observed(plain, steps)
        rival = stack.enter_context(closing(build(tuple(chosen))))
        row = _tried(plain, rival, chosen[0], promised, steps, [Row(AS_WRITTEN, time)], _pieces, BUDGET)
    if row is None:
        return
    report({AS_WRITTEN: time, f"with {lever}": row.time})
    print(verdict_of(row))
    if row.promised is None or row.promised <= 0:
        print(say_line("{lever}: no saving promised", lever=say_record(lever)))
    else:
        row.compare(if_missed)


def _builder(wait: float = 0.0) -> Build:
    """Return a function from levers to this framework's loop that has them; each of its images waits so long."""
    loop = framework().Loop
    models: dict[Any, Any] = {}

    def build(levers: tuple[str, ...]) -> Loop:
        built: Loop = loop(levers, models)
        built.wait = wait
        return built

    return build


def _check(promises: Mapping[str, Promise], steps: int) -> None:
    for lever, promised in promises.items():
        if lever not in KNOWN:
            raise ValueError(f"unknown lever {lever!r}; known: {', '.join(map(repr, KNOWN))}")
        if isinstance(promised, float | int) and not math.isfinite(promised):
            raise ValueError(f"{lever!r} promises to save seconds of a step, not {promised}")
    if not promises:
        raise ValueError(f"a running total has at least one lever: {', '.join(map(repr, KNOWN))}")
    if not 1 <= steps <= WHOLE:
        raise ValueError(f"an epoch has 1 to {WHOLE} steps, not {steps}")


def _possible(levers: Collection[str]) -> list[Lever]:
    """Return these levers in the order of the chapter, without one that this system lacks, which a line says."""
    if Lever.MEMORY_KEPT in levers and not can_keep_freed_memory():
        print(say_line("memory kept: not tried, because this system's C library has no such settings"))
        levers = [lever for lever in levers if lever != Lever.MEMORY_KEPT]
    return [lever for lever in Lever if lever in levers]


def _observed(loop: Loop, steps: int) -> tuple[Measurement, Pieces]:
    """Train for three epochs; return the time of a step, and where it went."""
    loop.prepare(steps)
    loop.restart()
    with observing() as seen:
        times = tuple(seconds_of(loop, steps, seed) for seed in range(3))
    return Measurement(times, steps, seen.disturbance), loop.pieces()


def _tried(
    best: Loop,
    rival: Loop,
    lever: Lever,
    promise: Promise,
    steps: int,
    rows: Sequence[Row],
    pieces_of: Callable[[Loop, int], Pieces],
    budget: float,
) -> Row | None:
    """Return the row of a lever: of the loop that has it, tried against that of the last row that was kept.

    There is none if the lever promises less than a tenth of a step, which a line says: at most, if it is too little
    even without the lever's costs, which are not measured then.
    """
    above = next(row for row in reversed(rows) if row.kept).time.median
    promised = None if callable(promise) else promise
    if callable(promise):
        pieces = pieces_of(best, steps)
        promised = promise(_at_best(pieces, lever, steps)) or 0.0
        at_most = lever in COSTING
        if at_most and promised >= WORTH * pieces.step:
            pieces = _with_costs(pieces, best, rival, lever, steps)
            promised, at_most = promise(pieces) or 0.0, False
        if promised < WORTH * pieces.step:
            figures = {"saving": "≤ " * at_most + milliseconds(promised), "step": milliseconds(pieces.step)}
            figures["lever"] = say_record(lever)
            print(say_line("{lever}: promises {saving} of {step} ms, less than a tenth: not tried", **figures))
            return None
        promised *= above / pieces.step  # as what it saves: if the machine has become slower since, both are less
    first = rows[0].losses
    losses = first and (loss_from_the_start(rival), first[0])
    for loop in (rival, best):  # in this order: what becomes of freed memory is then that of the best one
        loop.prepare(steps)
        loop.restart()
        seconds_of(loop, steps, 0)
    with observing() as seen:
        pairs = measured_in_pairs(partial(_pairs, best, rival, steps, seen), budget)
    row = tried_row(lever, pairs, steps, above, promised, seen.disturbance)
    alike = ROUNDED if Lever.BFLOAT16 in rival.levers else ALIKE
    return replace(row, losses=losses, alike=alike)


def _pieces(best: Loop, steps: int) -> Pieces:
    """Return the pieces of a step of the loop just above, without what a lever costs beside it.

    Epochs follow each other until there are eighteen steps, or a second and a half is over.
    """
    best.prepare(steps)
    best.restart()
    alone: list[float] = []
    start = perf_counter()
    while len(alone) * steps < 3 * SEEN and (not alone or perf_counter() - start < HASTE):
        seconds_of(best, steps, len(alone))
        alone.append(seconds_alone(best, steps))
    return best.pieces()._replace(alone=statistics.mean(alone))


def _at_best(pieces: Pieces, lever: Lever, steps: int) -> Pieces:
    """Return these pieces as they would be if the lever cost nothing."""
    waiting, loading = pieces.read, pieces.load
    if lever is Lever.BACKGROUND_LOADING:
        waiting, loading = pieces.compute + pieces.read, min(pieces.load, pieces.step - pieces.alone)
    hidden = min((1 - 1 / steps) * waiting, loading - pieces.first)
    return pieces._replace(beside=pieces.step - hidden, spared=pieces.faults)


def _with_costs(pieces: Pieces, best: Loop, rival: Loop, lever: Lever, steps: int) -> Pieces:
    """Return these pieces with what the lever costs beside the loop just above."""
    if lever is Lever.IMAGES_IN_MEMORY:
        rival.prepare(steps)
        pieces = pieces._replace(kept=seconds_to_draw(rival, steps))
    if lever in BESIDE:
        rival.prepare(steps)
        pieces = pieces_beside(best, rival, steps, HASTE)._replace(alone=pieces.alone)
    if lever is Lever.MEMORY_KEPT:
        rival.prepare(steps)
        rival.restart()
        seconds_of(rival, steps, 0)
        pieces = pieces._replace(spared=pieces.faults - rival.pieces().faults)
    return pieces


def _pairs(without: Loop, with_it: Loop, steps: int, seen: Observation, number: int, limit: float) -> list[Pair]:
    """Train both for an epoch, in drawn order, as `measured_in_pairs` asks; return the seconds of a step of each."""
    found: list[Pair] = []
    start = perf_counter()
    while len(found) < number and perf_counter() - start < limit:
        seen.tick()
        seed = random.randrange(2**31)
        order = random.sample((without, with_it), 2)
        seconds = {id(loop): seconds_of(loop, steps, seed) for loop in order}
        found.append((seconds[id(without)], seconds[id(with_it)]))
    return found


def pieces_in_words(pieces: Pieces) -> str:
    """Return the pieces of a step and their sum."""
    parts = {name: f"{1e3 * getattr(pieces, name):.2f}" for name in ("load", "compute", "read", "other")}
    return say_line(
        "load {load} + compute {compute} + read {read} + the rest {other} = {step} ms a step, {faults} new pages",
        **parts | {"step": f"{1e3 * pieces.step:.2f}", "faults": f"{pieces.faults:,.0f}"},
    )


def sum_in_words(rows: Sequence[Row]) -> str:
    """Return what the levers kept promised, each on the loop above it, summed up, beside what they saved."""
    kept = [row for row in rows[1:] if row.kept and row.promised]
    if not kept:
        return say_line("no lever with a promise was kept")
    return say_line(
        "the promises of the levers kept add up to {promised}; these levers saved {obtained}",
        promised=quantity(sum(row.promised or 0 for row in kept), "s"),
        obtained=quantity(sum(row.obtained or 0 for row in kept), "s"),
    )


def until_in_words(until: tuple[float | None, float | None]) -> str:
    """Return how long the loop as written and the last one trained until nine of ten test digits were right."""
    first, last = (
        say("not within {limit} s", limit=f"{LIMIT:.0f}") if seconds is None else quantity(seconds, "s", 1.0)
        for seconds in until
    )
    return say_line(
        "nine of ten test digits are right after: {first} as written, {last} with the levers kept",
        first=first,
        last=last,
    )


class Levers:
    """A training step, and what each change to it promised to save and saved.

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
    step : callable
        The step with all levers that were kept so far.
    time : Measurement
        Its time.

    Raises
    ------
    ValueError
        For a minibatch without items.
    """

    def __init__(self, step: Callable[[], object], items: int, unit: str = "tokens"):
        if items < 1:
            raise ValueError(f"a minibatch holds at least one of its {unit}, not {items}")
        self.step, self._items, self._unit = step, items, unit
        self._promises: dict[str, float] = {}
        self.time = measure(step, REPEATS, BUDGET)
        self._rows = [Row(AS_WRITTEN, self.time)]
        print(
            say_line(
                "{lever}: {ms} ms a step, {rate} {unit}/s",
                lever=say_record(AS_WRITTEN),
                **self._figures(self.time.median),
            )
        )

    def promise(self, lever: str, saving: float) -> None:
        """State and print how many seconds of a step a lever is to save, beside all those kept so far.

        Raises
        ------
        TypeError, ValueError
            If `saving` is not a number above 0.
        """
        self._promises[lever] = predict(lever, saving, kind="saving").value

    def test(
        self, lever: str, step: Callable[[], object], if_missed: str = "", too_little: float | None = None
    ) -> bool:
        """Time the step with this lever in pairs with the kept one; keep it if it certainly gains.

        Pairs follow each other until their ratio lies certainly on one side of 1, or three seconds are over.

        Parameters
        ----------
        lever, step
            The lever and the step that has it. One that promised nothing is tried all the same.
        if_missed
            What to look at if the saving misses its promise.
        too_little
            The seconds that a lever is said to save, or below 0 to cost, where that is less than a clock can tell from
            nothing: they stand in the table, but no verdict compares them with what is obtained.

        Returns
        -------
        bool
            Whether the lever was kept.
        """
        calls = 1

        def pairs(number: int, limit: float) -> list[Pair]:
            nonlocal calls
            before, after = compare({"without": self.step, "with": step}, number, limit).values()
            calls = after.number
            return list(zip(before.seconds, after.seconds, strict=True))

        with observing() as seen:
            found = measured_in_pairs(pairs, BUDGET)
        promised = self._promises.pop(lever, None)
        row = tried_row(lever, found, calls, self.time.median, promised, seen.disturbance)
        row.compare(if_missed)
        row = replace(row, promised=too_little if promised is None else promised)
        self._rows.append(row)
        print(verdict_of(row, say(", {ms} ms a step, {rate} {unit}/s", **self._figures(row.time.median))))
        if row.kept:
            self.step, self.time = step, row.time
        return row.kept

    def show(self) -> None:
        """Show the table of all levers, and draw the waterfall."""
        show(Tried(tuple(self._rows), self._items, self._unit))
        picture(self._rows)

    def _figures(self, seconds: float) -> dict[str, str]:
        rate = f"{self._items / seconds:,.0f}"
        return {"ms": milliseconds(seconds), "rate": rate, "unit": say_record(self._unit)}


def table(rows: Sequence[Row], more: str, figure: Callable[[Row], str]) -> str:
    """Return rows as aligned lines: names to the left, figures to the right, the last one `figure`, under `more`."""
    first = rows[0].time.median
    heads = say("ms a step"), say("low–high"), say("gain"), say("promised"), say("obtained")
    left_out = {Verdict.LOSES: say("loses: left out"), Verdict.NOISE: say("within the noise: left out")}
    lines = [("", *heads, more, "")]
    for row in rows:
        figures = (
            milliseconds(row.time.median),
            f"{milliseconds(row.time.low)}–{milliseconds(row.time.high)}",
            f"{three_digits(first / row.time.median)} ×",
            milliseconds(row.promised),
            milliseconds(row.obtained),
            figure(row),
        )
        mark = "" if row.kept else left_out[row.verdict]
        lines.append((say_record(row.lever), *figures, mark))
    return aligned(lines)


def milliseconds(seconds: float | None) -> str:
    """Return a time in milliseconds without the unit; a dash for None."""
    if seconds is None:
        return "–"
    return minus(f"{1e3 * seconds:z.{2 if abs(seconds) < 0.01 else 1}f}")
