"""How far the book's predictions are from what was measured, and which gaps others explain: counted, in one line.

What was disturbed while it was measured is counted apart, and so are counts of other people's code.
"""

import math
import statistics
from collections.abc import Sequence
from typing import Any

from book.outputs import CLAIM, PREDICTION, code_cells
from book.outputs import records as records_of
from book.record_html import read_as
from book.words import current, say, say_record
from d2l_lab.instruments.claims import Claim
from d2l_lab.instruments.predictions import Comparison
from d2l_lab.instruments.timing import NEAR, three_digits

Record = dict[str, Any]  # a Comparison as a dict, with its section, framework and cell


def miss(record: Record) -> float:
    """Return by how many times a prediction missed its measurement, whichever is larger: 1 is exact."""
    if record["measured"] <= 0:  # a saving that is none
        return math.inf
    return max(record["measured"] / record["predicted"], record["predicted"] / record["measured"])


def section_of(record: Record) -> str:
    """Return what a sentence calls the section of a record: its slug, in a translation its title."""
    return str(record.get("title", record["section"]) if current().language else record["section"])


def disturbed(record: Record) -> bool:
    found: Comparison = read_as(Comparison, record)
    return found.disturbance.disturbed


def models(records: Sequence[Record]) -> list[Record]:
    """Return the records that are models and were not disturbed, the worst first."""
    return sorted(undisturbed(records, "model"), key=miss, reverse=True)


def undisturbed(records: Sequence[Record], kind: str) -> list[Record]:
    return [record for record in records if record["kind"] == kind and not disturbed(record)]


def open_to_explanation(record: Record) -> bool:
    """Return whether a prediction left a gap that another one is to close: an undisturbed miss that is no model's."""
    return record["kind"] in ("estimate", "saving") and miss(record) > NEAR and not disturbed(record)


def name_in_section(record: Record, name: str) -> tuple[str, str, str]:
    return record["section"], record["framework"], name


def closing(records: Sequence[Record]) -> dict[tuple[str, str, str], Record]:
    """Return what closes gaps, by section, framework and the name of what missed: predictions within 1.5 ×."""
    found = [record for record in records if record.get("closes") and miss(record) <= NEAR]
    return {name_in_section(record, record["closes"]): record for record in found}


def share(records: Sequence[Record], number: str, gaps: str = "") -> str:
    """Return how many predictions there are, in words, with their median factor, the share within 1.5 × and `gaps`."""
    misses = [miss(record) for record in records]
    near = round(100 * sum(each <= NEAR for each in misses) / len(misses))
    median = statistics.median(misses)
    words = say(
        "{number}, median {median} ×, {near} % within {factor} ×",
        number=number,
        median=three_digits(median) if math.isfinite(median) else "∞",
        near=near,
        factor=NEAR,
    )
    return words + say(", ") + gaps if gaps else words


def gaps_closed(ours: Sequence[Record], records: Sequence[Record]) -> str:
    """Return how many of the gaps that `ours` left other `records` close, "" if they left none."""
    left, closed = [record for record in ours if open_to_explanation(record)], closing(records)
    count = sum(name_in_section(record, record["name"]) in closed for record in left)
    return say("{closed} of {n} gaps closed", closed=count, n=len(left)) if left else ""


def summary_line(records: Sequence[Record], short: bool = False) -> str:
    """Return how good the models, estimates and savings among some predictions are; the worst model unless `short`."""
    ours = models(records)
    number = say("1 model") if len(ours) == 1 else say("{n} models", n=len(ours))
    parts = [share(ours, number) if ours else say("no models")]
    if ours and not short:
        worst = {"section": section_of(ours[0]), "name": say_record(ours[0]["name"])}
        parts[0] += say(", worst {times} × ({section}: {name})", times=three_digits(miss(ours[0])), **worst)
    estimates, savings = undisturbed(records, "estimate"), undisturbed(records, "saving")
    if estimates:
        number = say("1 estimate") if len(estimates) == 1 else say("{n} estimates", n=len(estimates))
        parts.append(share(estimates, number, gaps_closed(estimates, records)))
    if savings:
        number = say("1 saving") if len(savings) == 1 else say("{n} savings", n=len(savings))
        parts.append(share(savings, number, gaps_closed(savings, records)))
    apart = sum(map(disturbed, records))
    if apart:
        parts.append(say("{n} disturbed", n=apart))
    counts = undisturbed(records, "count")
    if counts:
        exact = sum(record["measured"] == record["predicted"] for record in counts)
        parts.append(say("counts: {exact} of {n} exact", exact=exact, n=len(counts)))
    return say("; ").join(parts)


def missed_while_disturbed(notebook: dict[str, Any]) -> list[str]:
    """Return the models and timed claims of an executed notebook that missed while others disturbed them, by name."""
    found = []
    for cell in code_cells(notebook):
        compared = [read_as(Comparison, record) for record in records_of(cell, PREDICTION)]
        claimed = [read_as(Claim, record) for record in records_of(cell, CLAIM)]
        found += [each.name for each in compared if each.kind == "model" and each.missed and each.disturbance.disturbed]
        found += [each.sentence for each in claimed if each.timed and not each.held and each.disturbance.disturbed]
    return found
