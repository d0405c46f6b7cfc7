"""What has to be mended in the catalogues of a language: faults, punctuation, style, terms; not what is missing."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from book.layout import Edition
from book.translations import Language
from book.translations.catalogues import FIGURES, PAGES, folder, is_final, messages, names, read
from book.translations.faults import faults
from book.translations.figures import too_large
from book.translations.lookup import Translations
from book.translations.punctuation import slips
from book.translations.style import habits
from book.translations.terms import read_terms, wrong_terms

BEGINNINGS = {"Back-of-the-envelope problem": "{}", "In your own loop": "**{}**"}  # by which pages find these texts
FREE = re.compile(r"free: (.+)")  # a translator's comment: terms that this message may translate in another way


@dataclass(frozen=True)
class Problem:
    """A message that has to be mended: its file and line, its English, and what is wrong with its translation."""

    path: Path
    line: int
    msgid: str
    slips: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([f"{self.path}:{self.line}: msgid {self.msgid!r}", *(f"  {slip}" for slip in self.slips)])


def check(edition: Edition, language: Language, only: Sequence[str] = ()) -> Iterator[Problem]:
    """Yield the problems of a language's catalogues: of all, or only of those named."""
    place = folder(edition, language)
    terms = read_terms(place / "terms.csv")
    pages = Translations(edition, language).of(PAGES)
    for name in only or names(place):
        path = place / f"{name}.po"
        for message in filter(is_final, messages(read(path))):
            texts = message.id, message.string
            comments = filter(None, map(FREE.fullmatch, message.user_comments))
            free = [term for comment in comments for term in comment[1].split(", ")]
            found = [*faults(*texts), *slips(message.string), *habits(message.string)]
            found += wrong_terms(*texts, terms, free)
            found += wrong_beginning(*texts, pages)
            found += too_large(*texts) if name == FIGURES else []
            if found:
                yield Problem(path.relative_to(edition.root), message.lineno, message.id, tuple(found))


def wrong_beginning(msgid: str, msgstr: str, pages: Callable[[str], str | None]) -> Iterator[str]:
    """Yield a sentence if a translation does not begin with the fixed words of `pages`, as its English does."""
    for text, markup in BEGINNINGS.items():
        beginning = markup.format(pages(text) or "")
        if pages(text) and msgid.startswith(markup.format(text)) and not msgstr.startswith(beginning):
            yield f"does not begin with {beginning}"
