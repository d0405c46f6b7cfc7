"""The records in a notebook's outputs as HTML, for pages and slides: predictions and measurements, claims, totals."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from datetime import date
from html import escape
from itertools import chain, repeat
from typing import Any

from book.outputs import CLAIM, ELSEWHERE, PREDICTION, RUNNING_TOTAL
from book.words import say, say_date, say_each, say_record
from d2l_lab.instruments.claims import MARKS, Claim
from d2l_lab.instruments.predictions import Comparison, Kind, bare_quartiles, on_scale, quantity
from d2l_lab.instruments.timing import NEAR, column_scale, three_digits

Record = dict[str, Any]
HALF, HEIGHT = 60, 16  # of the drawing: the width to each side of the prediction, and its height
NONE = "–"


def table_of_comparisons(rows: Iterable[Sequence[str]], attributes: Iterable[str] = ()) -> str:
    head = say_each("prediction", "predicted", "measured", "factor", "on a scale").values()
    return table("comparisons", head, rows, attributes)


def name_kind(kind: Kind) -> str:
    return say_each("estimate", "model", "saving", "count")[kind]


def table(kind: str, head: Iterable[str], rows: Iterable[Sequence[str]], attributes: Iterable[str] = ()) -> str:
    """Return a table of the class `kind` whose cells are HTML; the first of a row heads it. Rows may have attributes.

    Each other cell also has the title of its column, for narrow screens, where a row takes several lines.
    """
    titles = [escape(title) for title in head]
    lines = []
    for (name, *cells), attribute in zip(rows, chain(attributes, repeat("")), strict=False):
        columns = zip(titles[1:], cells, strict=True)
        figures = "".join(f'<td data-column="{title}">{cell}</td>' for title, cell in columns)
        lines.append(f'<tr{attribute}><th scope="row">{name}</th>{figures}</tr>')
    top = "".join(f'<th scope="col">{title}</th>' for title in titles)
    body = f"<thead><tr>{top}</tr></thead><tbody>{''.join(lines)}</tbody>"
    return f'<div class="table-wrapper container"><table class="{kind} docutils">{body}</table></div>'


def prose(words: str) -> str:
    """Return a sentence as HTML, its apostrophes as printers set them."""
    return escape(re.sub(r"(?<=\w)'(?=\w)", "’", words))


def aside(words: str, kind: str) -> str:
    """Return what follows a name or a sentence, of the class `kind`; nothing where there are no words."""
    return f' <span class="{kind}">{prose(words)}</span>' if words else ""


def link(words: str, address: str) -> str:
    """Return words that lead to a place in the book, or the words alone where there is no address."""
    return f'<a class="reference internal" href="{escape(address)}">{escape(words)}</a>' if address else escape(words)


def address_of(record: Record) -> str:
    """Return the address of a record's cell, from the folder of the pages."""
    return f"{record['section']}.html?tab={record['framework']}#{record['cell']}"


def read_as(kind: Any, record: Record) -> Any:
    """Return the claim or comparison, as `kind` says, that a record holds, whatever else is in it."""
    names = (field.name for field in fields(kind))
    return kind(**{name: record[name] for name in names if name in record})


def comparison_of(record: Record) -> Comparison:
    """Return the comparison that a record holds, whatever else is in it, its words in the current language."""
    found = read_as(Comparison, record)
    words = {field: say_record(getattr(found, field)) for field in ("name", "if_missed", "closes")}
    return replace(found, **words)


def comparisons(records: Iterable[Record], explained: bool = False) -> str:
    """Return a table of predictions beside their measurements, with a note on each miss unless all are `explained`."""
    ours = list(records)
    found = [comparison_of(record) for record in ours]
    notes = ["" if explained else aside(each.note(say), "note") for each in found]
    rows = comparison_rows(found, [escape(each.name) for each in found], notes)
    return table_of_comparisons(rows, map(stop, ours)) if found else ""


def stop(record: Record) -> str:
    """Return the attributes of the row of a prediction that may be guessed first, "" for any other."""
    if not record.get("guess"):
        return ""
    figures = "".join(f' data-{name}="{record[name]:.6g}"' for name in ("predicted", "measured"))
    return f' class="stop" data-guess="{escape(record["guess"])}" data-unit="{record["unit"]}"{figures}'


def comparison_rows(found: Sequence[Comparison], names: Sequence[str], remarks: Sequence[str]) -> list[list[str]]:
    """Return the rows of a table of comparisons, with names and remarks in HTML; what can share a unit does."""
    columns: dict[str, list[float]] = {}
    for each in found:
        columns.setdefault(each.unit, []).extend((each.predicted, each.measured))
    scales = {unit: column_scale(values) for unit, values in columns.items()}
    lines = []
    for each, name, remark in zip(found, names, remarks, strict=True):
        kind = aside("" if each.kind == "model" else name_kind(each.kind), "kind")
        lines.append([f"{name}{kind}{remark}", *map(escape, figures(each, scales[each.unit])), scale(each)])
    return lines


def figures(comparison: Comparison, column: float | None = None) -> list[str]:
    """Return the figures of a comparison in words: predicted, measured with its quartiles, factor.

    They are in the unit in which a figure of the size `column` reads best, or, without it, their own.
    """
    size = column or comparison.scale
    predicted, measured = (
        quantity(value, comparison.unit, size) for value in (comparison.predicted, comparison.measured)
    )
    low, high = bare_quartiles(comparison, size)
    between = say("{low} to {high}", low=low, high=high) if comparison.low < 0 else f"{low}–{high}"
    spread = "" if comparison.low == comparison.high else f" ({between})"
    return [predicted, measured + spread, f"{three_digits(comparison.factor)} ×"]


def scale(comparison: Comparison) -> str:
    """Return a drawing of measured over predicted: a logarithmic scale with the prediction in the middle."""
    factors = (value / comparison.predicted for value in (comparison.measured, comparison.low, comparison.high))
    place, low, high, near = (HALF * on_scale(factor) for factor in (*factors, NEAR))
    words = say("measured is {factor} times what was predicted", factor=three_digits(comparison.factor))
    middle = HEIGHT / 2
    return (
        f'<svg class="scale" viewBox="{-HALF - 6} 0 {2 * HALF + 12} {HEIGHT}" role="img" aria-label="{escape(words)}">'
        f'<rect class="band" x="{-near:.1f}" y="1" width="{2 * near:.1f}" height="{HEIGHT - 2}"/>'
        f'<path class="axis" d="M{-HALF} {middle:g}H{HALF}M0 1V{HEIGHT - 1}"/>'
        f'<path class="spread" d="M{low:.1f} {middle:g}H{high:.1f}"/>'
        f"{mark(comparison, place, middle, comparison.beyond)}</svg>"
    )


def mark(comparison: Comparison, x: float, y: float, beyond: int = 0) -> str:
    """Return the mark of a prediction: disc for a model, square for a saving, open diamond for an estimate, open disc
    for a count.

    Where the measurement lies beyond a scale, it is an arrow that leaves it, to the left for −1, to the right for 1.
    """
    if beyond:
        kind = "estimate" if comparison.kind in ("estimate", "count") else "model"
        return f'<path class="{kind}" d="M{x - 4 * beyond:.1f} {y - 4.5:.1f}l{9 * beyond} 4.5l{-9 * beyond} 4.5z"/>'
    if comparison.kind in ("model", "count"):
        kind = "model" if comparison.kind == "model" else "estimate"
        return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
    if comparison.kind == "saving":
        return f'<rect class="model" x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7"/>'
    return f'<path class="estimate" d="M{x - 5:.1f} {y:.1f}l5 -5l5 5l-5 5z"/>'


def claims(records: Iterable[Record]) -> str:
    """Return a line for each claim: its mark, its sentence, its figures, and a note on a line of its own."""
    found = []
    for record in records:
        words = read_as(Claim, record).evidence(say)
        figures = say(" ({figures})", figures=words) if words else ""
        evidence = f'<span class="evidence">{prose(figures)}</span>'
        note = f"<p>{prose(say_record(record['note']))}</p>" if record["note"] else ""
        sentence = f"<p>{tick(record['held'])} {prose(say_record(record['sentence']))}{evidence}</p>"
        found.append(f'<div class="claim">{sentence}{note}</div>')
    return "".join(found)


def tick(held: bool) -> str:
    """Return the mark of a claim, which a screen reader says in a word."""
    state, words = ("held", say("held")) if held else ("missed", say("missed"))
    return f'<span class="mark {state}" role="img" aria-label="{words}">{MARKS[held]}</span>'


def totals(records: Iterable[Record]) -> str:
    """Return tables of levers: what each promised to save of a step, what it saved, and the rate or if it learns."""
    tables = []
    for record in records:
        rate = f"{record['unit']}/s" if "unit" in record else "learns alike"
        last = say_each("learns alike", "tokens/s", "images/s").get(rate, rate)
        head = [*say_each("lever", "a step", "promised", "obtained", "gain").values(), last]
        rows = [[lever(each), *words, last_figure(record, each)] for each, words in total_figures(record["rows"])]
        tables.append(table("promises", head, rows))
    return "".join(tables)


def last_figure(record: Record, row: Record) -> str:
    """Return what stands in the last column: of what `Levers` tried the rate, of a running total if the loop learns.

    It does if its loss after a few steps is that of the loop as written; otherwise both stand there, its own first.
    """
    if "items" in record:
        return f"{record['items'] / row['seconds']:,.0f}"
    return (
        "✓"
        if row["learns"]
        else "✗ "
        + say("{loss}, not {first}", loss=three_digits(row["losses"][0]), first=three_digits(row["losses"][1]))
    )


def lever(found: Record, address: str = "") -> str:
    """Return the name of a lever in a running total, with a link if there is an address; one left out says why."""
    lost = {"gains": "", "loses": say("slower here: left out"), "within the noise": say("within the noise: left out")}
    return link(say_record(found["lever"]), address) + aside(lost[found["verdict"]], "kind left-out")


def total_figures(rows: Sequence[Record]) -> Iterator[tuple[Record, tuple[str, ...]]]:
    """Yield each row of a table of levers with its figures in words: a step, promised, obtained, gain.

    A row is a dict {lever, seconds, low, high, promised, kept, verdict, learns, losses}; that of the loop as written
    comes first.
    """
    first = before = rows[0]["seconds"]
    size = column_scale(each["seconds"] for each in rows) or first
    for place, each in enumerate(rows):
        promised = quantity(each["promised"], "s", size) if each["promised"] else NONE
        obtained = quantity(before - each["seconds"], "s", size) if place else NONE
        faster = f"{three_digits(first / each['seconds'])} ×"
        yield each, (quantity(each["seconds"], "s", size), promised, obtained, faster)
        before = each["seconds"] if each["kept"] else before


def change(before: float, after: float) -> str:
    """Return what became of a time, in seconds, in one unit: 20.0 ms → 0.980 ms."""
    size = column_scale((before, after))
    return f"{quantity(before, 's', size)} → {quantity(after, 's', size)}"


def elsewhere(records: Iterable[Record]) -> str:
    """Return a fold for what each cell found on another machine: predictions, levers, and the cause of a miss."""
    return "".join(
        f'<details class="elsewhere"><summary>{escape(title_elsewhere(record))}</summary>'
        f"{comparisons(record['predictions'], bool(record['remark']))}{totals(record['totals'])}"
        f"{remarks(record)}</details>"
        for record in records
    )


def title_elsewhere(record: Record) -> str:
    """Return the title of a fold, with the factors: of each prediction, else of all levers together."""
    factors = [each["measured"] / each["predicted"] for each in record["predictions"]]
    found = say(", ").join(f"{three_digits(factor)} ×" for factor in factors)
    if record["totals"]:
        *_, (_, (*_, faster)) = total_figures(record["totals"][-1]["rows"])
        found = say("{factor} as fast with all levers", factor=faster)
    return say("The same cell on an {gpu}: {found}", gpu=record["gpu"], found=found)


def remarks(record: Record) -> str:
    """Return what is said below the tables of another machine: the cause of a miss, then versions and date."""
    versions = say(", ").join(f"{package} {version}" for package, version in record["versions"].items())
    day = say_date(date.fromisoformat(record["date"]))
    about = say("{versions}; {day}.", versions=versions, day=day)
    found = [say_record(record["remark"]), about] if record["remark"] else [about]
    return "".join(f"<p>{prose(sentence)}</p>" for sentence in found)


HTML: dict[str, Callable[[Iterable[Record]], str]] = {
    CLAIM: claims,
    PREDICTION: comparisons,
    RUNNING_TOTAL: totals,
    ELSEWHERE: elsewhere,
}
