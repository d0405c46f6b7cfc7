"""The paths through the book, for readers with little time: which parts they read, and in how many minutes.

A path is a table below its heading in index.md: a link to a section, in italics the headings of its parts, minutes.
A part includes its subsections. On the path are the openings too: of the section, and of what a part stands in.
"""

import re
import symtable
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from book.cells import Entry, only_claims
from book.words import say

ROW = re.compile(r"^\| \{doc\}`([\w-]+)` \| (.*?) ?\| (\d+) \|$", re.MULTILINE)
LANDING_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
FENCE = re.compile(r"^ *(`{3,}|:{3,}).*?^ *\1 *$", re.MULTILINE | re.DOTALL)
WORDS_PER_MINUTE = 150  # of dense text
LINES_PER_MINUTE = 20  # of code
OUTPUTS_PER_MINUTE = 15  # lines
PICTURE = 10  # lines of output that take as long to look at
PATHS, OPENINGS = "paths", "openings"  # of a section's node: the paths that read all of it, or what it opens with
UNREAD = ("exercise", "solution", "drawing")  # tags of cells whose code is folded


class Row(NamedTuple):
    """What a path reads of a section."""

    section: str
    parts: list[str]
    minutes: int


def headings() -> dict[str, str]:
    """Return the heading of each path's table, in the current language."""
    return {"laptop": say("Two Hours on a Laptop"), "gpu": say("A Path with GPUs")}


def marks() -> dict[str, str]:
    """Return what is said of a part of each path."""
    return {"laptop": say("on the laptop path"), "gpu": say("on the GPU path")}


def onward() -> dict[str, str]:
    """Return what stands before the link to the next part of each path."""
    return {"laptop": say("Next on the laptop path"), "gpu": say("Next on the GPU path")}


def ends() -> dict[str, str]:
    """Return what is said after the last part of each path."""
    return {"laptop": say("Here the laptop path ends."), "gpu": say("Here the GPU path ends.")}


def paths_in(landing: str) -> dict[str, list[Row]]:
    """Return the rows of each path that the landing page has."""
    _, *titled = LANDING_HEADING.split(landing)
    texts = dict(zip(titled[::2], titled[1::2], strict=True))
    rows = {name: ROW.findall(texts.get(title, "")) for name, title in headings().items()}
    return {
        name: [Row(section, re.findall(r"\*([^*]+)\*", parts), int(minutes)) for section, parts, minutes in found]
        for name, found in rows.items()
        if found
    }


def stops(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Return the parts of a path in their order, each with its section."""
    return [(row.section, part) for row in rows for part in row.parts]


def after(rows: Sequence[Row], section: str, part: str) -> tuple[str, str] | None:
    """Return the section and the title of the part that follows on a path; None after the last."""
    order = stops(rows)
    place = order.index((section, part)) + 1
    return order[place] if place < len(order) else None


def on(rows: Sequence[Row], section: str) -> list[str]:
    """Return the parts of a section that are on a path."""
    return [part for name, part in stops(rows) if name == section]


def marked(paths: dict[str, list[Row]], section: str) -> dict[str, str]:
    """Return what is said of each part of a section that is on a path."""
    found: dict[str, list[str]] = {}
    for path, rows in paths.items():
        for part in on(rows, section):
            found.setdefault(part, []).append(marks()[path])
    return {part: say(" · ").join(said) for part, said in found.items()}


def titled(entries: Sequence[Entry]) -> Iterator[tuple[Entry, list[str], str]]:
    """Yield the pieces of a section's cells between headings: the cell, the titles above the piece, and its text."""
    above: list[tuple[int, str]] = []
    for entry in entries:
        if entry.kind == "code":
            yield entry, [title for _, title in above], entry.source
            continue
        for depth, title, text in cut(entry.source):
            if depth:
                above = [each for each in above if each[0] < depth] + [(depth, title)]
            yield entry, [title for _, title in above], text


def cut(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the depth of each heading (0 for what stands before the first), its title and the text below it."""
    depth, title, lines = 0, "", list[str]()
    fence = ""
    for line in text.split("\n"):
        mark = re.match(r" *(`{3,}|:{3,})", line)
        if mark and not fence:
            fence = mark[1]
        elif fence and line.strip() == fence:
            fence = ""
        heading = None if fence else re.match(r"(#{1,6}) (.+)", line)
        if heading:
            yield depth, title, "\n".join(lines)
            depth, title, lines = len(heading[1]), heading[2], []
        else:
            lines.append(line)
    yield depth, title, "\n".join(lines)


def is_read(titles: Sequence[str], parts: Collection[str], parents: Collection[str]) -> bool:
    """Tell whether a path with these parts of a section reads what stands below these titles, the section's first."""
    return len(titles) <= 1 or titles[-1] in parents or any(title in parts for title in titles)


def parents_of(entries: Sequence[Entry], parts: Collection[str]) -> set[str]:
    """Return the titles of what the parts stand in."""
    return {title for _, titles, _ in titled(entries) if titles and titles[-1] in parts for title in titles[1:-1]}


def borrowed(entries: Sequence[Entry], parts: Collection[str]) -> dict[str, dict[str, set[str]]]:
    """Return for each title whose cells a path reads the names that its cells use from others that the path skips.

    The names come by the titles of the parts that define them. `entries` are those of one framework.
    """
    parents = parents_of(entries, parts)
    skipped: dict[str, str] = {}  # a name, and the title above the cell that defines it
    found: dict[str, dict[str, set[str]]] = {}
    for entry, titles, text in titled(entries):
        if entry.kind != "code" or {"solution", "exercise"} & set(entry.tags):
            continue
        defined, used = names(text)
        if is_read(titles, parts, parents):
            here = next((title for title in titles if title in parts), titles[-1])
            for name in sorted(used & skipped.keys()):
                found.setdefault(here, {}).setdefault(skipped[name], set()).add(name)
            for name in defined:
                skipped.pop(name, None)
        else:
            skipped |= dict.fromkeys(defined, titles[-1])
    return found


def names(source: str) -> tuple[set[str], set[str]]:
    """Return the names that code defines for the cells after it, and those that it takes from the cells before it."""
    try:
        table = symtable.symtable(source, "cell", "exec")
    except SyntaxError:  # a cell with magics
        return set(), set()
    symbols = table.get_symbols()
    defined = {each.get_name() for each in symbols if each.is_assigned() or each.is_imported()}
    used = {each.get_name() for each in symbols if each.is_referenced()}
    within = list(table.get_children())
    while within:
        inner = within.pop()
        used |= {each.get_name() for each in inner.get_symbols() if each.is_global() and each.is_referenced()}
        within += inner.get_children()
    return defined, used - defined


def minutes(entries: Sequence[Entry], parts: Collection[str], outputs: dict[str, Any]) -> float:
    """Return the minutes that one framework's cells in these parts of a section take, with their outputs by cell."""
    parents = parents_of(entries, parts)
    found = 0.0
    for entry, titles, text in titled(entries):
        if not is_read(titles, parts, parents):
            continue
        if entry.kind == "markdown":
            found += "solution" not in entry.tags and words(text) / WORDS_PER_MINUTE
            continue
        if not set(UNREAD) & set(entry.tags) and not only_claims(entry.source):
            found += sum(bool(line.strip()) for line in text.split("\n")) / LINES_PER_MINUTE
        if not {"solution", "exercise"} & set(entry.tags):
            found += sum(map(lines_of, outputs.get(entry.id, ()))) / OUTPUTS_PER_MINUTE
    return found


def words(text: str) -> int:
    """Return how many words of Markdown are read; what is folded, formulas and options of figures are not."""
    text = re.sub(r"\$\$.*?\$\$|^:\w+: .*$|^%.*$|^\([\w-]+\)=$", "", FENCE.sub(unfolded, text), flags=re.S | re.M)
    return len(re.findall(r"[^\W_][\w'’.-]*", text))


def unfolded(block: re.Match[str]) -> str:
    """Return of a directive what is read: the caption of a figure, all of an admonition, nothing of a fold."""
    inside = block[0].split("\n")[1:-1]
    return "" if "{dropdown}" in block[0].split("\n")[0] else "\n".join(inside)


def lines_of(output: dict[str, Any]) -> int:
    """Return how many lines an output of a cell counts as."""
    data = output.get("data", {})
    if any(kind.startswith("image/") for kind in data):
        return PICTURE
    text = output.get("text", data.get("text/plain", ""))
    return sum(bool(line.strip()) for line in "".join(text).split("\n"))
