"""What of a run is kept in a notebook, and the records in it: claims, predictions, totals. Touches no file."""

import re
from collections.abc import Sequence
from typing import Any

from d2l_utils.claims import MIME as CLAIM
from d2l_utils.predictions import MIME as PREDICTION

MACHINE_PATH = re.compile(r'(?:/[^\s/:"\']+)*/ipykernel_\d+/\d+\.py')
WIDGET = "application/vnd.jupyter.widget-view+json"
RUNNING_TOTAL = "application/vnd.d2l.running-total+json"
RECORDS = (CLAIM, PREDICTION, RUNNING_TOTAL)


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def clean(outputs: Sequence[dict[str, Any]], paths: dict[str, str]) -> list[dict[str, Any]]:
    """Return a cell's outputs without widgets, and with a name from `paths` in place of each path of this machine."""
    kept: list[dict[str, Any]] = []
    for output in outputs:
        cleaned = {name: value for name, value in output.items() if name != "transient"}
        if cleaned["output_type"] == "stream":
            cleaned["text"] = scrub(cleaned["text"], paths)
        elif cleaned["output_type"] == "error":
            cleaned["traceback"] = [scrub(line, paths) for line in cleaned["traceback"]]
            cleaned["evalue"] = scrub(cleaned["evalue"], paths)
        else:
            data = cleaned["data"].items()
            cleaned["data"] = {mime: scrub(value, paths) for mime, value in data if mime != WIDGET}
        kept.append(cleaned)
    return kept


def scrub(text: Any, paths: dict[str, str]) -> Any:
    """Return a text with the machine's paths replaced, the longest first; anything but text is returned as it is."""
    if not isinstance(text, str):
        return text
    scrubbed = MACHINE_PATH.sub("cell.py", text)
    for path in sorted(paths, key=len, reverse=True):
        if path != "/":
            scrubbed = re.sub(re.escape(path) + r"(?![\w.-])", paths[path], scrubbed)
    return scrubbed


def unrepeated(outputs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a cell's outputs without the lines of predictions that its comparisons have taken away."""
    return [output for output in outputs if output.get("data") != {"text/plain": ""}]


def records(cell: dict[str, Any], mime: str) -> list[dict[str, Any]]:
    """Return the records of a MIME type that a cell showed, such as its claims."""
    return [output["data"][mime] for output in cell["outputs"] if mime in output.get("data", {})]
