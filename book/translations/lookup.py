"""What a language says for an English text, and how much of the book is translated."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from book.layout import Edition
from book.translations import Language
from book.translations.catalogues import SHARED, Message, folder, is_final, messages, read
from book.translations.faults import faults
from d2l_lab.instruments.words import filling


@dataclass(frozen=True)
class Coverage:
    """How much is translated: units and English words, in all and translated, and the units marked fuzzy."""

    units: int
    translated: int
    fuzzy: int
    words: int
    translated_words: int

    def __str__(self) -> str:
        share = self.translated_words / self.words if self.words else 1
        fuzzy = f", {self.fuzzy} fuzzy" if self.fuzzy else ""
        return f"{self.translated} of {self.units} units translated ({share:.0%} of the words){fuzzy}"


class Messages(dict[str, dict[str, Message]]):
    """The messages of the catalogues in a folder by their English, each catalogue read when it is first asked for."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __missing__(self, name: str) -> dict[str, Message]:
        self[name] = {message.id: message for message in messages(read(self.place / f"{name}.po"))}
        return self[name]


class Translations:
    """The catalogues of a language; BookError where one cannot be read."""

    def __init__(self, edition: Edition, language: Language) -> None:
        self.messages = Messages(folder(edition, language))

    def find(self, text: str, source: str) -> Message | None:
        """Return the message of a text of a source, None if no catalogue has it."""
        return self.messages[source].get(text) or self.messages[SHARED].get(text)

    def of(self, source: str) -> Callable[[str], str | None]:
        """Return a function from a text of a source to its translation: None if that is fuzzy, faulty or missing."""

        def translate(text: str) -> str | None:
            message = self.find(text, source)
            if message and is_final(message) and not faults(message.id, message.string):
                return message.string
            return None

        return translate

    def filled(self, source: str) -> Callable[[str], str | None]:
        """Return such a function that also translates what fills the fields of a text in, as far as that is known."""
        return filling(self.of(source), self.messages[source])

    def coverage(self, source: str, units: Sequence[str]) -> Coverage:
        translated = list(filter(self.of(source), units))
        fuzzy = [unit for unit in units if (message := self.find(unit, source)) and message.fuzzy]
        words, translated_words = (sum(len(unit.split()) for unit in texts) for texts in (units, translated))
        return Coverage(len(units), len(translated), len(fuzzy), words, translated_words)
