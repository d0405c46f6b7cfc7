"""Figures that a reader can play with: a text that scripts of the page replace by something with buttons.

:::{explorable} ring
:name: fig-ring

The caption, numbered as a figure's.

The text alternative: what a reader without scripts, on paper or in a notebook has in place of the explorable.
:::

Each kind has a script of its own in _static/explorables, which only the pages that need it load, as they do the style.
A translated page gives a script the translations of what it says.
"""

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from book.pages.single_framework import EDITION
from book.translations.update import said
from book.words import say, say_each

KINDS = ("ring", "tiles", "slots")
CLASS = "explorable"
SCRIPTS = Path(__file__).with_name("_static") / "explorables"


class Explorable(SphinxDirective):
    """A figure of a caption and of what a script may replace."""

    required_arguments = 1
    option_spec = {"name": directives.unchanged_required}
    has_content = True

    def run(self) -> list[nodes.Node]:
        kind = self.arguments[0]
        if kind not in KINDS:
            raise self.error(f"unknown explorable {kind!r}; known: {' '.join(KINDS)}")
        if "name" not in self.options:
            raise self.error(f"explorable {kind} has no :name:")
        first, *rest = self.parse_content_to_nodes() or [None]
        if not isinstance(first, nodes.paragraph) or not rest:
            raise self.error(f"explorable {kind} needs a paragraph as its caption and a text alternative after it")
        ring = say("On the page in HTML, buttons take this ring through its steps, with two to six ranks.")
        tiles = say("On the page in HTML, you choose the side of the tiles.")
        slots = say("On the page in HTML, you choose machine, slots, load and the way of batching.")
        moves = nodes.paragraph("", {"ring": ring, "tiles": tiles, "slots": slots}[kind], classes=[EDITION])
        figure = nodes.figure("", nodes.container("", *rest, moves, classes=[CLASS, kind]))
        figure += nodes.caption(first.rawsource, "", *first.children)
        self.set_source_info(figure)
        self.add_name(figure)
        return [figure]


def load(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Have a page load scripts and style of the explorables on it, in HTML alone: a book reader shows the text."""
    if app.builder.name != "html" or doctree is None:
        return
    shown = {name for node in doctree.findall(nodes.container) if CLASS in node["classes"] for name in node["classes"]}
    for name in [CLASS, *KINDS]:
        if name in shown:
            words = {text: words for text, words in say_each(*said(SCRIPTS / f"{name}.js")).items() if words != text}
            data: dict[str, Any] = {"data-words": json.dumps(words, ensure_ascii=False)} if words else {}
            app.add_js_file(f"explorables/{name}.js", loading_method="defer", **data)
    if CLASS in shown:
        app.add_css_file(f"explorables/{CLASS}.css")


def setup(app: Sphinx) -> None:
    app.add_directive("explorable", Explorable)
    app.connect("html-page-context", load)
