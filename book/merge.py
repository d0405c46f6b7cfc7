"""The executed notebooks of all frameworks as one notebook that Sphinx reads; touches no file."""

import re
from collections.abc import Sequence
from typing import Any

from book import FRAMEWORKS, BookError, gpu_record
from book.cells import Entry, new_code_cell, notebook_of, only_claims, short_hash
from book.outputs import code_cells, presentable, records
from book.stops import marked
from book.words import say

Cell = dict[str, Any]
Outputs = list[dict[str, Any]]
RUN_FACTS = ("seconds", "busy", "date", "machine", "versions")  # what a page says about a run


def merge(
    entries: Sequence[Entry],
    frameworks: Sequence[str],
    executed: dict[str, Any],
    name: str,
    record: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the merged notebook of a section, whose source is called `name` in errors.

    `executed` has the notebook of each framework whose outputs are up to date; the page names those that lack. `record`
    is what cells found on a machine with a GPU, as `gpu_record.read` has it.
    """
    stops = {entry.id: entry.stops for entry in entries}
    outputs = {
        framework: {
            cell["id"]: presentable(
                marked(cell["outputs"], stops.get(cell["id"], ()), name.removesuffix(".md"), cell["id"], framework)
                + gpu_record.outputs(record or {}, framework, cell["id"])
            )
            for cell in code_cells(notebook)
        }
        for framework, notebook in executed.items()
    }
    cells: list[Cell] = []
    for entry in entries:
        if entry.framework not in (None, *frameworks):
            continue
        if entry.kind == "code":
            cells += merged_code(entry, frameworks, outputs, name)
        else:
            cells.append(merged_markdown(entry))
    lacking = [framework for framework in frameworks if framework not in executed]
    if lacking:
        say_not_run(cells, lacking if executed else [])
    merged = notebook_of(frameworks[0], cells)
    merged["metadata"]["d2l"] = {
        "frameworks": {
            framework: {fact: value for fact, value in notebook["metadata"]["d2l"].items() if fact in RUN_FACTS}
            for framework, notebook in executed.items()
        }
    }
    return merged


def say_not_run(cells: Sequence[Cell], lacking: Sequence[str]) -> None:
    """Say under the title that the section was not run in this build, or not in the frameworks `lacking`."""
    sentence = say("This section was not run in this build: `make book` runs it.")
    if lacking:
        listed = say(", ").join(FRAMEWORKS[framework] for framework in lacking)
        sentence = say(
            "This section was not run in {frameworks} in this build: `make book` runs it.", frameworks=listed
        )
    lines = cells[0]["source"].split("\n")
    title = next((row for row, line in enumerate(lines) if line.startswith("# ")), -1)
    lines[title + 1 : title + 1] = ["", sentence, ""]
    cells[0]["source"] = "\n".join(lines)


def merged_markdown(entry: Entry) -> Cell:
    """Return a cell of prose: that of a framework or of a solution inside the directive {tagged}."""
    source, words = entry.source, [*([entry.framework] if entry.framework else []), *entry.tags]
    if words:
        longest = max((len(ticks) for ticks in re.findall("`+", source)), default=0)
        fence = "`" * max(6, longest + 1)
        source = f"{fence}{{tagged}} {' '.join(words)}\n{source}\n{fence}"
    return {"cell_type": "markdown", "id": entry.id, "metadata": {}, "source": source}


def merged_code(
    entry: Entry, frameworks: Sequence[str], outputs: dict[str, dict[str, Outputs]], name: str
) -> list[Cell]:
    """Return the cells that show an entry: one, or where the outputs (by cells' ids) differ one more for each."""
    tags = list(entry.tags)
    if only_claims(entry.source):
        tags.append("claims")
    if entry.framework:
        own = outputs.get(entry.framework, {}).get(entry.id, [])
        return [shown(entry, entry.id, own, [entry.framework, *tags], name)]
    found = {word: uncounted(outputs[word][entry.id]) for word in frameworks if word in outputs}
    first, *others = found.values() or [[]]
    complete = len(found) in (0, len(frameworks))
    if complete and all(other == first for other in others):
        return [shown(entry, entry.id, first, tags, name)]
    kept = ["remove-input", *(tag for tag in ("remove-stderr", "solution") if tag in tags)]
    cells = [shown(entry, entry.id, [], tags, name)]
    for framework, own in found.items():
        cells.append(shown(entry, short_hash("o", entry.id, framework), own, [framework, *kept], name))
    return cells


def uncounted(outputs: Outputs) -> Outputs:
    """Return `outputs` without execution counts, which differ where nothing else does."""
    return [output | {"execution_count": None} if "execution_count" in output else output for output in outputs]


def shown(entry: Entry, id: str, outputs: Outputs, tags: Sequence[str], name: str) -> Cell:
    metadata: dict[str, Any] = {"tags": list(tags)} if tags else {}
    pictures = [output for output in outputs if any(mime.startswith("image/") for mime in output.get("data", {}))]
    if pictures:
        alt = entry.alt or described(pictures[0])
        if not alt:
            raise BookError(f"{name}, {entry.place}: a picture without words; give the cell a line :alt: …")
        metadata["mystnb"] = {"image": {"alt": alt}}
    return new_code_cell(id, metadata, entry.source, uncounted(outputs))


def described(output: dict[str, Any]) -> str | None:
    """Return the text alternative that the picture's maker put into the output, or None."""
    for about in output.get("metadata", {}).values():
        if isinstance(about, dict) and about.get("alt"):
            return about["alt"]
    return None


def all_records(notebook: dict[str, Any], section: str, mime: str) -> list[dict[str, Any]]:
    """Return the records of a MIME type with section, title, framework and cell; a shared one for each framework."""
    frameworks = list(notebook["metadata"]["d2l"]["frameworks"])
    lines = notebook["cells"][0]["source"].split("\n")
    place = {"section": section, "title": next(line[2:] for line in lines if line.startswith("# "))}
    found = []
    for cell in code_cells(notebook):
        own = [tag for tag in cell["metadata"].get("tags", []) if tag in frameworks]
        for record in records(cell, mime):
            for framework in own or frameworks:
                found.append(place | {"framework": framework, "cell": cell["id"]} | record)
    return sorted(found, key=lambda record: frameworks.index(record["framework"]))
