"""What is wrong with the catalogues of a language: faults, signs and spaces, terms. What is missing is no fault."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from book.layout import Layout
from book.translations import Language
from book.translations.catalogues import folder, names, problems, read
from book.translations.wording import read_terms, slips, wrong_terms


@dataclass(frozen=True)
class Problem:
    """A message of a catalogue that has to be mended: where it stands, its English, and what is wrong."""

    path: Path
    line: int
    english: str
    found: tuple[str, ...]

    def __str__(self) -> str:
        first, *others = self.english.split("\n")
        head = f"{self.path}:{self.line}: msgid {first!r}{' …' if others else ''}"
        return "\n".join([head, *(f"  {each}" for each in self.found)])


def checks(layout: Layout, language: Language) -> Callable[[str, str], list[str]]:
    """Return what looks at how a translation into this language is written."""
    terms = read_terms(folder(layout, language) / "terms.csv")

    def check(english: str, said: str) -> list[str]:
        return [*slips(said), *wrong_terms(english, said, terms)]

    return check


def check(layout: Layout, language: Language, name: str = "") -> Iterator[Problem]:
    """Yield the problems of a catalogue, or of all that there are."""
    place, look = folder(layout, language), checks(layout, language)
    for each in [name] if name else names(place):
        path = place / f"{each}.po"
        for line, english, found in problems(read(path, language), look):
            yield Problem(path.relative_to(layout.root), line, english, tuple(found))
