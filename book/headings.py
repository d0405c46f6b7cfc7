"""The headings of a reader's notebook: numbers, marks of paths, and those below which code of solutions is folded."""

import re
from collections.abc import Sequence
from typing import Any

from book.cells import SOLUTION, Entry, short_hash
from book.paths import Row, after, borrowed, ends, on, onward
from book.paths import marked as told
from book.words import say

FOLDED = {"jp-MarkdownHeadingCollapsed": True}  # JupyterLab hides the cells up to the next heading, and runs them


def numbered(notebook: dict[str, Any], number: str) -> dict[str, Any]:
    """Return the notebook of the section `number` with "4. ", "4.1. " and so on before its headings, as on the page.

    Its text refers to "(4.2)".
    """
    from book.myst import PARSER

    counts: list[int] = []
    cells = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown" and "# " in cell["source"]:  # the parser takes long
            lines = cell["source"].split("\n")
            for token in PARSER.parse(cell["source"]):
                if token.type == "heading_open" and token.level == 0 and token.map:
                    depth, place = int(token.tag[1]) - 1, token.map[0]
                    counts = (counts + depth * [0])[:depth]
                    if depth:
                        counts[-1] += 1
                    lines[place] = lines[place].replace("# ", f"# {'.'.join([number, *map(str, counts)])}. ", 1)
            cell = cell | {"source": "\n".join(lines)}
        cells.append(cell)
    return notebook | {"cells": cells}


def marked(
    notebook: dict[str, Any], section: str, paths: dict[str, list[Row]], entries: Sequence[Entry] = ()
) -> dict[str, Any]:
    """Return the notebook of a section with a mark below each heading that is on a path, and links to the next part.

    Its headings have no numbers yet. `entries` are its cells, which tell what a path uses of what it skips.
    """
    own = {path: on(rows, section) for path, rows in paths.items()}
    if not any(own.values()):
        return notebook
    said = told(paths, section)
    needs = {path: borrowed(entries, parts) for path, parts in own.items()}
    cells: list[dict[str, Any]] = []
    open_parts: list[tuple[int, str, str]] = []  # the depth of each part that has begun, its path and its title

    def close(depth: int) -> list[str]:
        """Return the lines at the end of the parts that a heading of this depth closes."""
        closed = [part for part in open_parts if part[0] >= depth]
        open_parts[:] = [part for part in open_parts if part[0] < depth]
        return [line for _, path, title in closed for line in (next_line(paths[path], path, section, title), "")]

    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            lines: list[str] = []
            fenced = False
            for line in cell["source"].split("\n"):
                fenced ^= line.lstrip().startswith("```")
                heading = None if fenced else re.match(r"(#{1,4}) (.+)", line)
                before = close(len(heading[1])) if heading else []
                if before and not any(lines):
                    cells.append(note(section, before))
                elif before:
                    lines += before
                lines.append(line)
                if heading and heading[2] in said:
                    lines += ["", f"*{said[heading[2]]}*"]
                    begun = [path for path, parts in own.items() if heading[2] in parts]
                    lines += need_line([needs[path].get(heading[2], {}) for path in begun])
                    open_parts += [(len(heading[1]), path, heading[2]) for path in begun]
            cell = cell | {"source": "\n".join(lines)}
        cells.append(cell)
    last = close(0)
    return notebook | {"cells": [*cells, *([note(section, last)] if last else [])]}


def need_line(found: Sequence[dict[str, set[str]]]) -> list[str]:
    """Return the lines that name what the cells of a part use from parts that its path skips."""
    named: dict[str, set[str]] = {}
    for parts in found:
        for title, names in parts.items():
            named.setdefault(title, set()).update(names)
    told = [
        say(", ").join(f"`{name}`" for name in sorted(names)) + say(" (") + title + say(")")
        for title, names in named.items()
    ]
    line = say("Its cells use names from parts that the path skips: ") + say(", ").join(told)
    return ["", line] if told else []


def next_line(rows: Sequence[Row], path: str, section: str, title: str) -> str:
    """Return the line at the end of a part of a path, with a link to the notebook of the next."""
    following = after(rows, section, title)
    if not following:
        return f"*{ends()[path]}*"
    name, part = following
    place = part if name == section else f"[{part}]({name}.ipynb)"
    return f"*{onward()[path]}{say(': ')}{place}*"


def note(section: str, lines: Sequence[str]) -> dict[str, Any]:
    source = "\n".join(lines).strip("\n")
    return {"cell_type": "markdown", "id": short_hash("n", section, source), "metadata": {}, "source": source}


def folded(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return the notebook with each solution's code under a folded heading, and the exercise behind it under another.

    A cell can hide its code, but JupyterLab shows what a cell prints whenever it runs.
    """
    cells: list[dict[str, Any]] = []
    within = False
    for cell in notebook["cells"]:
        item = re.match(r"(\d+)\. ", cell["source"])
        if SOLUTION in cell["metadata"].get("tags", []):
            if not within:
                title, identity = say("Code of the solution"), short_hash("f", cell["id"])
                source = f"###### {title}"
                cells.append({"cell_type": "markdown", "id": identity, "metadata": FOLDED, "source": source})
            within = True
        elif within and cell["cell_type"] == "markdown":
            within = False
            if item:
                title = say("Exercise {number}", number=item[1])
                cell = cell | {"source": f"###### {title}\n\n{cell['source']}"}
        cells.append(cell)
    return notebook | {"cells": cells}
