"""Translating, speaking, and the languages in which e-books, PDFs and slides are read: those that make wrote last."""

import os
from contextlib import contextmanager

import pytest

from book import ROOT
from book.layout import Edition
from book.translations import CHINESE, LANGUAGES
from book.translations.catalogues import folder
from book.words import set_language

CHOSEN = os.environ.get("LANGUAGES", " ".join(LANGUAGES)).split()  # as make has it


def layouts(stage):
    """Return the layout of English, and of each chosen language that has this folder of what was built."""
    chosen = [Edition(ROOT, LANGUAGES[code]) for code in CHOSEN if code in LANGUAGES]
    return [Edition(ROOT), *(layout for layout in chosen if (layout.derived / stage).exists())]


def translate(root, name, translations, comment=""):
    """Translate messages of a project's catalogue into Chinese as a translator does, in the file; return its path."""
    path = folder(Edition(root), CHINESE) / f"{name}.po"
    text = path.read_text(encoding="utf-8")
    for msgid, msgstr in translations.items():
        entry = f'msgid "{msgid}"\nmsgstr '
        assert text.count(f'{entry}""') == 1, msgid
        text = text.replace(f'{entry}""', f'{comment}{entry}"{msgstr}"')
    path.write_text(text, encoding="utf-8")
    return path


@contextmanager
def speaking(layout):
    """Let `say` speak the language of a layout."""
    set_language(layout)
    try:
        yield layout
    finally:
        set_language(Edition(ROOT))


def layout_of(stage):
    """Return a fixture: the layout of each language in turn, which is that of `say` meanwhile."""

    @pytest.fixture(scope="module", params=layouts(stage), ids=lambda layout: layout.lang)
    def layout(request):
        with speaking(request.param) as layout:
            yield layout

    return layout
