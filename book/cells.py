"""The cells of a section's source: what is allowed in them, their ids, and one framework's notebook out of them.

Touches no file. A notebook is a dict as nbformat has it.
"""

import base64
import hashlib
from collections import Counter
from dataclasses import dataclass

from book import FRAMEWORKS, BookError
from book.plain import BIBLIOGRAPHY, PARSER, PlainError, convert, references

TAGS = ("nbval-check-output", "hide-input", "remove-stderr", "solution", "raises-exception")
KEYS = ("tags", "alt")
MIME = {"svg": "image/svg+xml", "png": "image/png", "jpg": "image/jpeg"}


@dataclass(frozen=True)
class Entry:
    """A cell as one framework, or all of them alike (`framework` is None), has it."""

    id: str
    place: str
    kind: str
    source: str
    framework: str | None
    tags: tuple
    alt: str | None


def place(number, cell):
    """Return words by which an author finds the cell."""
    first = cell["source"].strip().split("\n")[0]
    return f"cell {number} ({first[:40]}{'…' if len(first) > 40 else ''})"


def hashed(letter, *parts):
    """Return a cell id: the letter and eight hexadecimal digits."""
    return letter + hashlib.sha256("\0".join(parts).encode()).hexdigest()[:8]


def cell_problems(cell):
    """Yield a sentence for each thing in `cell` that the pipeline does not accept."""
    tags = cell["metadata"].get("tags", [])
    for tag in tags:
        if tag not in FRAMEWORKS and tag not in TAGS:
            yield f"unknown tag {tag!r}; known: {' '.join([*FRAMEWORKS, *TAGS])}"
        elif cell["cell_type"] == "markdown" and tag not in FRAMEWORKS:
            yield f"tag {tag!r} is for code cells"
    for name in cell["metadata"]:
        if name not in KEYS:
            yield f"unknown metadata {name!r}; known: {' '.join(KEYS)}"
    if cell["cell_type"] == "markdown" and used_by(cell) and has_heading(cell["source"]):
        yield f"a heading stands in a cell tagged {' '.join(tags)}: close the cell before it with a line +++"


def has_heading(text):
    """Tell whether the Markdown `text` holds a heading."""
    return any(token.type == "heading_open" for token in PARSER.parse(text))


def lint(notebook, name):
    """Raise BookError, one line per problem, unless the source `name` keeps the rules."""
    found = [
        f"{name}, {place(number, cell)}: {problem}"
        for number, cell in enumerate(notebook["cells"], 1)
        for problem in cell_problems(cell)
    ]
    used = {tag for cell in notebook["cells"] for tag in cell["metadata"].get("tags", [])}
    found += [f"{name}: no cell of {framework}" for framework in FRAMEWORKS if framework not in used]
    if found:
        raise BookError("\n".join(found))


def used_by(cell):
    """Return the frameworks that `cell` is tagged with, in the book's order."""
    return [word for word in FRAMEWORKS if word in cell["metadata"].get("tags", [])]


def expand(notebook):
    """Return the notebook's Entries: a cell of several frameworks once for each of them."""
    entries, seen = [], Counter()
    for number, cell in enumerate(notebook["cells"], 1):
        kind = cell["cell_type"]
        tags = tuple(tag for tag in cell["metadata"].get("tags", []) if tag not in FRAMEWORKS)
        for framework in used_by(cell) or [None]:
            identity = (kind, " ".join([framework or "", *tags]), cell["source"])
            seen[identity] += 1
            id = hashed(kind[0], *identity, str(seen[identity]))
            entries.append(
                Entry(id, place(number, cell), kind, cell["source"], framework, tags, cell["metadata"].get("alt"))
            )
    return entries


def of(entries, framework):
    """Return the Entries that the notebook of `framework` holds."""
    return [entry for entry in entries if entry.framework in (None, framework)]


def split(notebook, framework, numbers, images, name):
    """Return the reader's notebook of `framework`: plain Markdown with its pictures in it, code without outputs.

    `numbers` is what the first pass of Sphinx found; `images` maps 'img/x.svg' to bytes.
    """
    entries = of(expand(notebook), framework)
    plains = {entry.id: plain(entry, numbers, name) for entry in entries if entry.kind == "markdown"}
    listed = references({key for made in plains.values() for key in made.cites}, numbers)
    cells = []
    for entry in entries:
        if entry.kind == "code":
            cells.append(code_cell(entry))
        else:
            made = plains[entry.id]
            parts = [made.text.replace(BIBLIOGRAPHY, listed), *pictures(made.images, images, f"{name}, {entry.place}")]
            cells.append({"cell_type": "markdown", "id": entry.id, "metadata": {}, "source": "\n\n".join(parts)})
    kernel = {"name": f"d2l-{framework}", "display_name": FRAMEWORKS[framework], "language": "python"}
    return {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def plain(entry, numbers, name):
    """Return the entry's text as plain Markdown; name the cell when that fails."""
    try:
        return convert(entry.source, numbers)
    except PlainError as error:
        raise BookError(f"{name}, {entry.place}: {error}") from None


def code_cell(entry):
    """Return a code cell without outputs."""
    metadata = {"tags": list(entry.tags)} if entry.tags else {}
    if "solution" in entry.tags or "hide-input" in entry.tags:
        metadata["jupyter"] = {"source_hidden": True}
    if entry.alt:
        metadata["alt"] = entry.alt
    return {
        "cell_type": "code",
        "id": entry.id,
        "metadata": metadata,
        "source": entry.source,
        "execution_count": None,
        "outputs": [],
    }


def pictures(paths, images, where):
    """Return the lines that define the pictures at `paths`, at the foot of their cell and in it as a whole.

    They are no attachments, because JupyterLab shows no SVG that is one.
    """
    for path in paths:
        if path not in images:
            raise BookError(f"{where}: picture {path} is missing; there are: {' '.join(sorted(images)) or 'none'}")
    return [
        f"[{path}]: data:{MIME[path.rpartition('.')[2]]};base64,{base64.b64encode(images[path]).decode()}"
        for path in dict.fromkeys(paths)
    ]
