"""What cells found on a machine with a GPU, beside what they find here: notebooks/data/gpu.json.

`make gpu` writes it on such a machine, from what `make book` ran there. A cell is known by its id, which comes
from its code: once the code has changed, nothing is shown of what it found. What a cell found before on a GPU of the
same name stays, with its own date and versions, until the cell runs there again.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from book import FRAMEWORKS
from book.layout import Edition, dump, read_json, read_notebook
from book.outputs import ELSEWHERE, PREDICTION, RUNNING_TOTAL, code_cells, records
from d2l_lab.files import write_atomically

ON_ONE_GPU = (  # the sections whose experiments run on a single GPU
    "performance-model",
    "async-computation",
    "hybridize",
    "memory-precision",
    "auto-parallelism",
    "fast-transformer",
    "serving",
    "your-own-step",
)
NAME = "gpu.json"
Record = dict[str, Any]


def record_path(root: Path) -> Path:
    """Return the path of the record of a project."""
    return root / "notebooks" / "data" / NAME


def read(root: Path) -> Record:
    """Return the record {machine, date, versions, found, remarks} of a project, {} where there is none."""
    path = record_path(root)
    return read_json(path) if path.exists() else {}


def outputs(record: Record, framework: str, cell: str) -> list[dict[str, Any]]:
    """Return what a cell of a framework displays of the record: nothing, or one output."""
    found = record.get("found", {}).get(framework, {}).get(cell)
    if not found:
        return []
    about = {"gpu": record["machine"]["gpus"][0], "date": record["date"], "versions": record["versions"][framework]}
    content = about | found | {"remark": record["remarks"].get(cell, "")}
    return [{"output_type": "display_data", "metadata": {}, "data": {ELSEWHERE: content}}]


def predictions(found: Record) -> Iterator[Record]:
    """Yield the predictions of a record that `all_records` has found, each with its section, framework and cell."""
    for each in found["predictions"]:
        yield {name: found[name] for name in ("section", "title", "framework", "cell")} | each


def of_cells(notebook: dict[str, Any]) -> dict[str, Record]:
    """Return what the cells of an executed notebook predicted and measured, and their tables of levers."""
    found = {}
    for cell in code_cells(notebook):
        compared, totals = records(cell, PREDICTION), records(cell, RUNNING_TOTAL)
        if compared or totals:
            found[cell["id"]] = {"predictions": compared, "totals": totals}
    return found


def joined(old: Record, new: Record, known: dict[str, set[str]]) -> Record:
    """Return a new record with what an old one has of other cells, if it is of the same GPU.

    Of the old one, only cells are kept whose id is still `known` in their framework.
    """
    found, versions = {name: dict(cells) for name, cells in new["found"].items()}, dict(new["versions"])
    if old.get("machine", {}).get("gpus") == new["machine"]["gpus"]:
        for framework, cells in old["found"].items():
            versions.setdefault(framework, old["versions"][framework])
            own = {"date": old["date"], "versions": old["versions"][framework]}
            kept = {id: own | cell for id, cell in cells.items() if id in known.get(framework, ())}
            found[framework] = kept | found.get(framework, {})
    ids = {id for cells in found.values() for id in cells}
    remarks = {id: text for id, text in old.get("remarks", {}).items() if id in ids}
    return new | {"versions": versions, "found": found, "remarks": remarks}


def write(edition: Edition) -> int:
    """Write the record anew from the executed notebooks that saw a GPU; return the status to exit with."""
    versions, facts = {}, {}
    cells: dict[str, dict[str, Record]] = {}
    known: dict[str, set[str]] = {framework: set() for framework in FRAMEWORKS}
    for framework in FRAMEWORKS:
        for slug in ON_ONE_GPU:
            path = edition.notebook("executed", framework, slug)
            notebook = read_notebook(path) if path.exists() else {"metadata": {}, "cells": []}
            known[framework] |= {cell["id"] for cell in code_cells(notebook)}
            run = notebook["metadata"].get("d2l", {})
            if run.get("machine", {}).get("gpus"):
                cells.setdefault(framework, {}).update(of_cells(notebook))
                versions[framework], facts = run["versions"], {"machine": run["machine"], "date": run["date"]}
    if not facts:
        print("error: no notebook has run with a GPU: `make book` runs them", file=sys.stderr)
        return 1
    path = record_path(edition.root)
    record = joined(read(edition.root), facts | {"versions": versions, "found": cells}, known)
    write_atomically(path, dump(record))
    print(f"{sum(map(len, record['found'].values()))} cells: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(write(Edition(Path())))
