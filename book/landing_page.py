"""The landing page as a notebook: the first thing that a reader in Jupyter opens.

Its cells are those of notebooks/index.md, cut at the lines +++. A cell tagged `html` is left out: what it says or shows
is on the page alone.
"""

from collections.abc import Sequence
from typing import Any

from book import BookError
from book.cells import Cell, Notebook, notebook_of
from book.hosted import linked, repository
from book.layout import Edition
from book.run_keys import hashed
from book.sources import notebook_in, our_code, write_stale
from book.words import fixed_words, say


def write_landing_page(
    frameworks: Sequence[str], numbers: dict[str, Any], edition: Edition, answers: bool = True
) -> None:
    """Write the landing page as a notebook of each framework, beside the readers' or without `answers` the handouts."""
    text, home = (edition.sources / "index.md").read_text(encoding="utf-8"), repository() if answers else ""
    ours = our_code("landing_page.py", "cells.py", "myst.py", "plain_markdown.py", "hosted.py")
    key = hashed(text, numbers["refs"], numbers["sections"], home, ours, fixed_words(edition))

    def make(frameworks: Sequence[str]) -> dict[str, Notebook]:
        cells = landing_cells(text, numbers)
        return {word: linked(notebook_of(word, cells), home, word, "index") for word in frameworks}

    stage = "notebooks" if answers else "handouts"
    write_stale({word: edition.notebook(stage, word, "index") for word in frameworks}, key, make)


def landing_cells(text: str, numbers: dict[str, Any]) -> list[Cell]:
    """Return the cells of the landing page that a notebook can show, as plain Markdown; BookError if that fails."""
    from book.myst import PlainError
    from book.plain_markdown import convert

    cells = notebook_in(text, "index.md")["cells"]
    shown = [cell["source"] for cell in cells if "html" not in cell["metadata"].get("tags", [])]
    try:
        sources = [convert(source, numbers).text for source in shown]
    except PlainError as error:
        raise BookError(f"index.md: {error}") from None
    on_the_pages = say(
        "The pages of the book (`_build/html/index.html`, after `make book`) also show what the sections measured on "
        "this machine: the running total of the training loop, and how good the chapter's predictions are."
    )
    return [
        {"cell_type": "markdown", "id": f"front{place}", "metadata": {}, "source": source}
        for place, source in enumerate([*sources, on_the_pages])
    ]
