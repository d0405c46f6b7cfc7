"""The numbered sections in their order, and the framework of which a document or a set of slides was written last."""

import os

from book import FRAMEWORKS, ROOT
from book.layout import Edition
from book.sources import toctree

INDEX = (Edition(ROOT).sources / "index.md").read_text(encoding="utf-8")
SECTIONS = toctree(INDEX[: INDEX.index(":caption:")])  # those with a number
OTHERS = [page for page in toctree(INDEX) if page not in SECTIONS and "/" not in page]  # without, such as ten-minutes


def last_written(place):
    """Return the framework whose file below _build is the newest, if there is one; D2L_DOCUMENTS names another."""
    paths = {name: ROOT / "_build" / place.format(name) for name in FRAMEWORKS}
    found = {name: path.stat().st_mtime for name, path in paths.items() if path.exists()}
    return found and (os.environ.get("D2L_DOCUMENTS") or max(found, key=found.get)) or None
