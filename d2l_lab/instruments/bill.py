"""The bill of a step: what each operation takes beside its bound, and one sentence that is right or abstains.

Every framework records the same rows. A half of the minibatch is recorded in turn with the whole of it: what is left of
an operation's time when its minibatch shrinks to nothing is fixed, and the time of a quarter tests that.
"""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple

from d2l_lab.instruments.display import row_in_place, wrapped
from d2l_lab.instruments.framework import framework, needs_framework, your_machine
from d2l_lab.instruments.timing import minus
from d2l_lab.instruments.words import Translate, say, say_each
from d2l_lab.machine.disturbance import observing
from d2l_lab.machine.operations import device_and_rows, in_a_line
from d2l_lab.machine.rounds import run as timed
from d2l_lab.protocol import Record, Row

SHOWN = 8  # rows, those that take longest
ROUNDS, FEWEST, BUDGET = 15, 6, 2.0  # rounds at most and at least, and the seconds after which no further one begins
WARM = 0.02  # seconds in which steps have found their pace
CLOSE = 1.25  # times: two causes that differ by less are a tie
MISSED = 1.2  # times: from there on a quarter of the minibatch takes another time than expected
WEAK = 0.1  # of the step: a cause of parts that are all smaller names nothing to change
LEAST = 0.5  # of its bound: if an operation takes less, one of the two is wrong
LONG = 100  # times α: a call that costs more than that does something with its time
EVENT = 0.5e-6  # seconds that a profiler adds to an operation, at most
OVER = 1.15  # of a plain step: if the operations take more, they ran side by side, or another step was recorded
OUTSIDE = "between operations"
KINDS = ("calls", "python", "bytes", "arithmetic", "kernel", "uncounted")


class Rates(NamedTuple):
    """What the machine can do: α, the reach that each level of the memory has room for and its b, and P."""

    issue: float
    levels: Sequence[tuple[float, float]]
    product: float

    def bounds(self, row: Row, issued: bool = False) -> dict[str, float]:
        """Return the least seconds of a row by cause; only calls that Python issues have α."""
        moved = [size / max(b for room, b in self.levels if reach <= room) for reach, size in row.reaches.items()]
        return {"bytes": sum(moved), "flops": row.flops / self.product, "calls": self.issue * row.calls * issued}


class Sample(NamedTuple):
    """Records of a minibatch and of a half of it, and seconds of steps by their rows."""

    full: Record
    half: Record
    plain: dict[int, float]


class Bill:
    """The bill of a step, which prints as a table and a sentence.

    Of each operation, the longest first, `rows` has `calls`, `flops`, `bytes` and `seconds`, and `waste` the
    seconds above its bound. `cause` is what limits the step, one of `KINDS`, or "" where the sentence abstains;
    `share` is the cause's of the step, `operation` the largest part of it, and `saves` the seconds of that part.
    """

    def __init__(self, samples: Sequence[Sample], rates: Sequence[Rates], trouble: str = "", note: str = "") -> None:
        """Draw up the bill of the first sample with the first rates; where the others disagree, it is a tie."""
        self._full, self._note, self.seconds = samples[0].full, note, max(samples[0].plain.values())
        every = {name: [each.bounds(row, self._full.issued) for each in rates] for name, row in self._full.rows.items()}
        self._bounds = {name: min(bounds, key=lambda each: max(each.values())) for name, bounds in every.items()}
        self.rows = dict(sorted(self._full.rows.items(), key=lambda item: -item[1].seconds))
        self.waste = {name: row.seconds - max(self._bounds[name].values()) for name, row in self.rows.items()}
        self.cause, self.operation, self.share, self.saves = "", "", 0.0, 0.0
        self.sentence = trouble or self._judge(samples, rates)

    def _judge(self, samples: Sequence[Sample], rates: Sequence[Rates]) -> str:
        """Return the sentence, and set what it names if it does not abstain."""
        plain, (B, half, quarter) = samples[0].plain, sorted(samples[0].plain, reverse=True)
        fixed = max((B * plain[half] - half * plain[B]) / (B - half), 0.0)
        expected = fixed + (plain[half] - fixed) * quarter / half
        off = not 1 / MISSED < expected / plain[quarter] < MISSED
        found = [pieces(sample, B, half, each, cut) for cut in (True, not off) for sample in samples for each in rates]
        shares = [by_cause(each) for each in found]
        first, second = list(shares[0])[:2]
        others = [cause for cause in shares[0] if cause != first and cause in map(next, map(iter, shares))]
        part, name = max((seconds, name) for (cause, name), seconds in found[0].items() if cause == first)
        below = name in self.rows and self.rows[name].seconds < LEAST * max(self._bounds[name].values())
        weak = first != "calls" and part < WEAK * plain[B]  # what makes fewer calls makes fewer of all kinds
        one, other = (_reach(shares, cause) for cause in (first, [*others, second][0]))
        uneven = off and (others or first in ("calls", "python"))
        tied = others or shares[0][second] * CLOSE > shares[0][first]
        over = max((x.seconds - EVENT * x.calls) / plain[n] for x, n in zip(samples[0][:2], (B, half), strict=True))
        dear = first == "calls" and shares[0][first] * plain[B] > CLOSE * fixed
        reasons = {
            say("the time does not fall evenly with the minibatch"): uneven,
            say("the cost of calls is more than what is fixed of the step"): dear,
            say("the operations add up to more than the step"): over > OVER,
            say("a tie between {one} and {other}", one=one, other=other): tied,
            say("the largest part is {name}, which is not counted", name=name): first == "uncounted",
            say("{name} takes less than its bound, so one of the two is wrong", name=name): below,
            say("the largest part, {name}, is less than a tenth of the step", name=name): weak,
        }
        why = next((reason for reason, holds in reasons.items() if holds), "")
        if why:
            wastes = self.waste | {OUTSIDE: self.seconds - self._full.seconds}
            part, name = max(zip(wastes.values(), wastes, strict=True))
        else:
            self.cause, self.operation, self.share, self.saves = first, name, shares[0][first], part
        what = f"{self.rows[name].calls:.0f} × {name}" if name in self.rows else say("between operations")
        a, b, c = (f"{seconds / plain[B]:.2f}" for seconds in (plain[half], expected, plain[quarter]))
        it = {"what": what, "ms": _ms(part), "all": _ms(self.seconds), "H": half, "B": B, "Q": quarter}
        it |= {"share": f"{shares[0][first]:.0%}", "cause": _words(first), "why": why, "a": a, "b": b, "c": c}
        abstention = say("No verdict: {why}. The largest waste is in {what}, {ms} of {all} ms.", **it)
        verdict = say("{share} of the step is {cause}. The largest part is {what}, {ms} of {all} ms.", **it)
        rule = say("Control: {H} of {B} rows take {a} of the step, so {Q} should take {b}; they take {c}.", **it)
        whatever = say(" Whatever of it is fixed, the cause is the same.") if off and not why else ""
        return f"{abstention if why else verdict} {rule}{whatever}"

    def __repr__(self) -> str:
        names, lines = [*self.rows], ["operation                 calls    Mflop      MB   bound by        took   waste"]
        groups = {name: [name] for name in names[:SHOWN]} | {f"({len(names) - SHOWN} more)": names[SHOWN:]}
        for title, members in (groups | {"sum, in ms": names}).items():
            rows, bounds = [self.rows[name] for name in members], self._bounds.get(title, {"": 0.0})
            calls, flops, size = (sum(getattr(row, of) for row in rows) for of in ("calls", "flops", "bytes"))
            took, waste = sum(row.seconds for row in rows), sum(self.waste[name] for name in members)
            by = max(bounds, key=bounds.__getitem__) + ("?" if members == [title] and rows[0].uncounted else "")
            title = title if len(title) < 25 else f"{title[:12]}…{title[-11:]}"
            start = f"{title:<25}{calls:>6.0f}{flops / 1e6:>9.1f}{size / 1e6:>8.2f}{_ms(took - waste):>8} {by:<6}"
            lines += [f"{start}{_ms(took):>8}{_ms(waste):>8}"] if members else []
        ends = {"the step beside it": self._full.whole, OUTSIDE: self._full.whole - self._full.seconds}
        lines += [f"{end:<63}{_ms(took):>8}" for end, took in (ends | {"the step alone": self.seconds}).items()]
        lines = [row_in_place(line, _in_a_table()) for line in lines]
        lines += [say("?: some calls are not counted")] if any(row.uncounted for row in self.rows.values()) else []
        lines += [say("while this was measured, {words}", words=self._note)] if self._note else []
        return "\n".join([*lines, wrapped(self.sentence, "→")])


def _in_a_table() -> Translate:
    """Return what translates the words of the table."""
    bounds = say_each("{bound} calls{unsure}", "{bound} bytes{unsure}", "{bound} flops{unsure}")
    heads = say_each("operation", "calls", "bound by", "took", "waste")
    sums = say_each(
        "(others)", "({n} more)", "sum, in ms", "the step beside it", "between operations", "the step alone"
    )
    return lambda text: heads(text) or sums(text) or bounds(text)


def _words(cause: str) -> str:
    """Return what a cause is, and behind a colon what to try."""
    return {
        "calls": say("the fixed cost of calls and of Python: make fewer and larger ones (compile, fuse, stack)"),
        "python": say("work outside the operations that grows with the minibatch: do it ahead or for all rows at once"),
        "bytes": say("moving bytes: move fewer (fuse, narrower numbers, sparse gradients)"),
        "arithmetic": say("arithmetic: do fewer flops, or choose a faster format"),
        "kernel": say("kernels far from their bounds: do the same work in another way (layout, shape, function)"),
        "uncounted": say("operations that are not counted"),
    }[cause]


def _reach(shares: Sequence[Mapping[str, float]], cause: str) -> str:
    """Return a cause and its least and largest share of the step."""
    ends = dict.fromkeys(f"{each([share[cause] for share in shares]):.0%}" for each in (min, max))
    return f"{_words(cause).replace('：', ':').partition(':')[0]} ({' … '.join(ends)})"


def _ms(seconds: float) -> str:
    return minus(f"{1e3 * seconds:.2f}")


def pieces(sample: Sample, B: int, half: int, rates: Rates, cut: bool = True) -> dict[tuple[str, str], float]:
    """Return the seconds of a step by cause and operation.

    An operation's time is cut into what is fixed and what grows with the minibatch, each with its own bytes, flops and
    calls. Each part goes to its bound first; what remains is a kernel's, or that of calls where the bound is within two
    of theirs.
    """

    def fixed(whole: float, part: float) -> float:
        return min(max((B * part - half * whole) / (B - half), 0.0), whole)

    found = dict[tuple[str, str], float]()
    for name, row in sample.full.rows.items():
        if row.uncounted > row.calls / 10:
            found["uncounted", name] = row.seconds
            continue
        two = [(x.seconds, x.calls, *rates.bounds(x).values()) for x in (row, sample.half.rows.get(name, Row()))]
        stay = [fixed(*each) for each in zip(*two, strict=True)]
        grow = [a - b for a, b in zip(two[0], stay, strict=True)]
        for seconds, calls, moved, done, _ in (stay, grow) if cut else two[:1]:
            (bound, cause), cost = max((moved, "bytes"), (done, "arithmetic")), rates.issue * calls
            rest = "calls" if bound < 2 * cost and seconds - bound < LONG * cost else "kernel"
            for key, share in ((cause, min(seconds, bound)), (rest, max(seconds - bound, 0.0))):
                found[key, name] = found.get((key, name), 0.0) + share
    outside = [max(sample.plain[B] - sample.full.seconds, 0.0), max(sample.plain[half] - sample.half.seconds, 0.0)]
    stays = fixed(*outside)
    return found | {("calls", OUTSIDE): stays, ("python", OUTSIDE): outside[0] - stays}


def by_cause(found: Mapping[tuple[str, str], float]) -> dict[str, float]:
    """Return the share of each cause, the largest first."""
    sums = {cause: sum(seconds for (kind, _), seconds in found.items() if kind == cause) for cause in KINDS}
    return {cause: sums[cause] / sum(sums.values()) for cause in sorted(sums, key=lambda cause: -sums[cause])}


def traced(profiler: Callable[[str], Any], run: Callable[[], object]) -> tuple[float, bytes]:
    """Return the seconds of a run under a profiler of a folder, and the trace that it wrote there."""
    with TemporaryDirectory() as folder:
        with profiler(folder):
            whole = timed(run, 1)
        return whole, next(Path(folder).rglob("*.xplane.pb")).read_bytes()


def add_seconds(rows: dict[str, Row], spans: Sequence[tuple[float, float, str]]) -> None:
    """Add spans of time (start, end, name) to the seconds of the rows: those that run at an instant share it."""
    ends = [(end, False, i) for i, (start, end, _) in enumerate(spans) if end > start]
    running, last = set[int](), 0.0
    for now, begins, i in sorted(ends + [(spans[i][0], True, i) for _, _, i in ends]):
        for j in running:
            rows.setdefault(spans[j][2], Row(1.0, uncounted=1.0)).seconds += (now - last) / len(running)
        last = now
        (running.add if begins else running.discard)(i)


class Touched(dict[Any, float]):
    """Which arrays calls have touched, and how many bytes they had touched by then."""

    now = 0.0

    def reaches(self, arrays: Mapping[Any, float]) -> dict[float, float]:
        """Return the bytes of a call by reach, rounded up to a power of 2, from those of each array that it touches."""
        self.now += sum(arrays.values())
        found = dict[float, float]()
        for key, size in arrays.items():
            reach = 2.0 ** math.ceil(math.log2(max(self.now - self.get(key, -(2.0**60)), 1.0)))
            found[reach] = found.get(reach, 0.0) + size
        self.update(dict.fromkeys(arrays, self.now))
        return found


@needs_framework
def bill(step: Callable[[Any, Any], object], X: Any, y: Any) -> Bill:
    """Return the bill of a training step: calls, flops, bytes, bound, time and waste of each operation, and a sentence.

    The step runs some hundreds of times, with the first half and the first quarter of the rows of X and y too, so what
    it trains goes on training. The sentence names what limits the step; where the measurements cannot tell, it says so.
    α, b and P are today's, and b and P are taken once more beside the step: where the two disagree about the cause, it
    is a tie. There is no verdict where others can have made the step 1.25 × slower. The table is in millions of flops
    and bytes and in milliseconds, the attributes of the bill in flops, bytes and seconds.

    Parameters
    ----------
    step
        `step(X, y)` trains by a minibatch; it keeps its own state. What it returns is ignored.
    X, y
        The minibatch: arrays of shape (B, …), whose rows are its examples, or nested lists, tuples and dictionaries of
        such arrays. With fewer than 4 rows, arrays of different lengths, or a step that takes no half, there is a table
        but no verdict.

    Returns
    -------
    Bill
        Prints as a table and a sentence. `seconds` are those of the step alone, `rows[name]` what an operation did
        (`calls`, `flops`, `bytes`, `seconds`), and `waste[name]` its seconds above its bound; `cause`, `operation`,
        `share` and `saves` are what the sentence says, "" and 0 where it abstains.

    Raises
    ------
    ValueError
        If X's first array has no rows, or the step fails with the whole minibatch.
    """
    d2l, lengths = framework(), _lengths(X)
    runs, recorders = dict[int, Callable[[], object]](), list[Callable[[], Record]]()
    if not any(lengths[:1]):
        raise ValueError(f"bill takes a minibatch whose first array has rows, not {type(X).__name__}")
    B, others = lengths[0], sorted({*lengths, *_lengths(y)} - {lengths[0]})
    trouble = "" if B >= 4 else say("No verdict: {B} rows cannot be halved twice.", B=B)
    if others:
        trouble = say("No verdict: arrays of {B} and of {other} rows have no common half.", B=B, other=others[0])

    def wait(X: Any, y: Any) -> None:
        step(X, y)
        d2l.synchronize()

    for n in (B,) if trouble else (B, B // 2, B // 4):
        run: Callable[[], object] = partial(wait, *((X, y) if n == B else (_first(X, n), _first(y, n))))
        try:
            run(), run()
        except Exception as error:  # a step raises what it likes
            if n == B:
                raise ValueError(f"the step fails: {in_a_line(error)}") from error
            trouble = say("No verdict: {n} of {B} rows fail: {error}", n=n, B=B, error=in_a_line(error))
            break
        runs[n] = run
        recorders += [d2l.recorder(run)] if n >= B // 2 else []  # now that its programs are the newest
    recorders = recorders[: 1 if trouble else 2]
    quick, machine = os.environ.get("D2L_QUICK") == "1", your_machine()
    part = machine["gpus"][0] if machine["gpus"] else machine["framework"]
    device, n = device_and_rows(d2l, 0 if machine["gpus"] else -1)
    product, size = d2l.product(device, n // 2, "float32"), part["bandwidth"]["memory"]["bytes"]
    copy, times = d2l.memory_passes(device, size)["copy"]
    rounds, products, copies, start = list[Sample](), [timed(product, 1)], [timed(copy, 1)], perf_counter()
    often = 2 + min(20, int(WARM / timed(runs[B], 1)))  # plain steps in turn, of which the first find cold caches
    with observing() as seen:
        while len(rounds) < (1 if quick else ROUNDS) and (len(rounds) < FEWEST or perf_counter() - start < BUDGET):
            seen.tick()
            records = [(run(), record())[1] for run, record in zip(runs.values(), recorders, strict=False)]
            waiting = min(timed(d2l.synchronize, 1) for _ in "12")  # for nothing, as each step does at its end
            plain = {n: max(min(timed(run, 1) for _ in range(often)) - waiting, 1e-7) for n, run in runs.items()}
            rounds.append(Sample(records[0], records[-1], plain))
            products.append(timed(product, 1))
            copies.append(timed(copy, 1))
    *caches, (_, b) = [(2.0 * at["bytes"], max(at["copy"], at["in place"])) for at in part["bandwidth"].values()]
    today, here = (b, part["product"]["float32"]), (times * size / min(copies), 2 * (n // 2) ** 3 / min(products))
    samples = [_mean(some) for some in (rounds, rounds[::2], rounds[1::2]) if some]
    issue = machine["framework"]["dispatch"]["issue"]
    if machine["gpus"]:  # rows have the device's time, and the shortest says what a call costs there
        issue = min([issue] + [row.seconds / row.calls for row in samples[0].full.rows.values() if row.seconds])
    rates = [Rates(issue, [*caches, (math.inf, b)], P) for b, P in (today, here)]
    trouble = trouble or (say("No verdict: the machine was too busy.") if seen.disturbance.factor > CLOSE else "")
    return Bill(samples, rates, trouble, seen.disturbance.words())


def _lengths(data: Any) -> list[int]:
    """Return the number of rows of each array in some data."""
    if isinstance(data, (list, tuple, dict)):
        return [n for each in (data.values() if isinstance(data, dict) else data) for n in _lengths(each)]
    return [int(data.shape[0])] if getattr(data, "shape", None) else []


def _first(data: Any, n: int) -> Any:
    """Return some data with the first n rows of each array."""
    if isinstance(data, dict):
        return {key: _first(value, n) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return type(data)([_first(value, n) for value in data])
    return data[:n] if getattr(data, "shape", None) else data


def _mean(rounds: Sequence[Sample]) -> Sample:
    """Return the mean of the fastest third of the rounds, separately of each kind of step."""
    number = max(1, len(rounds) // 3)

    def record(records: Sequence[Record]) -> Record:
        best = sorted(records, key=lambda each: each.whole)[:number]
        rows = {name: Row(**vars(row)) for each in reversed(best) for name, row in each.rows.items()}
        for name, row in rows.items():
            row.seconds = sum(each.rows[name].seconds for each in best if name in each.rows) / number
        return Record(sum(each.whole for each in best) / number, rows, best[0].issued)

    plain = {n: sum(sorted(each.plain[n] for each in rounds)[:number]) / number for n in rounds[0].plain}
    return Sample(record([each.full for each in rounds]), record([each.half for each in rounds]), plain)
