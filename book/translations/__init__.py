"""The book in other languages: catalogues of translations, and the sources with the translations in their place.

A language has a folder of catalogues, notebooks/locale/<locale>, one for each source: hardware.po translates
hardware.md, and back/glossary.po back/glossary.md. book.po has the texts that stand in several sources.
Texts are looked up by their English, and what has no valid translation stays English.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Language:
    """A language of the book: its code in paths, its locale, its BCP 47 tag and its own name."""

    code: str
    locale: str
    tag: str
    name: str


CHINESE = Language("zh", "zh_CN", "zh-Hans", "中文")
LANGUAGES = {language.code: language for language in [CHINESE]}  # into which the English book is translated


def language_of(locale: str) -> Language | None:
    """Return the language with a locale, written zh_CN or zh-CN; None if it is none of LANGUAGES, such as English."""
    return next((each for each in LANGUAGES.values() if each.locale == locale.replace("-", "_")), None)
