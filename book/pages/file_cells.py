"""Cells that write a program in another language than Python are coloured as that language."""

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

FIRST_LINE = re.compile(r"%%writefile (?:-a )?\S+\.(\w+)\n")
LANGUAGES = {"c": "c", "h": "c", "cc": "c++"}  # Pygments' names, by the ends of files' names


class FileCells(SphinxTransform):
    """Set the language of cells that write such a file, before Sphinx chooses that of the notebook."""

    default_priority = 210

    def apply(self) -> None:
        for block in self.document.findall(nodes.literal_block):
            first_line = FIRST_LINE.match(block.astext())
            if first_line and first_line[1] in LANGUAGES:
                block["language"] = LANGUAGES[first_line[1]]


def setup(app: Sphinx) -> None:
    app.add_transform(FileCells)
