"""Show a result where it is computed: as data in a notebook, as text elsewhere. Standard library only."""

import sys
import textwrap
from collections.abc import Callable
from typing import Any

RUNNING_TOTAL = "application/vnd.d2l.running-total+json"  # what levers write and pages read
WIDTH = 70  # characters: JupyterLab, which breaks lines within words, has room for them in a window of 1000 pixels


def ipython_shell() -> Any:
    """Return IPython's shell, or None outside IPython, which is not imported for that."""
    return sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None


def in_english(text: str, /, **fields: Any) -> str:
    """Return a fixed text with its fields filled in; `book.words.say` does so in the language of a page."""
    return text.format(**fields)


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


def wrapped(text: str, mark: str = " ") -> str:
    """Return a sentence in lines that break between words, the first after a mark, the others as far in."""
    return textwrap.fill(text, WIDTH, initial_indent=f"{mark} ", subsequent_indent="  ", break_long_words=False)
