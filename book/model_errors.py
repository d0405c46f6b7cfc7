"""How far the book's predictions are from what was measured, in one line. Standard library only."""

import statistics
from collections.abc import Sequence
from typing import Any

from d2l_utils.timing import three_digits

NEAR = 1.5  # times off, at most, for a model that the chapter calls good

Record = dict[str, Any]  # a Comparison as a dict, with its section, framework and cell


def miss(record: Record) -> float:
    """Return by how many times a prediction missed its measurement, whichever is larger: 1 is exact."""
    return max(record["measured"] / record["predicted"], record["predicted"] / record["measured"])


def models(records: Sequence[Record]) -> list[Record]:
    """Return the records that are no estimates, the worst first."""
    return sorted((record for record in records if record["kind"] == "model"), key=miss, reverse=True)


def summary_line(records: Sequence[Record]) -> str:
    """Return how good the models among some predictions are, and how many estimates there are."""
    ours = models(records)
    estimates = counted(len(records) - len(ours), "estimate")
    if not ours:
        return f"no models; {estimates}"
    misses = [miss(record) for record in ours]
    near = round(100 * sum(each <= NEAR for each in misses) / len(misses))
    worst = f"{three_digits(misses[0])} × ({ours[0]['section']}: {ours[0]['name']})"
    median = three_digits(statistics.median(misses))
    return f"{counted(len(ours), 'model')}, median {median} ×, {near} % within {NEAR} ×, worst {worst}; {estimates}"


def counted(number: int, noun: str) -> str:
    """Return a number of things: 1 model, 2 models."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
