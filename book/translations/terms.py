"""The terms of a language, terms.csv: how the whole book translates a term, and words that it never uses for it."""

import csv
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from book.translations.punctuation import plain_text


@dataclass(frozen=True)
class Term:
    """A term: its English forms, its translations, of which any will do, and words that may not stand for it.

    In the contexts `unlinked`, a translation has another meaning than in the glossary.
    """

    english: tuple[str, ...]
    translations: tuple[str, ...]
    never: tuple[str, ...] = ()
    unlinked: tuple[str, ...] = ()

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """A pattern that finds the term and its plural as words of their own."""
        forms = "|".join(map(re.escape, self.english))
        return re.compile(rf"(?<![\w-])(?:{forms})(?:s|es)?(?![\w-])", re.IGNORECASE)


def read_terms(path: Path) -> list[Term]:
    """Return the terms in a table whose columns are the fields of a Term; " | " separates alternatives.

    Cells at the end of a row may be missing.
    """
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [Term(**{name: tuple(cell.split(" | ")) if cell else () for name, cell in row.items()}) for row in rows]


def wrong_terms(msgid: str, msgstr: str, terms: Sequence[Term], free: Collection[str] = ()) -> Iterator[str]:
    """Yield a sentence for each term of the English that its translation lacks or translates by a wrong word.

    The terms in `free` (first English forms) may be translated in any way here.
    """
    english = plain_text(msgid, code=" ", formula=" ").replace("\n", " ")
    translation = plain_text(msgstr, code=" ", formula=" ").replace("\n", "").lower()
    present = [term for term in terms if term.pattern.search(english) and term.english[0] not in free]
    right = [word for term in present for word in term.translations]
    for term in present:
        name, translations = term.english[0], " or ".join(term.translations)
        wrong = [word for word in term.never if word in translation and not any(word in each for each in right)]
        if wrong:
            yield f"{name!r} is never {wrong[0]}: write {translations}"
        elif not any(word.lower() in translation for word in term.translations):
            yield f"{name!r} is {translations}"
