"""The fixed words that code puts on pages, into notebooks and onto slides, in the language that is being written.

`make translations` collects the texts in calls of `say` and `say_each`, so these have to be string literals; what
varies in them is a field. Their catalogue is pages.po. What records say has records.po, by their English words, which
are also their names.
"""

from collections.abc import Callable
from datetime import date
from functools import cache
from typing import Any

from book import ROOT
from book.layout import Layout

NO_TRANSLATIONS = dict[str, str]()  # English texts are as they are
_layout = Layout(ROOT)
_translate: Callable[[str], str | None] = NO_TRANSLATIONS.get
_translate_record: Callable[[str], str | None] = NO_TRANSLATIONS.get


def say(text: str, /, **fields: Any) -> str:
    """Return a fixed text in the current language with its fields filled in, in English if it has no translation."""
    words = _translate(text) or text
    return words.format(**fields) if fields else words


def say_each(*texts: str) -> dict[str, str]:
    """Return fixed texts in the current language by their English."""
    return {text: say(text) for text in texts}


def say_record(text: str) -> str:
    """Return a text of a record, such as a claim or the name of a lever, in the current language, else in English."""
    return _translate_record(text) or text


def say_date(day: date) -> str:
    from babel.dates import format_date

    return format_date(day, "long", locale=_layout.language.locale if _layout.language else "en_GB")


def current() -> Layout:
    """Return the layout in whose language `say` speaks."""
    return _layout


def fixed_words(layout: Layout) -> list[str]:
    """Return the catalogues that `say` reads for a layout, on which whatever it puts somewhere depends."""
    if layout.language is None:
        return []
    folder = layout.catalogues / layout.language.locale
    paths = [folder / f"{name}.po" for name in ("pages", "book")]
    return [path.read_text(encoding="utf-8") for path in paths if path.exists()]


def set_language(layout: Layout) -> None:
    """Make the language of a layout the one that `say` speaks, from its catalogues as they are now."""
    global _layout, _translate, _translate_record
    _layout, _translate, _translate_record = layout, NO_TRANSLATIONS.get, NO_TRANSLATIONS.get
    if layout.language:
        from book.translations.lookup import Translations  # with Babel and a parser, which English does without

        translations = Translations(layout, layout.language)
        _translate, _translate_record = cache(translations.of("pages")), cache(translations.filled("records"))
