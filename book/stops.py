"""Stops: predictions whose measurement a reader may guess first, by counting and the figures above. Touches no file.

A cell names those of its predictions that are stops in its metadata, `guess: eight passes` or a list of names, in which
a `*` stands for what differs between machines or frameworks. A prediction is a stop only where it came out within 1.5 ×
and undisturbed: nobody has to guess what the book itself could not predict.
"""

import json
import math
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from book.cells import short_hash
from book.outputs import PREDICTION
from book.record_html import Record, read_as
from d2l_lab.instruments.predictions import Comparison

NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
ALIKE = 0.006  # of a decade, by which two figures of two digits or more may differ and still tell one another


def marked(outputs: Sequence[dict[str, Any]], wanted: Sequence[str], *place: str) -> list[dict[str, Any]]:
    """Return a cell's outputs in which the first prediction of each name that is `wanted` is a stop, if it may be one.

    Its record has as "guess" the key under which a browser keeps the guess: the place of the cell, and what was found.
    """
    left, found = list(wanted), []
    for output in outputs:
        record = output.get("data", {}).get(PREDICTION)
        name = next((name for name in left if record and fnmatchcase(record["name"], name)), None)
        if record and name:
            left.remove(name)
            comparison: Comparison = read_as(Comparison, record)
            if not comparison.missed and not comparison.disturbance.disturbed:
                key = "/".join([*place, short_hash("b", json.dumps(record, sort_keys=True))])
                output = output | {"data": output["data"] | {PREDICTION: record | {"guess": key}}}
        found.append(output)
    return found


def tells(text: str, record: Record) -> bool:
    """Tell whether a text has the figure of a prediction or of its measurement, in whatever unit."""
    wanted = [record[figure] for figure in ("predicted", "measured")]
    for number in NUMBER.findall(text):
        value = float(number.replace(",", ""))
        near = value and any(abs((math.log10(value / each) + 0.5) % 1 - 0.5) < ALIKE for each in wanted)
        if value in wanted or (near and len(number) > 1):
            return True
    return False
