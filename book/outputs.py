"""What a run leaves in a notebook: when it is out of date, what of it is kept, and what it claims.

Touches no file and imports nothing slow: a notebook that is up to date is found out in a moment.
"""

import hashlib
import json
import re

MACHINE_PATH = re.compile(r'(?:/[^\s/:"\']+)*/ipykernel_\d+/\d+\.py')
MARKS = {"✓": True, "✗": False, "–": None}  # in front of a claim that held, missed, or was not checked
WIDGET = "application/vnd.jupyter.widget-view+json"


def code_cells(notebook):
    """Return the notebook's code cells."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def key(notebook, environment):
    """Return a hash of all that a run depends on: kernel, code, tags and the hash `environment`."""
    cells = [[cell["source"], sorted(cell["metadata"].get("tags", []))] for cell in code_cells(notebook)]
    parts = [notebook["metadata"]["kernelspec"]["name"], cells, environment]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def transplant(notebook, executed):
    """Return `notebook` with the outputs of `executed`, a notebook of the same key."""
    outputs = iter(code_cells(executed))
    cells = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            ran = next(outputs)
            cell = cell | {"outputs": ran["outputs"], "execution_count": ran["execution_count"]}
        cells.append(cell)
    metadata = notebook["metadata"] | {"d2l": executed["metadata"]["d2l"]}
    return notebook | {"cells": cells, "metadata": metadata}


def clean(outputs, paths):
    """Return `outputs` without what belongs to one run only.

    Neighbouring streams of one name are joined, widget views are dropped, each path of the machine
    in `paths` (a dict) is replaced by its name there.
    """
    kept = []
    for output in outputs:
        output = {name: value for name, value in output.items() if name != "transient"}
        if output["output_type"] == "stream":
            output["text"] = scrub(output["text"], paths)
            if kept and kept[-1].get("name") == output["name"]:
                kept[-1]["text"] += output["text"]
                continue
        elif output["output_type"] == "error":
            output["traceback"] = [scrub(line, paths) for line in output["traceback"]]
            output["evalue"] = scrub(output["evalue"], paths)
        else:
            output["data"] = {mime: scrub(value, paths) for mime, value in output["data"].items() if mime != WIDGET}
        kept.append(output)
    return kept


def scrub(text, paths):
    """Return `text` with the machine's paths replaced, the longest first; what is no text stays."""
    if not isinstance(text, str):
        return text
    text = MACHINE_PATH.sub("cell.py", text)
    for path in sorted(paths, key=len, reverse=True):
        if path != "/":
            text = re.sub(re.escape(path) + r"(?![\w.-])", paths[path], text)
    return text


def claims(cell):
    """Yield (held, sentence) for each line of the cell's output that is a claim; held is None if it was not checked."""
    for output in cell["outputs"]:
        if output["output_type"] == "stream":
            for line in output["text"].splitlines():
                if line.startswith(tuple(f"{mark} " for mark in MARKS)):
                    yield MARKS[line[0]], line[2:]
