"""The executed notebooks of all frameworks as one notebook that Sphinx reads; touches no file."""

import re

from book import BookError
from book.cells import expand, hashed, of
from book.outputs import claims, code_cells, key

CURE = "run make again"


def merge(notebook, executed, environments, name):
    """Return the merged notebook of the source `notebook`.

    `executed` maps each framework of the book to its executed notebook, `environments` to the hash of
    what it can import now. Raises BookError when an executed notebook does not fit the source.
    """
    entries = expand(notebook)
    for framework, ran in executed.items():
        check(of(entries, framework), ran, environments[framework], f"{name} ({framework})")
    ran = {framework: {cell["id"]: cell for cell in code_cells(ran)} for framework, ran in executed.items()}
    cells = []
    for entry in entries:
        if entry.framework is None or entry.framework in executed:
            cells += merged_code(entry, ran, name) if entry.kind == "code" else [merged_markdown(entry)]
    facts = {
        framework: {name: value for name, value in ran["metadata"]["d2l"].items() if name != "key"}
        for framework, ran in executed.items()
    }
    metadata = {
        "kernelspec": notebook["metadata"]["kernelspec"],
        "language_info": {"name": "python"},
        "d2l": {"frameworks": facts},
    }
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def check(entries, executed, environment, where):
    """Raise BookError, naming the cell, unless `executed` was made from these entries in this environment."""
    cells = executed["cells"]
    for number, entry in enumerate(entries):
        if number >= len(cells) or cells[number]["id"] != entry.id:
            raise BookError(f"{where}: the executed notebook is stale at {entry.place} of the source: {CURE}")
    if len(cells) > len(entries):
        raise BookError(f"{where}: the executed notebook is stale: its cell {len(entries) + 1} is gone: {CURE}")
    if executed["metadata"]["d2l"]["key"] != key(executed, environment):
        raise BookError(f"{where}: the executed notebook is stale: its pins or d2l_utils have changed since: {CURE}")


def merged_markdown(entry):
    """Return a cell of prose: a framework's prose inside the directive {framework}."""
    source = entry.source
    if entry.framework:
        fence = "`" * max(6, 1 + max(map(len, re.findall("`+", source)), default=0))
        source = f"{fence}{{framework}} {entry.framework}\n{source}\n{fence}"
    return {"cell_type": "markdown", "id": entry.id, "metadata": {}, "source": source}


def merged_code(entry, ran, name):
    """Return the cells that show an entry: one, or where the outputs differ one more for each framework."""
    if entry.framework:
        return [shown(entry, entry.id, ran[entry.framework][entry.id]["outputs"], [entry.framework], name)]
    outputs = {framework: uncounted(cells[entry.id]["outputs"]) for framework, cells in ran.items()}
    first, *others = outputs.values()
    if all(other == first for other in others):
        return [shown(entry, entry.id, first, [], name)]
    hidden = ["hide-output"] if "solution" in entry.tags else []
    return [shown(entry, entry.id, [], [], name)] + [
        shown(entry, hashed("o", entry.id, framework), output, [framework, "remove-input", *hidden], name)
        for framework, output in outputs.items()
    ]


def uncounted(outputs):
    """Return `outputs` without execution counts, which differ where nothing else does."""
    return [output | {"execution_count": None} if "execution_count" in output else output for output in outputs]


def shown(entry, id, outputs, tags, name):
    """Return a code cell of the merged notebook."""
    added = [] if "remove-input" in tags else [*entry.tags, *(["hide-cell"] if "solution" in entry.tags else [])]
    metadata = {"tags": [*tags, *added]} if tags or added else {}
    if "hide-output" in tags:
        metadata["mystnb"] = {"code_prompt_show": "Show the result", "code_prompt_hide": "Hide the result"}
    pictures = [output for output in outputs if any(mime.startswith("image/") for mime in output.get("data", {}))]
    if pictures:
        alt = entry.alt or described(pictures[0])
        if not alt:
            raise BookError(f"{name}, {entry.place}: a picture without words; give the cell a line :alt: …")
        metadata.setdefault("mystnb", {})["image"] = {"alt": alt}
    return {
        "cell_type": "code",
        "id": id,
        "metadata": metadata,
        "source": entry.source,
        "execution_count": None,
        "outputs": uncounted(outputs),
    }


def described(output):
    """Return the text alternative that the picture's maker put into the output, or None."""
    return next(
        (about["alt"] for about in output.get("metadata", {}).values() if isinstance(about, dict) and about.get("alt")),
        None,
    )


def all_claims(notebook, section):
    """Return the claims of a merged notebook; one of all frameworks counts for each of them."""
    frameworks = list(notebook["metadata"]["d2l"]["frameworks"])
    found = [
        {"section": section, "framework": framework, "cell": cell["id"], "held": held, "sentence": sentence}
        for cell in code_cells(notebook)
        for held, sentence in claims(cell)
        for framework in [tag for tag in cell["metadata"].get("tags", []) if tag in frameworks] or frameworks
    ]
    return sorted(found, key=lambda claim: frameworks.index(claim["framework"]))
