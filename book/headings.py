"""The headings of a reader's notebook with the numbers that they have on the page: its text refers to "(4.2)"."""

from typing import Any


def numbered(notebook: dict[str, Any], number: str) -> dict[str, Any]:
    """Return the notebook of the section `number` with "4. ", "4.1. ", "4.1.1. " and so on before its headings."""
    from book.plain_markdown import PARSER

    counts: list[int] = []
    cells = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
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
