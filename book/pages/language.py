"""The language of the pages: with Sphinx's setting `language`, the project's own words are said in it too.

The sections of a translated page keep the ids of the English page, so that a link to a section leads to the same place
in all languages.
"""

import re
from collections.abc import Sequence
from gettext import NullTranslations
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError
from sphinx.transforms import SphinxTransform

from book import ROOT
from book.layout import Edition, read_json
from book.pages.text import HAN_CHARACTER
from book.translations import LANGUAGES, language_of
from book.translations.catalogues import folder
from book.translations.terms import read_terms
from book.words import say, say_each, set_language

TEXTS = (nodes.paragraph, nodes.title, nodes.term, nodes.caption)
WORD = re.compile(r"[A-Za-z]{2,}")
FEW = 3  # words: so many may be names in a text of any language


def use_language(app: Sphinx, config: Config) -> None:
    """Set the language of `say`, and in a translation the settings that are words or paths."""
    edition = Edition(ROOT, language_of(config.language))
    set_language(edition)
    if edition.language is None:
        return
    config.project = config.html_title = say("Computational Performance")
    config.numfig_format = {
        "figure": say("Fig. %s"),
        "table": say("Table %s"),
        "code-block": say("Listing %s"),
        "section": say("Section %s"),
    }
    terms = read_terms(folder(edition, edition.language) / "terms.csv")
    config.d2l_unlinked = [context for term in terms for context in term.unlinked]
    config.d2l_notebooks = str(edition.notebook("notebooks", "framework", "slug").parents[1])
    app.translator.add_fallback(WordsOfTheme())


class WordsOfTheme(NullTranslations):
    """The words of furo that Sphinx's own catalogue lacks."""

    def gettext(self, message: str) -> str:
        words = say_each("Back to top", "Home", "Made with ", "Next", "On this page", "Previous", "Skip to content")
        return words.get(message, message)


def improve_theme(html: str) -> str:
    """Return a page of furo with its fixed texts in the current language, and with what it lacks for those who hear it.

    It has two asides and names neither; a reader who hears the page tells them apart by name. Sphinx calls the caption
    of a table of contents a heading without saying of which level.
    """
    labels = say_each(
        "Toggle site navigation sidebar", "Toggle table of contents sidebar", "Toggle Light / Dark / Auto color theme"
    )
    titles = say_each("Contents", "Menu", "Expand", "Light mode", "Dark mode")
    titles |= say_each("Auto light/dark, in light mode", "Auto light/dark, in dark mode")
    left, right, possessive = say("Sections"), say("On this page"), say("'s")
    changes = {
        '<aside class="sidebar-drawer">': f'<aside class="sidebar-drawer" aria-label="{left}">',
        '<aside class="toc-drawer': f'<aside aria-label="{right}" class="toc-drawer',
        '<p class="caption" role="heading">': '<p class="caption">',
        "Sphinx</a> and <a": "Sphinx</a>" + say(" and ") + "<a",
        "@pradyunsg</a>'s": f"@pradyunsg</a>{' ' if HAN_CHARACTER.match(possessive) else ''}{possessive}",
    }
    changes |= {f'aria-label="{text}"': f'aria-label="{words}"' for text, words in labels.items()}
    changes |= {f"<title>{text}</title>": f"<title>{words}</title>" for text, words in titles.items()}
    for old, new in changes.items():
        html = html.replace(old, new)
    return html


def give_words(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Let templates say their words too, and link to the page in other languages, whose folders lie in the English."""
    context |= {"say": say, "improve_theme": improve_theme}
    top = "../" * page.count("/")
    if app.config.language == "en":
        found = [LANGUAGES[code] for code in app.config.d2l_languages]
        others = [(f"{top}{language.code}/{page}.html", language.tag, language.name) for language in found]
    else:
        others = [(f"{top}../{page}.html", "en", "English")]
    coverage = Path(app.srcdir) / "coverage.json"
    counted = read_json(coverage).get(page) if coverage.exists() else None  # the search page is no source
    context["translated"] = counted and 100 * counted["translated_words"] // counted["words"]
    context["languages"] = "".join(
        f'<a class="language" href="{path}" hreflang="{tag}" lang="{tag}">{name}</a>' for path, tag, name in others
    )


class KeepIds(SphinxTransform):
    """Give the sections of a translated page the ids of the English ones, in their order."""

    default_priority = 5  # before anything refers to a section

    def apply(self, **kwargs: Any) -> None:
        english = Path(self.config.d2l_english) / f"{self.env.docname}.md"
        if self.config.language == "en" or not english.exists():
            return
        # A section that a directive has put there has no name, and the same id in all languages.
        sections = [node for node in self.document.findall(nodes.section) if node["names"] or node["dupnames"]]
        titles = headings(english.read_text(encoding="utf-8"))
        if len(titles) != len(sections):
            raise ExtensionError(f"{english} has {len(titles)} headings, its translation {len(sections)}")
        rename(self.document, sections, [nodes.make_id(title) for title in titles])


class MarkEnglish(SphinxTransform):
    """Give what has no translation the class by which docutils writes `lang="en"`, which screen readers need."""

    default_priority = 199  # before the tabs are gathered

    def apply(self, **kwargs: Any) -> None:
        if self.config.language == "en":
            return
        for node in self.document.findall(nodes.TextElement):
            text = node.astext() if isinstance(node, TEXTS) else ""
            if len(WORD.findall(text)) > FEW and not HAN_CHARACTER.search(text):
                node["classes"].append("language-en")


def headings(source: str) -> list[str]:
    from book.myst import PARSER
    from book.translations.units import HEADER

    tokens = PARSER.parse(HEADER.sub("", source, count=1))
    inside = [token for before, token in zip(tokens, tokens[1:], strict=False) if before.type == "heading_open"]
    return ["".join(child.content for child in token.children or []) for token in inside]


def rename(document: nodes.document, sections: Sequence[Any], ids: Sequence[str]) -> None:
    """Give sections these ids in place of those that docutils made of their titles; labels are added later.

    Of several sections with the same id, the first has it, as in English.
    """
    taken = set[str]()
    for section, id in zip(sections, ids, strict=True):
        if id and id not in taken:
            taken.add(id)
            section["ids"] = [id]
            document.ids[id] = section


def setup(app: Sphinx) -> None:
    """Connect it before anything asks for words or numbers."""
    app.add_config_value("d2l_english", str(ROOT / "notebooks"), "env", [str])
    app.add_config_value("d2l_languages", [], "html", [list])
    app.connect("config-inited", use_language, priority=100)
    app.connect("html-page-context", give_words)
    app.add_transform(KeepIds)
    app.add_transform(MarkEnglish)
