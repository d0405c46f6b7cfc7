"""What of a run is kept in a notebook, and what it claims. Touches no file."""

import re

from d2l_utils.claims import MIME as CLAIM

MACHINE_PATH = re.compile(r'(?:/[^\s/:"\']+)*/ipykernel_\d+/\d+\.py')
WIDGET = "application/vnd.jupyter.widget-view+json"


def code_cells(notebook):
    """Return the notebook's code cells."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


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
    """Return the claims that a cell showed: dicts of sentence, held (None if it was not checked), evidence and note."""
    return [output["data"][CLAIM] for output in cell["outputs"] if CLAIM in output.get("data", {})]
