"""What a language says for an English text, and how much of the book is translated."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from string import Formatter

from book.layout import Edition
from book.translations import Language
from book.translations.catalogues import SHARED, Message, folder, is_final, messages, names, read
from book.translations.faults import faults


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


class Translations:
    """The catalogues of a language; BookError if one cannot be read."""

    def __init__(self, edition: Edition, language: Language) -> None:
        place = folder(edition, language)
        catalogues = {name: messages(read(place / f"{name}.po")) for name in names(place)}
        self.messages = {name: {each.id: each for each in found} for name, found in catalogues.items()}

    def find(self, text: str, source: str) -> Message | None:
        """Return the message of a text of a source, None if no catalogue has it."""
        found = (self.messages.get(name, {}).get(text) for name in (source, SHARED))
        return next((message for message in found if message), None)

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
        exact = self.of(source)
        literals = {text: [literal for literal, _ in pieces(text)] for text in self.messages.get(source, {})}
        fixed = {text: "".join(found).strip() for text, found in literals.items()}
        open_texts = [text for text in fixed if fixed[text] not in ("", text)]
        most_literal_first = sorted(open_texts, key=lambda text: len(fixed[text]), reverse=True)
        patterns = {text: pattern(text) for text in most_literal_first}

        def translate(text: str) -> str | None:
            found = exact(text)
            if found:
                return found
            for filled, form in patterns.items():
                match, translation = form.fullmatch(text), exact(filled)
                if match and translation:
                    fields = {name: (value and translate(value)) or value for name, value in match.groupdict().items()}
                    return "".join(literal + fields.get(name or "", "") for literal, name in pieces(translation))
            return None

        return translate

    def coverage(self, source: str, units: Sequence[str]) -> Coverage:
        translated = list(filter(self.of(source), units))
        fuzzy = [unit for unit in units if (message := self.find(unit, source)) and message.fuzzy]
        words, translated_words = (sum(len(unit.split()) for unit in texts) for texts in (units, translated))
        return Coverage(len(units), len(translated), len(fuzzy), words, translated_words)


def pieces(text: str) -> list[tuple[str, str | None]]:
    """Return a text with fields, cut behind each: pairs of literal text and the field's name, None behind the last.

    Braces that stand for themselves are doubled, as in an f-string. Any other text has no pieces: it is only itself.
    """
    try:
        found = [(literal, name) for literal, name, *_ in Formatter().parse(text)]
    except ValueError:  # a brace of its own
        return []
    return found if all(name is None or name.isidentifier() for _, name in found) else []


def pattern(text: str) -> re.Pattern[str]:
    """Return a pattern of what a text with fields can become; a field that comes again has the same value."""
    names, form = set[str](), ""
    for literal, name in pieces(text) or [(text, None)]:
        form += re.escape(literal)
        if name is not None:
            form += f"(?P={name})" if name in names else f"(?P<{name}>.*)"
            names.add(name)
    return re.compile(form, re.DOTALL)
