"""The cells of a section's source: what is allowed in them, their ids, and the readers' notebooks out of them.

Touches no file. A notebook is a dict as nbformat has it.
"""

import ast
import base64
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from book import FRAMEWORKS, BookError
from book.words import say

if TYPE_CHECKING:  # it is slow to import
    from book.plain_markdown import Plain

SOLUTION = "solution"  # of prose and of code
TAGS = ("nbval-check-output", "remove-stderr", "exercise", "solution", "drawing", "raises-exception")
ALL = "all"  # prose that is meant for all frameworks, although the code around it is for one
KEYS = ("tags", "alt", "slideshow", "guess")
SLIDES = ("slide", "subslide", "fragment")  # how a marked cell appears in a deck, in Jupyter's own words
MIME = {"svg": "image/svg+xml", "png": "image/png", "jpg": "image/jpeg"}

Cell = dict[str, Any]
Notebook = dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """A cell as one framework has it, or all of them alike (`framework` is None)."""

    id: str
    place: str  # words by which an author finds the cell
    kind: str  # "code" or "markdown"
    source: str
    framework: str | None
    tags: tuple[str, ...]
    alt: str | None
    slide: str | None = None  # one of SLIDES, None for a cell that no slide shows
    stops: tuple[str, ...] = ()  # the names of predictions that may be guessed first


def only_claims(source: str) -> bool:
    """Tell whether a cell's code consists of calls of d2l.claim, which a reader need not see it do.

    Which of them are made may depend on a condition, such as the device.
    """
    try:
        statements = list(unconditional(ast.parse(source).body))
    except SyntaxError:  # a cell with magics
        return False
    calls = [statement.value for statement in statements if isinstance(statement, ast.Expr)]
    claims = [call for call in calls if isinstance(call, ast.Call) and ast.unparse(call.func) == "d2l.claim"]
    return bool(claims) and len(claims) == len(statements)


def unconditional(statements: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements with those of both branches in place of each `if`."""
    for statement in statements:
        if isinstance(statement, ast.If):
            yield from unconditional([*statement.body, *statement.orelse])
        else:
            yield statement


def cell_label(number: int, cell: Cell) -> str:
    """Return words by which an author finds the cell."""
    first = cell["source"].strip().split("\n")[0]
    return f"cell {number} ({first[:40]}{'…' if len(first) > 40 else ''})"


def short_hash(letter: str, *parts: str) -> str:
    """Return a cell id: the letter and eight hexadecimal digits."""
    return letter + hashlib.sha256("\0".join(parts).encode()).hexdigest()[:8]


def cell_problems(cell: Cell) -> Iterator[str]:
    """Yield a sentence for each thing in `cell` that the pipeline does not accept."""
    tags = cell["metadata"].get("tags", [])
    for tag in tags:
        if tag not in (*FRAMEWORKS, *TAGS, ALL):
            yield f"unknown tag {tag!r}; known: {' '.join([*FRAMEWORKS, *TAGS, ALL])}"
        elif cell["cell_type"] == "markdown" and tag in TAGS and tag != SOLUTION:
            yield f"tag {tag!r} is for code cells"
        elif tag == ALL and (cell["cell_type"] == "code" or len(tags) > 1):
            yield f"tag {tag!r} is for prose, and stands alone"
    for name in cell["metadata"]:
        if name not in KEYS:
            yield f"unknown metadata {name!r}; known: {' '.join(KEYS)}"
    if "slideshow" in cell["metadata"]:
        yield from slide_problems(cell)
    yield from stop_problems(cell)
    if cell["cell_type"] == "markdown" and used_by(cell):
        from book.myst import PARSER

        if any(token.type == "heading_open" for token in PARSER.parse(cell["source"])):
            yield f"a heading stands in a cell tagged {' '.join(tags)}: close the cell before it with a line +++"


def slide_problems(cell: Cell) -> Iterator[str]:
    mark = cell["metadata"]["slideshow"]
    if not isinstance(mark, dict) or list(mark) != ["slide_type"]:
        yield f"slideshow is {mark!r}: write {{slide_type: …}} with one of {' '.join(SLIDES)}"
    elif mark["slide_type"] not in SLIDES:
        yield f"unknown slide_type {mark['slide_type']!r}; known: {' '.join(SLIDES)}"
    if "solution" in cell["metadata"].get("tags", []):
        yield "a slide shows no solution: take the mark away"
    elif cell["cell_type"] == "code" and only_claims(cell["source"]):
        yield "a slide shows no cell of claims alone: take the mark away"


def stop_names(cell: Cell) -> tuple[str, ...]:
    """Return the names that a cell gives those of its predictions that may be guessed first."""
    guess = cell["metadata"].get("guess", ())
    return (guess,) if isinstance(guess, str) else tuple(guess)


def stop_problems(cell: Cell) -> Iterator[str]:
    predicted = list(predicted_names(cell["source"])) if cell["cell_type"] == "code" else []
    for name in stop_names(cell):
        if not any(re.fullmatch(pattern, name) for pattern in predicted):
            yield f"guess names {name!r}, which this cell does not predict, or as a saving"


def predicted_names(source: str) -> Iterator[str]:
    """Yield a pattern of the name of each prediction that a cell's code states itself, but for savings."""
    try:
        calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    except SyntaxError:  # a cell with magics
        return
    for call in calls:
        if ast.unparse(call.func) == "d2l.predict" and "'saving'" not in ast.unparse(call):
            name = call.args[0]
            parts = name.values if isinstance(name, ast.JoinedStr) else [name]
            yield "".join(re.escape(str(each.value)) if isinstance(each, ast.Constant) else ".+" for each in parts)


def lint(notebook: Notebook, name: str) -> None:
    """Raise BookError, one line per problem, unless the source `name` keeps the rules."""
    found = [
        f"{name}, {cell_label(number, cell)}: {problem}"
        for number, cell in enumerate(notebook["cells"], 1)
        for problem in cell_problems(cell)
    ]
    found += [f"{name}, {problem}" for problem in stray_prose(notebook["cells"])]
    used = {tag for cell in notebook["cells"] for tag in cell["metadata"].get("tags", [])}
    found += [f"{name}: no cell of {framework}" for framework in FRAMEWORKS if framework not in used]
    if found:
        raise BookError("\n".join(found))


def stray_prose(cells: Sequence[Cell]) -> Iterator[str]:
    """Yield a sentence for each untagged prose cell between two cells of one framework: all tabs would show it."""
    numbered = list(enumerate(cells, 1))
    codes = [(number, used_by(cell)) for number, cell in numbered if cell["cell_type"] == "code"]
    for number, cell in numbered:
        before = next((users for place, users in reversed(codes) if place < number), ())
        after = next((users for place, users in codes if place > number), ())
        text = cell["source"].lstrip()
        prose = cell["cell_type"] == "markdown" and text and not cell["metadata"].get("tags")
        # No framework's own prose may hold a heading, before which its label may stand.
        if prose and len(before) == 1 and before == after and not text.startswith(("#", "(")):
            yield (
                f"{cell_label(number, cell)}: untagged prose between two cells of {before[0]}: "
                f'tag it, or mark it with +++ {{"tags": ["{ALL}"]}} as meant for all'
            )


def used_by(cell: Cell) -> Sequence[str]:
    """Return the frameworks that `cell` is tagged with, in the book's order."""
    return [word for word in FRAMEWORKS if word in cell["metadata"].get("tags", [])]


def expand(notebook: Notebook) -> list[Entry]:
    """Return the notebook's entries: a cell of several frameworks once for each of them."""
    entries, seen = [], Counter[tuple[str, ...]]()
    for number, cell in enumerate(notebook["cells"], 1):
        kind, source, alt = cell["cell_type"], cell["source"], cell["metadata"].get("alt")
        slide, stops = cell["metadata"].get("slideshow", {}).get("slide_type"), stop_names(cell)
        tags = tuple(tag for tag in cell["metadata"].get("tags", []) if tag not in (*FRAMEWORKS, ALL))
        users: Sequence[str | None] = used_by(cell) or [None]
        for framework in users:
            identity = (kind, " ".join([framework or "", *tags]), source)
            seen[identity] += 1
            id = short_hash(kind[0], *identity, str(seen[identity]))
            entries.append(Entry(id, cell_label(number, cell), kind, source, framework, tags, alt, slide, stops))
    return entries


def of(entries: Sequence[Entry], framework: str) -> list[Entry]:
    """Return the entries that the notebook of `framework` holds."""
    return [entry for entry in entries if entry.framework in (None, framework)]


def split(
    entries: Sequence[Entry],
    frameworks: Sequence[str],
    numbers: dict[str, Any],
    images: dict[str, bytes],
    name: str,
    answers: bool = True,
) -> dict[str, Notebook]:
    """Return each framework's notebook for readers: plain Markdown with its pictures in it, code without outputs.

    `numbers` is what the first pass of Sphinx found, `images` has the content of each picture by its path as the source
    has it ("img/x.svg"), `name` is the source's, for errors, and `answers` tells whether solutions and answers are in.
    """
    from book.plain_markdown import references

    wanted = [entry for entry in entries if entry.framework in (None, *frameworks)]
    wanted = [entry for entry in wanted if answers or "solution" not in entry.tags]
    plains = {entry.id: plain(entry, numbers, images, name, answers) for entry in wanted if entry.kind == "markdown"}
    wanted = [entry for entry in wanted if answers or entry.id not in plains or plains[entry.id].text]
    notebooks = {}
    for framework in frameworks:
        ours = of(wanted, framework)
        cited = {key for entry in ours if entry.id in plains for key in plains[entry.id].cites}
        listed = references(cited, numbers)
        cells = [prose(entry, plains[entry.id], listed) if entry.id in plains else code(entry) for entry in ours]
        notebooks[framework] = notebook_of(framework, cells)
    return notebooks


def notebook_of(framework: str, cells: Sequence[Cell]) -> Notebook:
    kernel = {"name": f"d2l-{framework}", "display_name": FRAMEWORKS[framework], "language": "python"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def plain(entry: Entry, numbers: dict[str, Any], images: dict[str, bytes], name: str, answers: bool) -> "Plain":
    """Return the entry's text as plain Markdown, its pictures in it; BookError names the cell when that fails."""
    from book.myst import PlainError
    from book.plain_markdown import convert, details

    try:
        converted = convert(entry.source, numbers, answers)
        for path in converted.images:
            if path not in images:
                raise PlainError(f"picture {path} is missing; there are: {' '.join(sorted(images)) or 'none'}")
    except PlainError as error:
        raise BookError(f"{name}, {entry.place}: {error}") from None
    if SOLUTION in entry.tags:
        converted.text = details(say("Solution"), converted.text)
    for path in dict.fromkeys(converted.images):  # no attachments, because JupyterLab shows no SVG that is one
        data = base64.b64encode(images[path]).decode()
        converted.text += f"\n\n[{path}]: data:{MIME[path.rpartition('.')[2]]};base64,{data}"
    return converted


def prose(entry: Entry, converted: "Plain", listed: str) -> Cell:
    """Return a Markdown cell; the list of references goes where the text wants it."""
    from book.plain_markdown import BIBLIOGRAPHY

    source = converted.text.replace(BIBLIOGRAPHY, listed)
    return {"cell_type": "markdown", "id": entry.id, "metadata": slideshow(entry), "source": source}


def slideshow(entry: Entry) -> dict[str, Any]:
    """Return the metadata by which Jupyter knows the entry's place in a deck, {} if it has none."""
    return {"slideshow": {"slide_type": entry.slide}} if entry.slide else {}


def code(entry: Entry) -> Cell:
    """Return a code cell without outputs; what a reader need not see at first is folded."""
    metadata: dict[str, Any] = {"tags": list(entry.tags)} if entry.tags else {}
    if {"solution", "drawing"} & set(entry.tags) or only_claims(entry.source):
        metadata["jupyter"] = {"source_hidden": True}
    if entry.alt:
        metadata["alt"] = entry.alt
    if entry.stops:
        metadata["guess"] = list(entry.stops)
    return new_code_cell(entry.id, metadata | slideshow(entry), entry.source)


def new_code_cell(id: str, metadata: dict[str, Any], source: str, outputs: Sequence[Any] = ()) -> Cell:
    """Return a code cell as nbformat has it, without a count of its execution."""
    content = {"source": source, "execution_count": None, "outputs": list(outputs)}
    return {"cell_type": "code", "id": id, "metadata": metadata} | content
