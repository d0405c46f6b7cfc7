"""The bill of a step: what each operation takes beside its bound, and one sentence that is right or abstains.

Every framework records the same rows. A half of the minibatch is recorded in turn with the whole of it: what is left of
an operation's time when its minibatch shrinks to nothing is fixed, and the time of a quarter tests that.
"""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any, NamedTuple

from d2l_lab.instruments.display import wrapped
from d2l_lab.instruments.framework import framework, needs_framework, your_machine
from d2l_lab.instruments.timing import minus
from d2l_lab.instruments.words import say
from d2l_lab.machine.disturbance import observing
from d2l_lab.machine.operations import device_and_rows, in_a_line
from d2l_lab.protocol import Framework, Record, Row

SHOWN = 8  # rows
ROUNDS, FEWEST, BUDGET = 15, 6, 6.0  # rounds at most and at least, and the seconds after which no further one begins
CLOSE = 1.25  # times: two causes that differ by less are a tie
MISSED = 1.2  # times: from there on a quarter of the minibatch takes another time than expected
LEAST = 0.8  # of its bound: if an operation takes less, one of the two is wrong
OVER = 1.15  # of the step: if its operations take more, they ran side by side, or another step was recorded
OUTSIDE = "between operations"
KINDS = {  # a cause, and what to try
    "calls": "the fixed cost of calls and of Python; make fewer and larger ones (compile, fuse, stack)",
    "python": "work outside the operations that grows with the minibatch; do it ahead or for all rows at once",
    "bytes": "moving bytes; move fewer (fuse, narrower numbers, sparse gradients)",
    "arithmetic": "arithmetic; do fewer flops, or choose a faster format",
    "kernel": "kernels far from their bounds; do the same work in another way (layout, shape, function)",
    "uncounted": "operations that are not counted",
}
Runs = dict[int, Callable[[], None]]


class Rates(NamedTuple):
    """What the machine can do: α, b by the bytes of the calls that a level has room for, the smallest first, and P."""

    issue: float
    levels: tuple[tuple[float, float], ...]
    product: float

    def memory(self, row: Row) -> float:
        """Return the seconds in which a row's bytes pass, at the rate of the level that had room for their reach."""
        return sum(size / next(b for most, b in self.levels if reach <= most) for reach, size in row.reaches.items())

    def bounds(self, row: Row, issued: bool) -> dict[str, float]:
        """Return the least seconds of a row by cause; calls that Python does not issue have no α."""
        calls = self.issue * row.calls if issued else 0.0
        return {"calls": calls, "bytes": self.memory(row), "flops": row.flops / self.product}


class Sample(NamedTuple):
    """Records of a minibatch and of a half of it, and seconds of steps by their rows, each the mean of some rounds."""

    full: Record
    half: Record
    plain: dict[int, float]


class Bill:
    """The bill of a step, which prints as a table and a sentence.

    Of each operation, `rows` has `calls`, `flops`, `bytes` and `seconds`, and `waste` the seconds above its bound, the
    largest first. `cause` is what limits the step, "calls", "bytes", "arithmetic" or "kernel", and None where the
    sentence abstains; `share` is the cause's of the step, `operation` the largest part of it, and `saves` the seconds
    of that part.
    """

    def __init__(self, samples: Sequence[Sample], rates: Sequence[Rates], trouble: str = "", note: str = "") -> None:
        """Draw up the bill of the first sample with the first rates; where the others disagree, it is a tie."""
        full = samples[0].full
        self.seconds, self._note = full.whole, note
        self._bounds = {name: rates[0].bounds(row, full.issued) for name, row in full.rows.items()}
        waste = {name: row.seconds - max(self._bounds[name].values()) for name, row in full.rows.items()}
        self.waste = dict(sorted(waste.items(), key=lambda item: -item[1]))
        self.rows = {name: full.rows[name] for name in self.waste}
        self.between = self.seconds - sum(row.seconds for row in self.rows.values())
        self.cause: str | None = None
        self.operation, self.share, self.saves = "", 0.0, 0.0
        self.sentence = trouble or self._judge(samples, rates)

    def _judge(self, samples: Sequence[Sample], rates: Sequence[Rates]) -> str:
        """Return the sentence, and set what it names if it does not abstain."""
        plain = samples[0].plain
        B, half, quarter = sorted(plain, reverse=True)
        expected = plain[B] - (B - quarter) * (plain[B] - plain[half]) / (B - half)
        control = say(
            "Control: {half} of {B} rows take {a} of the step, so {quarter} should take {b}; they take {c}.",
            **{"B": B, "half": half, "quarter": quarter, "a": f"{plain[half] / plain[B]:.2f}"},
            **{"b": f"{expected / plain[B]:.2f}", "c": f"{plain[quarter] / plain[B]:.2f}"},
        )
        found = [pieces(sample, B, half, each) for sample in samples for each in rates]
        causes = [by_cause(each) for each in found]
        first, second, *_ = causes[0]
        shares = {cause: seconds / sum(causes[0].values()) for cause, seconds in causes[0].items()}
        others = [cause for cause in causes[0] if cause != first and cause in {next(iter(each)) for each in causes}]
        self.saves, name = max((seconds, name) for (cause, name), seconds in found[0].items() if cause == first)
        row = self.rows.get(name, Row(1, seconds=self.between))
        if not 1 / MISSED < expected / plain[quarter] < MISSED:
            why = say("the time does not fall evenly with the minibatch")
        elif self.between < (1 - OVER) * self.seconds:
            why = say("the operations add up to more than the step")
        elif others or shares[second] * CLOSE > shares[first]:
            two = {cause: say(KINDS[cause]).partition(";")[0] for cause in (first, [*others, second][0])}
            why = say("a tie between {them}", them=", ".join(f"{two[each]} ({shares[each]:.0%})" for each in two))
        elif first == "uncounted":
            why = say("most of the time is in {name}, which is not counted", name=name)
        elif row.seconds < LEAST * max(self._bounds.get(name, {"": 0.0}).values()):
            why = say("{name} takes less than its bound, so one of the two is wrong", name=name)
        else:
            self.cause, self.operation, self.share = first, name, shares[first]
            return say(
                "{share} of the step is {cause}. The largest part, {ms} of {all} ms, is {what}. {control}",
                **{"share": f"{self.share:.0%}", "cause": say(KINDS[first]), "control": control},
                **{"ms": _ms(self.saves).strip(), "all": _ms(self.seconds).strip()},
                what=f"{row.calls:.0f} × {name}" if name in self.rows else say(name),
            )
        worst = next(iter(self.waste), OUTSIDE)
        return say(
            "No verdict: {why}. The largest waste is {ms} of {all} ms, in {name}. {control}",
            why=why,
            name=worst,
            ms=_ms(self.waste.get(worst, 0.0)).strip(),
            all=_ms(self.seconds).strip(),
            control=control,
        )

    def __repr__(self) -> str:
        heads = [say(head) for head in ("operation", "calls", "Mflop", "MB", "bound", "by", "took", "waste")]
        lines = ["{:<25}{:>6}{:>9}{:>8}{:>8} {:<6}{:>8}{:>8}".format(*heads)]
        names = list(self.rows)
        groups = {name: [name] for name in names[:SHOWN]} | {say("sum, in ms"): names}
        if names[SHOWN:]:
            groups = {name: [name] for name in names[:SHOWN]}
            groups |= {say("({n} more)", n=len(names) - SHOWN): names[SHOWN:], say("sum, in ms"): names}
        for title, members in groups.items():
            rows = [self.rows[name] for name in members]
            bounds = self._bounds[title] if members == [title] else {"": 0.0}
            by = max(bounds, key=bounds.__getitem__) + ("?" if members == [title] and rows[0].uncounted else "")
            figures = [
                sum(row.calls for row in rows),
                *(sum(getattr(row, of) for row in rows) / 1e6 for of in ("flops", "bytes")),
            ]
            took, waste = sum(row.seconds for row in rows), sum(self.waste[name] for name in members)
            title = title if len(title) < 25 else f"{title[:12]}…{title[-11:]}"
            lines.append(
                "{:<25}{:>6.0f}{:>9.1f}{:>8.2f}".format(title, *figures)
                + f"{_ms(took - waste)} {by:<6}{_ms(took)}{_ms(waste)}"
            )
        lines += [f"{say('the step beside it'):<63}{_ms(self.seconds)}", f"{say(OUTSIDE):<63}{_ms(self.between)}"]
        lines += [say("?: some calls are not counted")] if any(row.uncounted for row in self.rows.values()) else []
        return "\n".join([*lines, *filter(None, [self._note]), wrapped(self.sentence, "→")])


def _ms(seconds: float) -> str:
    return f"{minus(f'{1e3 * seconds:.2f}'):>8}"


def pieces(sample: Sample, B: int, half: int, rates: Rates) -> dict[tuple[str, str], float]:
    """Return the seconds of a step by cause and operation.

    An operation's time is cut into what is fixed and what grows with the minibatch, each with its own bytes, flops and
    calls. Each part goes to its bound first; what remains is a kernel's, or that of calls where the bound is within two
    of theirs.
    """

    def fixed(whole: float, part: float) -> float:
        return min(max((B * part - half * whole) / (B - half), 0.0), whole)

    full, found = sample.full, dict[tuple[str, str], float]()
    for name, row in full.rows.items():
        if row.uncounted > row.calls / 10:
            found["uncounted", name] = row.seconds
            continue
        other = sample.half.rows.get(name, Row())
        whole = (row.seconds, row.calls, rates.memory(row), row.flops / rates.product)
        part = (other.seconds, other.calls, rates.memory(other), other.flops / rates.product)
        stay = [fixed(*each) for each in zip(whole, part, strict=True)]
        for seconds, calls, memory, arithmetic in (stay, [a - b for a, b in zip(whole, stay, strict=True)]):
            bound, cause = max((memory, "bytes"), (arithmetic, "arithmetic"))
            rest = "calls" if bound <= 2 * rates.issue * calls else "kernel"
            for key, share in ((cause, min(seconds, bound)), (rest, max(seconds - bound, 0.0))):
                found[key, name] = found.get((key, name), 0.0) + share
    outside = [max(each.whole - sum(row.seconds for row in each.rows.values()), 0.0) for each in sample[:2]]
    stays = fixed(*outside)
    return found | {("calls", OUTSIDE): stays, ("python", OUTSIDE): outside[0] - stays}


def by_cause(found: Mapping[tuple[str, str], float]) -> dict[str, float]:
    """Return the seconds of each cause, the largest first."""
    sums = {cause: sum(seconds for (kind, _), seconds in found.items() if kind == cause) for cause in KINDS}
    return dict(sorted(sums.items(), key=lambda item: -item[1]))


def wall_seconds(spans: Sequence[tuple[float, float, str]]) -> dict[str, float]:
    """Return the seconds by name of spans of time (start, end, name): those that run at an instant share it."""
    ends = [(end, False, i) for i, (start, end, _) in enumerate(spans) if end > start]
    points = sorted(ends + [(spans[i][0], True, i) for _, _, i in ends])
    found: dict[str, float] = {}
    running, last = set[int](), 0.0
    for now, begins, i in points:
        for j in running:
            found[spans[j][2]] = found.get(spans[j][2], 0.0) + (now - last) / len(running)
        last = now
        (running.add if begins else running.discard)(i)
    return found


class Touched:
    """Which arrays calls have touched, in turn."""

    def __init__(self) -> None:
        self._at: dict[Any, float] = {}
        self._now = 0.0

    def reaches(self, arrays: Mapping[Any, float]) -> dict[float, float]:
        """Return the bytes of a call by reach, rounded up to a power of 2, from those of each array that it touches."""
        total, found = sum(arrays.values()), dict[float, float]()
        for key, size in arrays.items():
            reach = 2.0 ** math.ceil(math.log2(max(self._now + total - self._at.get(key, -(2.0**60)), 1.0)))
            found[reach] = found.get(reach, 0.0) + size
        self._now += total
        self._at |= dict.fromkeys(arrays, self._now)
        return found


@needs_framework
def bill(step: Callable[[Any, Any], object], X: Any, y: Any) -> Bill:
    """Return the bill of a training step: calls, flops, bytes, bound, time and waste of each operation, and a sentence.

    The step runs some dozens of times, with the first half and the first quarter of the rows of X and y too, so what it
    trains goes on training. The sentence names what limits the step; where the measurements cannot tell, it says so.
    α, b and P are today's, and P is taken once more beside the step: where the two disagree about the cause, it is a
    tie.

    Parameters
    ----------
    step
        `step(X, y)` trains by a minibatch; it keeps its own state.
    X, y
        The minibatch: arrays whose rows are its examples, or nested lists, tuples and dictionaries of such arrays.

    Raises
    ------
    ValueError
        If X has no rows, or the step fails.
    """
    d2l, B = framework(), _rows(X)
    runs, trouble = _runs(d2l, step, X, y, B)
    machine = your_machine()
    part = machine["gpus"][0] if machine["gpus"] else machine["framework"]
    device, n = device_and_rows(d2l, 0 if machine["gpus"] else -1)
    with observing() as seen:
        rounds, fastest = _measure(d2l, runs, d2l.product(device, n // 2, "float32"), seen.tick)
    kept = Rates(machine["framework"]["dispatch"]["issue"], _levels(part["bandwidth"]), part["product"]["float32"])
    rates = [kept, kept._replace(product=2 * (n // 2) ** 3 / fastest)]
    samples = [_mean(some) for some in (rounds, rounds[::2], rounds[1::2]) if some]
    note = say("while this was measured, {words}", words=seen.disturbance.words()) if seen.disturbance.disturbed else ""
    return Bill(samples, rates, trouble, note)


def _rows(data: Any) -> int:
    """Return the rows of the first array in some data."""
    while isinstance(data, (list, tuple, dict)) and data:
        data = next(iter(data.values() if isinstance(data, dict) else data))
    if not getattr(data, "shape", ()) or not data.shape[0]:
        raise ValueError(f"bill takes a minibatch whose first array has rows, not {type(data).__name__}")
    return int(data.shape[0])


def _first(data: Any, n: int, B: int) -> Any:
    """Return some data with the first n rows of each array of B rows."""
    if isinstance(data, dict):
        return {key: _first(value, n, B) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        parts = [_first(value, n, B) for value in data]
        return type(data)(*parts) if hasattr(data, "_fields") else type(data)(parts)
    return data[:n] if n < B and getattr(data, "shape", ()) and data.shape[0] == B else data


def _runs(d2l: Framework, step: Callable[[Any, Any], object], X: Any, y: Any, B: int) -> tuple[Runs, str]:
    """Return functions that run the step, which they have done, by their rows, and what leaves only the first."""

    def run(n: int) -> Callable[[], None]:
        few, labels = _first(X, n, B), _first(y, n, B)

        def call() -> None:
            step(few, labels)
            d2l.synchronize()

        return call

    runs = Runs()
    for n in (B, B // 2, B // 4) if B >= 4 else (B,):
        try:
            runs[n] = run(n)
            runs[n](), runs[n]()
        except Exception as error:  # a step raises what it likes
            if n == B:
                raise ValueError(f"the step fails: {in_a_line(error)}") from error
            return {B: runs[B]}, say("No verdict: {n} of {B} rows fail: {error}", n=n, B=B, error=in_a_line(error))
    return runs, say("No verdict: {B} rows cannot be halved twice.", B=B) if B < 4 else ""


def _measure(
    d2l: Framework, runs: Runs, product: Callable[[], None], tick: Callable[[], None]
) -> tuple[list[Sample], float]:
    """Return samples of single rounds, and the seconds of the fastest product beside them."""
    recorders = [d2l.recorder(run) for run in list(runs.values())[:2]]
    rounds, products, start = list[Sample](), list[float](), perf_counter()
    most = 1 if os.environ.get("D2L_QUICK") == "1" else ROUNDS
    product()
    while len(rounds) < most and (len(rounds) < FEWEST or perf_counter() - start < BUDGET):
        tick()
        records = [record() for record in recorders]
        rounds.append(Sample(records[0], records[-1], {n: _seconds(run) for n, run in runs.items()}))
        products.append(_seconds(product))
    return rounds, min(products)


def _seconds(run: Callable[[], None]) -> float:
    start = perf_counter()
    run()
    return perf_counter() - start


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


def _levels(bandwidth: Mapping[str, Mapping[str, float]]) -> tuple[tuple[float, float], ...]:
    """Return the bytes of a call that each level has room for and its rate, no less than that of a larger level."""
    found, best = list[tuple[float, float]](), 0.0
    for level in sorted(bandwidth.values(), key=lambda level: -level["bytes"]):
        best = max(best, *(rate for name, rate in level.items() if name != "bytes"))
        found.insert(0, (2 * level["bytes"] if found else float("inf"), best))
    return tuple(found)
