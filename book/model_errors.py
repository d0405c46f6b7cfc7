"""How far the book's predictions are from what was measured, in one line. Standard library only."""

import math
import statistics
from collections.abc import Sequence
from typing import Any

from d2l_utils.predictions import NEAR
from d2l_utils.timing import three_digits

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
    words = [counted(sum(record["kind"] == "estimate" for record in records), "estimate")]
    savings = [record for record in records if record["kind"] == "saving"]
    if savings:
        near = sum(miss(record) <= NEAR for record in savings)
        words.append(f"{counted(len(savings), 'saving')}, {near} within {NEAR} ×")
    return "; ".join(words)


def summary_line(records: Sequence[Record]) -> str:
    """Return how good the models among some predictions are, and how many estimates and savings there are."""
    ours = models(records)
    if not ours:
        return f"no models; {others(records)}"
    misses = [miss(record) for record in ours]
    near = round(100 * sum(each <= NEAR for each in misses) / len(misses))
    worst = f"{three_digits(misses[0])} × ({ours[0]['section']}: {ours[0]['name']})"
    median = three_digits(statistics.median(misses))
    return (
        f"{counted(len(ours), 'model')}, median {median} ×, {near} % within {NEAR} ×, worst {worst}; {others(records)}"
    )


def counted(number: int, noun: str) -> str:
    """Return a number of things: 1 model, 2 models."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
