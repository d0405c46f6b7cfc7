"""Exercises that answer back: the cells tagged `exercise`, a stub and what checks it, become one fold."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from book.pages.solutions import fold
from book.pages.tabs import gather, results_after

TITLE = "Check your code"


class GatherExercises(SphinxTransform):
    """Put the cells of each exercise, and what they printed, into one fold."""

    default_priority = 195  # before solutions are gathered, which follow

    def apply(self, **kwargs: Any) -> None:
        cells = [node for node in self.document.findall(nodes.container) if "tag_exercise" in node["classes"]]
        own = {id(node) for cell in cells for node in [cell, *results_after(cell)]}
        gather(self.document, lambda node: id(node) in own, lambda parts: [fold(TITLE, parts, classes=["exercise"])])


def setup(app: Sphinx) -> None:
    app.add_transform(GatherExercises)
