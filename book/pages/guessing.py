"""Guess first: what a page with stops has beside their rows, which `_static/guess.js` opens once a reader has guessed.

A line below the facts at the head offers it; page.html notes the reader's choice before anything is drawn, so that
nothing moves or flashes. Without scripts, on paper and in an e-book nothing is ever covered.
"""

import json
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from book.pages.explorable import SCRIPTS
from book.pages.single_framework import WHOLE
from book.translations.said import said
from book.words import say, say_each

SCRIPT = SCRIPTS.with_name("guess.js")
CLASS = "guess-offer"


def offer(always: bool = False) -> nodes.raw:
    """Return the line in which a reader begins or ends to guess; one that stays when it is declined, if `always`."""
    asked, agreed = say("You can guess some of the figures before you see them."), say("You guess some figures first.")
    answers = say_each("Guess first", "No, thanks", "Stop guessing").values()
    begin, decline, end = map(button, answers, ("on", "off", "off"))
    lines = {"ask": f"{asked} {begin} {decline}", "on": f"{agreed} {end}"}
    if always:
        lines["off"] = f"{asked} {begin}"
    html = "".join(f'<p class="{state}">{line}</p>' for state, line in lines.items())
    return nodes.raw("", html, format="html", classes=[WHOLE, CLASS])


def button(words: str, value: str) -> str:
    return f'<button type="button" value="{value}">{words}</button>'


def score(framework: str) -> nodes.raw:
    """Return the place where the script says how good the guesses in a framework are."""
    return nodes.raw("", f'<p data-framework="{framework}"></p>', format="html", classes=[WHOLE, "guess-score"])


class OfferGuesses(SphinxTransform):
    """Offer it below the facts at the head of a page that has stops."""

    default_priority = 196  # after the records are shown (194), in the place that the header (190) has made

    def apply(self, **kwargs: Any) -> None:
        facts = next(self.document.findall(lambda node: is_classed(node, "page-facts")), None)
        if facts and any(' data-guess="' in node.astext() for node in self.document.findall(nodes.raw)):
            facts.parent.insert(facts.parent.index(facts) + 1, offer())


def is_classed(node: nodes.Node, name: str) -> bool:
    return isinstance(node, nodes.Element) and name in node["classes"]


def load(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Have a page with an offer load the script, with the words of its language."""
    if app.builder.name != "html" or doctree is None or not any(doctree.findall(lambda node: is_classed(node, CLASS))):
        return
    words = {text: words for text, words in say_each(*said(SCRIPT)).items() if words != text}
    data: dict[str, Any] = {"data-words": json.dumps(words, ensure_ascii=False)} if words else {}
    app.add_js_file("explorables/explorable.js", loading_method="defer")
    app.add_js_file(SCRIPT.name, loading_method="defer", **data)


def setup(app: Sphinx) -> None:
    app.add_transform(OfferGuesses)
    app.connect("html-page-context", load)
