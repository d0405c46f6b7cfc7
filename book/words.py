"""The fixed words that code puts on pages, into notebooks and onto slides, in the language that is being written.

`make translations` collects the texts in calls of `say` and `say_each`, so these have to be string literals; what
varies in them is a field. Their catalogue is pages.po. What records say has records.po, by their English words, which
are also their names.
"""

import re
from collections.abc import Callable
from datetime import date
from functools import cache
from typing import Any

from book import ROOT
from book.layout import Edition

NO_TRANSLATIONS = dict[str, str]()  # English texts are as they are
_edition = Edition(ROOT)
_translate: Callable[[str], str | None] = NO_TRANSLATIONS.get
_translate_record: Callable[[str], str | None] = NO_TRANSLATIONS.get
_translate_printed: Callable[[str], str] = str


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


def say_printed(text: str) -> str:
    """Return what a cell has printed with the lines of our packages in the current language."""
    return _translate_printed(text)


def say_date(day: date) -> str:
    from babel.dates import format_date

    text = format_date(day, "long", locale=_edition.language.locale if _edition.language else "en_GB")
    return re.sub(r"(?<=\d)(?=[年月日])|(?<=[年月])(?=\d)", " ", text)  # as Chinese sentences here set figures


def current() -> Edition:
    """Return the edition in whose language `say` speaks."""
    return _edition


def fixed_words(edition: Edition) -> list[str]:
    """Return the catalogues that `say` reads for an edition, on which whatever it puts somewhere depends."""
    if edition.language is None:
        return []
    folder = edition.catalogues / edition.language.locale
    paths = [folder / f"{name}.po" for name in ("pages", "book")]
    return [path.read_text(encoding="utf-8") for path in paths if path.exists()]


def set_language(edition: Edition) -> None:
    """Make the language of an edition the one that `say` speaks, from its catalogues as they are now."""
    global _edition, _translate, _translate_record, _translate_printed
    _edition, _translate, _translate_record = edition, NO_TRANSLATIONS.get, NO_TRANSLATIONS.get
    _translate_printed = str
    if edition.language:
        from book.translations.lookup import Translations  # with Babel and a parser, which English does without

        translations = Translations(edition, edition.language)
        _translate, _translate_record = cache(translations.of("pages")), cache(translations.filled("records"))

        @cache
        def lines() -> Callable[[str], str]:
            from book.translations.kernel_words import printed  # which reads all of our packages

            return printed(edition, translations)

        _translate_printed = cache(lambda text: lines()(text))
