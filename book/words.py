"""The fixed words that code puts on pages, into notebooks and onto slides, in the language that is being written.

`make translations` collects the texts in calls of `say`, so these have to be string literals; what varies in them is a
field for `str.format`. Their catalogue is pages.po. What records say has records.po, by their English words, which are
also their names.
"""

from collections.abc import Callable
from datetime import date
from functools import cache

from book.layout import Layout
from book.translations import Language

ENGLISH = "en_GB"


def _no_translation(text: str) -> str | None:
    """Return None: English texts are as they are."""
    return None


_translate: Callable[[str], str | None] = _no_translation
_translate_record: Callable[[str], str | None] = _no_translation
_locale = ENGLISH
_language: Language | None = None


def say(text: str) -> str:
    """Return a fixed text in the current language, in English if it has no translation."""
    return _translate(text) or text


def say_record(text: str) -> str:
    """Return a text of a record, such as a claim or the name of a lever, in the current language, else in English."""
    return _translate_record(text) or text


def current() -> Language | None:
    """Return the language that `say` speaks, None for English."""
    return _language


def say_date(day: date) -> str:
    """Return a date in words."""
    from babel.dates import format_date

    return format_date(day, "long", locale=_locale)


def fixed_words(layout: Layout) -> list[str]:
    """Return the catalogues that `say` reads for a layout, on which whatever it puts somewhere depends."""
    if layout.language is None:
        return []
    folder = layout.catalogues / layout.language.locale
    paths = [folder / f"{name}.po" for name in ("pages", "book")]
    return [path.read_text(encoding="utf-8") for path in paths if path.exists()]


def set_language(layout: Layout) -> None:
    """Make the language of a layout the one that `say` speaks, from its catalogues as they are now."""
    global _translate, _translate_record, _locale, _language
    _language = layout.language
    if layout.language is None:
        _translate, _translate_record, _locale = _no_translation, _no_translation, ENGLISH
    else:
        from book.translations.lookup import Translations  # with Babel and a parser, which English does without

        translations = Translations(layout, layout.language)
        _translate, _translate_record = cache(translations.of("pages")), cache(translations.filled("records"))
        _locale = layout.language.locale
