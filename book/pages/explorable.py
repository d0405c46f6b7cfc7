"""Figures that a reader can play with: a text that scripts of the page replace by something with buttons.

:::{explorable} ring
:name: fig-ring

The caption, numbered as a figure's.

The text alternative: what a reader without scripts, on paper or in a notebook has in place of the explorable.
:::

Each kind has a script of its own in _static/explorables, which only the pages that need it load, as they do the style.
A translated page gives a script the translations of what it says, and a script of MEASURED gets the figures of the
machine that built the page.
"""

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from book import MODULES
from book.pages.single_framework import EDITION
from book.translations.said import said
from book.words import say, say_each
from d2l_lab.machine.profile import read

KINDS = ("bounds", "memory", "ring", "slots", "tiles")
MEASURED = "bounds"
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
        if kind == MEASURED:
            self.env.note_dependency(Path(self.config.d2l_machine).absolute())
        moves = nodes.paragraph("", invitation(kind), classes=[EDITION])
        figure = nodes.figure("", nodes.container("", *rest, moves, classes=[CLASS, kind]))
        figure += nodes.caption(first.rawsource, "", *first.children)
        self.set_source_info(figure)
        self.add_name(figure)
        return [figure]


def invitation(kind: str) -> str:
    """Return what an e-book or the paper says of what the page can do."""
    return {
        "bounds": say("On the page in HTML, sliders set rows and width, α, b and P."),
        "memory": say("On the page in HTML, sliders and menus set the network, the minibatch and the card."),
        "ring": say("On the page in HTML, buttons take this ring through its steps, with two to six ranks."),
        "slots": say("On the page in HTML, you choose machine, slots, load and the way of batching."),
        "tiles": say("On the page in HTML, you choose the side of the tiles."),
    }[kind]


def figures(path: Path) -> dict[str, dict[str, float]]:
    """Return α with a wait, b and P of each framework by the profile of a machine, of its first GPU if it has one."""
    profile, found = read(path) or {"frameworks": {}}, dict[str, dict[str, float]]()
    for name, module in MODULES.items():
        if module in profile["frameworks"]:
            part = [*profile["frameworks"][module]["gpus"], profile["frameworks"][module]][0]
            alpha, P = part.get("dispatch", {}).get("wait"), part.get("product", {}).get("float32")
            b = part.get("bandwidth", {}).get("memory", {}).get("in place")
            if alpha and b and P:  # a profile may lack what could not be measured
                found[name] = {"alpha": alpha, "b": b, "P": P}
    return found


def load(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Have a page load scripts and style of the explorables on it, in HTML alone: a book reader shows the text."""
    if app.builder.name != "html" or doctree is None:
        return
    shown = {name for node in doctree.findall(nodes.container) if CLASS in node["classes"] for name in node["classes"]}
    for name in [CLASS, *KINDS]:
        if name in shown:
            words = {text: words for text, words in say_each(*said(SCRIPTS / f"{name}.js")).items() if words != text}
            data: dict[str, Any] = {"data-words": json.dumps(words, ensure_ascii=False)} if words else {}
            if name == MEASURED:
                data["data-figures"] = json.dumps(figures(Path(app.config.d2l_machine)))
            app.add_js_file(f"explorables/{name}.js", loading_method="defer", **data)
    if CLASS in shown:
        app.add_css_file(f"explorables/{CLASS}.css")


def setup(app: Sphinx) -> None:
    app.add_directive("explorable", Explorable)
    app.connect("html-page-context", load)
