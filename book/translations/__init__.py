"""The book in other languages: the words of its sources, drawings, records and pages, and their translations.

A language is a folder of catalogues, notebooks/locale/<locale>, which lie as the sources do: hardware.po has the words
of hardware.md, back/glossary.po those of back/glossary.md. What stands in several sources is in book.po. The words are
looked up by the English text; whatever has no sure translation stays English.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Language:
    """A language of the book: the folder of its catalogues, its name in pages (BCP 47) and what it calls itself."""

    locale: str
    tag: str
    title: str


LANGUAGES = {"en": Language("en", "en", "English"), "zh": Language("zh_CN", "zh-Hans", "中文")}
SOURCE = "en"  # the language of the sources
