"""Show a result where it is computed: as data in a notebook, as text elsewhere. Standard library only."""

import re
import sys
import textwrap
from collections.abc import Callable, Sequence
from typing import Any
from unicodedata import east_asian_width

RUNNING_TOTAL = "application/vnd.d2l.running-total+json"  # what levers write and pages read
WIDE = re.compile(r"[\u2e80-\u9fff\uff00-\uff60]")
WIDTH = 70  # characters: JupyterLab, which breaks lines within words, has room for them in a window of 1000 pixels


def ipython_shell() -> Any:
    """Return IPython's shell, or None outside IPython, which is not imported for that."""
    return sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None


def show(result: Any) -> None:
    """Display a result in a notebook; print it elsewhere."""
    if ipython_shell():
        sys.modules["IPython"].display.display(result)
    else:
        print(result)


def show_line(text: str) -> Callable[[], None]:
    """Print a line; return a function that takes it away from a notebook as long as the cell that printed it runs."""
    shell = ipython_shell()
    if not getattr(shell, "kernel", None):
        print(text)
        return lambda: None
    line = sys.modules["IPython"].display.display({"text/plain": text}, raw=True, display_id=True)
    cell = shell.execution_count

    def take_away() -> None:
        if shell.execution_count == cell:
            line.update({"text/plain": ""}, raw=True)

    return take_away


def columns(text: str) -> int:
    """Return how wide a line is: a Chinese character takes two columns."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def aligned(rows: Sequence[Sequence[str]], left: Sequence[int] = (0, -1)) -> str:
    """Return rows as lines of aligned columns, those in `left` to the left and the others to the right."""
    widths = [max(map(columns, column)) for column in zip(*rows, strict=True)]
    to_the_left = {place % len(widths) for place in left}
    lines = []
    for row in rows:
        gaps = [" " * (width - columns(cell)) for cell, width in zip(row, widths, strict=True)]
        cells = zip(row, gaps, range(len(row)), strict=True)
        lines.append(
            "  ".join(cell + gap if place in to_the_left else gap + cell for cell, gap, place in cells).rstrip()
        )
    return "\n".join(lines)


def row_in_place(line: str, translate: Callable[[str], str | None]) -> str:
    """Return a line of a table with its words translated, its columns where they were.

    Numbers and their heads keep their ends; what begins the line or has a space keeps its beginning.
    """
    result = ""
    for found in re.finditer(r"\S+(?: \S+)*", line):
        words = translate(found[0]) or found[0]
        start = found.start() if " " in found[0] else found.end() * bool(found.start()) - columns(words)
        result += " " * max(start - columns(result), bool(result)) + words
    return result


def wrapped(text: str, mark: str = " ") -> str:
    """Return a sentence in lines that break between words, the first after a mark, the others as far in."""
    wide = bool(WIDE.search(text))  # where there are no spaces to break at, and a letter is as wide as two
    settings = {"initial_indent": f"{mark} ", "subsequent_indent": "  ", "break_long_words": wide}
    return textwrap.fill(text, WIDTH // 2 if wide else WIDTH, **settings)  # type: ignore[arg-type]
