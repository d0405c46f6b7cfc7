"""How far the book's predictions are from what was measured, in one line."""

import math
import statistics
from collections.abc import Sequence
from typing import Any

from book.words import say, say_record
from d2l_lab.instruments.predictions import NEAR
from d2l_lab.instruments.timing import three_digits

Record = dict[str, Any]  # a Comparison as a dict, with its section, framework and cell


def miss(record: Record) -> float:
    """Return by how many times a prediction missed its measurement, whichever is larger: 1 is exact."""
    if record["measured"] <= 0:  # a saving that is none
        return math.inf
    return max(record["measured"] / record["predicted"], record["predicted"] / record["measured"])


def models(records: Sequence[Record]) -> list[Record]:
    """Return the records that are models, the worst first."""
    return sorted((record for record in records if record["kind"] == "model"), key=miss, reverse=True)


def others(records: Sequence[Record]) -> str:
    """Return how many estimates there are, and how many savings of which how many came as promised."""
    estimates = sum(record["kind"] == "estimate" for record in records)
    words = [say("1 estimate") if estimates == 1 else say("{n} estimates", n=estimates)]
    savings = [record for record in records if record["kind"] == "saving"]
    if savings:
        near = sum(miss(record) <= NEAR for record in savings)
        number = say("1 saving") if len(savings) == 1 else say("{n} savings", n=len(savings))
        words.append(say("{savings}, {near} within {factor} ×", savings=number, near=near, factor=NEAR))
    return say("; ").join(words)


def summary_line(records: Sequence[Record]) -> str:
    """Return how good the models among some predictions are, and how many estimates and savings there are."""
    ours = models(records)
    if not ours:
        return say("no models") + say("; ") + others(records)
    misses = [miss(record) for record in ours]
    near = round(100 * sum(each <= NEAR for each in misses) / len(misses))
    number = say("1 model") if len(ours) == 1 else say("{n} models", n=len(ours))
    return say(
        "{models}, median {median} ×, {near} % within {factor} ×, worst {worst} × ({section}: {name}); {others}",
        models=number,
        median=three_digits(statistics.median(misses)),
        near=near,
        factor=NEAR,
        worst=three_digits(misses[0]),
        section=ours[0]["section"],
        name=say_record(ours[0]["name"]),
        others=others(records),
    )
