"""What of a run is kept in a notebook, what pages show of it, and the records in it. Touches no file.

A record is a claim, a prediction or a running total.
"""

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from book.terminal import legal, settled, uncoloured
from book.words import current, say, say_printed, say_record
from d2l_lab.instruments.claims import MIME as CLAIM
from d2l_lab.instruments.display import RUNNING_TOTAL
from d2l_lab.instruments.predictions import MIME as PREDICTION
from d2l_lab.machine.datasheets import specifications_in
from d2l_lab.plots.words import in_words, phrase

MACHINE_PATH = re.compile(r'(?:/[^\s/:"\']+)*/ipykernel_\d+/\d+\.py')
WIDGET = "application/vnd.jupyter.widget-view+json"
ELSEWHERE = "application/vnd.d2l.elsewhere+json"  # what the same cell found on another machine
RECORDS = (CLAIM, PREDICTION, RUNNING_TOTAL, ELSEWHERE)
SVG = "image/svg+xml"
IMAGES = (SVG, "image/png", "image/jpeg", "image/gif")
MARKUP = ("text/html", "text/markdown", "text/latex")
SHOWN = (*RECORDS, *IMAGES, *MARKUP, "application/javascript", "text/plain")
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")  # which HTML and XML refuse
RETURN = re.compile(r"\r\n?|[\f\v]")
LONGEST = 20_000  # characters that a cell has printed: about 250 lines
LARGEST = 1_000_000  # characters of HTML that a cell displays, most of which are a library's script


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def clean(outputs: Sequence[dict[str, Any]], paths: dict[str, str]) -> list[dict[str, Any]]:
    """Return a cell's outputs without widgets, and with a name from `paths` in place of each path of this machine.

    They stay in their order; neighbours that went to the same stream become one, as a terminal shows it.
    """
    kept: list[dict[str, Any]] = []
    for output in joined(outputs):
        cleaned = {name: value for name, value in output.items() if name != "transient"}
        if cleaned["output_type"] == "stream":
            cleaned["text"] = scrub(settled(cleaned["text"]), paths)
        elif cleaned["output_type"] == "error":
            cleaned["traceback"] = [scrub(line, paths) for line in cleaned["traceback"]]
            cleaned["evalue"] = scrub(cleaned["evalue"], paths)
        else:
            data = cleaned["data"].items()
            cleaned["data"] = {mime: scrub(value, paths) for mime, value in data if mime != WIDGET}
        kept.append(cleaned)
    return kept


def joined(outputs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return outputs in which no two neighbours went to the same stream."""
    found: list[dict[str, Any]] = []
    for name, group in groupby(outputs, lambda output: output.get("name", "")):
        if name:
            found.append({"output_type": "stream", "name": name, "text": "".join(each["text"] for each in group)})
        else:
            found += group
    return found


def scrub(text: Any, paths: dict[str, str]) -> Any:
    """Return a text with the machine's paths replaced, the longest first; anything but text is returned as it is."""
    if not isinstance(text, str):
        return text
    scrubbed = legal(text)
    if "/ipykernel_" in scrubbed:
        lines = scrubbed.splitlines(keepends=True)  # the pattern takes long for a long line
        scrubbed = "".join(MACHINE_PATH.sub("cell.py", line) if "/ipykernel_" in line else line for line in lines)
    for path in sorted(paths, key=len, reverse=True):
        if path != "/":
            scrubbed = re.sub(re.escape(path) + r"(?![\w.-])", paths[path], scrubbed)
    return scrubbed


def presentable(outputs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what pages and slides show of a cell's outputs: no prediction twice, and text as `legible` has it.

    What is too long for a page is left out, and a last line says how much that is.
    """
    kept, room, left_out = [], LONGEST, 0
    for output in map(legible, unrepeated(outputs)):
        content = output.get("data", output)
        printed = "text" if "text" in content else "text/plain" if list(content) == ["text/plain"] else ""
        if printed:
            text = cut(content[printed], room)
            left_out += len(content[printed]) - len(text)
            room = room - len(text) if text == content[printed] else 0
            content[printed] = text
        for mime in [mime for mime in MARKUP if len(content.get(mime, "")) > LARGEST]:
            left_out += len(content.pop(mime))
            content.pop("text/plain", None)
        if content.get(printed, content):
            kept.append(output)
    if left_out:
        number = f"{left_out:,}"
        sentence = say("… {number} more characters are left out here: the notebook shows them.", number=number)
        kept.append({"output_type": "stream", "name": "stdout", "text": f"{sentence}\n"})
    return kept


def legible(output: dict[str, Any]) -> dict[str, Any]:
    """Return an output with the types that pages show, its text as a terminal shows it, without control characters.

    What our packages print and what a drawing says is in the language of the pages.
    """
    if output["output_type"] == "stream":
        text = settled(output["text"])
        return output | {"text": say_printed(text) if output["name"] == "stdout" else text}
    if output["output_type"] == "error":
        return output | {"traceback": [uncoloured(line) for line in output["traceback"]]}
    data = {mime: value for mime, value in output["data"].items() if mime in SHOWN}
    for mime, value in data.items():
        if mime == "text/plain":
            data[mime] = say_printed(settled(value)) if list(data) == [mime] else settled(value)
        elif mime == "text/markdown" and (table := specifications_in(value)):
            data[mime] = table.markdown(say, say_record)
        elif isinstance(value, str):
            data[mime] = CONTROL.sub("", legal(RETURN.sub("\n", value)))
            if mime == SVG:
                data[mime] = in_words(data[mime], say_record, current().lang)
    about = output["metadata"].get(SVG, {})
    if about.get("alt"):
        about = {SVG: about | {"alt": phrase(about["alt"], say_record)}}
    return output | {"data": data, "metadata": output["metadata"] | about}


def cut(text: str, room: int) -> str:
    """Return the lines that `text` begins with, in at most `room` characters; one that is longer is cut itself."""
    if len(text) <= room:
        return text
    kept = text[:room]
    return kept[: kept.rfind("\n") + 1] or kept.rpartition("\x1b[")[0] or kept


def unrepeated(outputs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a cell's outputs without the lines of predictions that its comparisons have taken away."""
    return [output for output in outputs if output.get("data") != {"text/plain": ""}]


def records(cell: dict[str, Any], mime: str) -> list[dict[str, Any]]:
    """Return the records of a MIME type that a cell showed, such as its claims."""
    return [output["data"][mime] for output in cell["outputs"] if mime in output.get("data", {})]
