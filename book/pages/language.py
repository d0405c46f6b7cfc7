"""The language of the pages: with Sphinx's setting `language`, the project's own words are said in it too."""

from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

from book import ROOT
from book.layout import Layout
from book.translations import LANGUAGES
from book.words import say, set_language


def use_language(app: Sphinx, config: Config) -> None:
    """Set the language of `say`, and in a translation the settings that are words or paths."""
    found = [language for language in LANGUAGES.values() if language.locale == config.language]
    layout = Layout(ROOT, found[0] if found else None)
    set_language(layout)
    if layout.language is None:
        return
    config.project = config.html_title = say("Computational Performance")
    config.numfig_format = {
        "figure": say("Fig. %s"),
        "table": say("Table %s"),
        "code-block": say("Listing %s"),
        "section": say("Section %s"),
    }
    config.d2l_notebooks = str(layout.notebook("notebooks", "framework", "slug").parents[1])


def give_words(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Let templates say their words too."""
    context["say"] = say


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect it before anything asks for words or numbers."""
    app.connect("config-inited", use_language, priority=100)
    app.connect("html-page-context", give_words)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
