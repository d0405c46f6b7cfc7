"""The headings of a reader's notebook: their numbers, and those under which JupyterLab folds the code of solutions."""

import re
from typing import Any

from book.cells import SOLUTION, short_hash
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
