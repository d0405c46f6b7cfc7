"""How large the letters of code may be on a slide, and which code it has no room for. Pure functions.

Heights are estimates, on the high side; the tests measure slides in a browser.
"""

import re
from collections.abc import Sequence

from book.cells import Cell

SIZES = (24, 22, 20, 18, 16, 15, 14)  # pixels of code and outputs, on a slide of 960 × 700
ROOM, WIDTH = 560, 870  # pixels that a slide has below its title
LINE, LETTER, BLOCK = 1.35, 0.61, 26  # of code: height and width of a letter in its size, pixels around a block
PICTURE, FORMULA, ROW = 250, 90, 35  # pixels of height: of a picture at least, a formula, and a table's row
TEXT, LETTERS = 34, 78  # of text: pixels of a line, and its letters


def fitted(cells: Sequence[Cell]) -> int:
    """Return the size of letters, in pixels, in which code and outputs fit a slide.

    Where the smallest is too large, the longest code that has an output is left out, then the next.
    """
    while True:
        for pixels in SIZES:
            if sum(height(cell, pixels) for cell in cells) <= ROOM and all(
                columns(cell) * LETTER * pixels <= WIDTH for cell in cells
            ):
                return pixels
        inputs = [cell for cell in cells if with_code(cell) and cell["outputs"]]
        if not inputs:
            return SIZES[-1]
        max(inputs, key=lambda cell: cell["source"].count("\n"))["metadata"]["d2l_drawn"] = True


def with_code(cell: Cell) -> bool:
    """Tell whether a slide shows the code of a cell."""
    return cell["cell_type"] == "code" and not cell["metadata"]["d2l_drawn"]


def columns(cell: Cell) -> int:
    """Return how many letters the longest line of a cell has, without those of an output that have to be broken."""
    if cell["cell_type"] != "code":
        return 0
    lines = cell["source"].split("\n") if with_code(cell) else []
    printed = [line for output in cell["outputs"] for line in output.get("text", "").split("\n")]
    return max([0, *map(len, lines), *(len(line) for line in printed if len(line) * LETTER * SIZES[-1] <= WIDTH)])


def height(cell: Cell, pixels: int) -> float:
    """Return how high a cell is on a slide, in pixels, or somewhat higher, with code in letters of this size."""
    if cell["cell_type"] != "code":
        return content_height(cell["source"])
    blocks = [output["text"].strip("\n") for output in cell["outputs"] if "text" in output]
    lines = sum(1 + int(len(line) * LETTER * pixels / WIDTH) for block in blocks for line in block.split("\n"))
    if with_code(cell):
        blocks.append(cell["source"])
        lines += cell["source"].count("\n") + 1
    displayed = (output["data"]["text/html"] for output in cell["outputs"] if "data" in output)
    return lines * LINE * pixels + BLOCK * len(blocks) + sum(map(content_height, displayed))


def content_height(content: str) -> float:
    """Return about how high text is in pixels: pictures at their smallest, formulas, rows of tables, lines of text."""
    taken = PICTURE * content.count("<img") + FORMULA * content.count('display="block"') + ROW * content.count("<tr>")
    for block in re.split(r"</(?:p|li)>", re.sub(r"<(table|math).*?</\1>", "…", content, flags=re.DOTALL)):
        words = re.sub(r"<[^>]+>", "", block).strip(" …\n")
        taken += (1 + len(words) // LETTERS) * TEXT + 10 if words else 0
    return taken
