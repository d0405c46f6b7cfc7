"""Catalogues: what is said in a language in place of the English, one file of the format PO for each source.

A catalogue holds all units of its source in their order, those without a translation too, so that a translator sees
what is missing. A unit whose English has changed keeps its old translation, marked `fuzzy`: nobody reads it until a
translator has looked at it and taken the mark away.
"""

import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.pofile import PoFileError, read_po, write_po

from book import FRAMEWORKS, BookError
from book.layout import Layout
from book.translations import Language
from book.translations.faults import faults
from book.translations.units import Unit, extract
from d2l_utils.files import write_atomically

SHARED = "book"  # the catalogue of what stands in several sources
HEADER = """\
msgid ""
msgstr ""
"Language: {locale}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: nplurals=1; plural=0;\\n"

"""
GUESSED = {"python-format", "python-brace-format"}  # flags that Babel guesses from % and {
FEW = 4  # words: what resembles a shorter text says something else
Message = Any  # Babel's, whose texts may be tuples too: forms of a plural, which no catalogue here has
TAG = re.compile(rf'"({"|".join(FRAMEWORKS)}|html)"')


@dataclass(frozen=True)
class Progress:
    """How far a catalogue is: English words, of which so many are said; units, done, marked fuzzy."""

    words: int
    said: int
    units: int
    done: int
    fuzzy: int

    def __str__(self) -> str:
        share = self.said / self.words if self.words else 1
        outdated = f", {self.fuzzy} to look at again" if self.fuzzy else ""
        return f"{self.done} of {self.units} units translated, {share:.0%} of the words{outdated}"


def folder(layout: Layout, language: Language) -> Path:
    """Return the folder of a language's catalogues."""
    return layout.sources / "locale" / language.locale


def sources(layout: Layout) -> dict[str, str]:
    """Return the text of each source by the name of its catalogue."""
    paths = [*sorted(layout.sources.glob("*.md")), *sorted(layout.sources.glob("back/*.md"))]
    return {path.relative_to(layout.sources).with_suffix("").as_posix(): path.read_text("utf-8") for path in paths}


def read(path: Path, language: Language) -> Catalog:
    """Return the catalogue in a file; an empty one where there is none."""
    if not path.exists():
        return Catalog(locale=language.locale)
    try:
        with path.open("rb") as file:
            return read_po(file, locale=language.locale, abort_invalid=True)
    except (PoFileError, UnicodeDecodeError, ValueError) as error:
        raise BookError(f"{path} cannot be read: {error}") from None


def messages(catalogue: Catalog) -> list[Message]:
    """Return the messages of a catalogue, without its header."""
    return [message for message in catalogue if message.id]


def write(catalogue: Catalog, path: Path, language: Language) -> None:
    """Write a catalogue without dates, so that the same words are the same file."""
    for message in messages(catalogue):
        message.flags -= GUESSED
    content = io.BytesIO()
    write_po(content, catalogue, width=0, omit_header=True, ignore_obsolete=True)
    write_atomically(path, HEADER.format(locale=language.locale) + content.getvalue().decode())


def templates(texts: dict[str, str]) -> dict[str, Catalog]:
    """Return the catalogue of each source, and SHARED, without translations; what stands twice in one is one message.

    `texts` maps the name of a catalogue to its source.
    """
    units = {name: extract(text) for name, text in texts.items()}
    times = Counter(text for found in units.values() for text in {unit.text for unit in found})
    result = {SHARED: Catalog(), **{name: Catalog() for name in texts}}
    for name, found in units.items():
        owners = owners_of_lines(texts[name])
        for unit in found:
            place = SHARED if times[unit.text] > 1 else name
            about = [unit.kind, *owners[unit.first]] if place == name else [unit.kind]
            result[place].add(unit.text, auto_comments=[", ".join(about)])
    return result


def owners_of_lines(source: str) -> list[list[str]]:
    """Return for each line of a source the tags of the prose in it."""
    found, tags = [], list[str]()
    for line in source.split("\n"):
        if line.startswith("+++"):
            tags = TAG.findall(line)
        elif line.startswith("```{code-cell}"):
            tags = []
        found.append(tags)
    return found


def update(layout: Layout, language: Language, begun: Iterable[str] = ()) -> dict[str, Progress]:
    """Bring the catalogues of a language up to date with the sources.

    Parameters
    ----------
    layout : Layout
        The folders of the project.
    language : Language
        The language.
    begun : iterable of str
        The names of catalogues to begin; all others are there already, or stay away.

    Returns
    -------
    dict
        How far each catalogue is.
    """
    place, news = folder(layout, language), all_templates(layout)
    unknown = [name for name in begun if name not in news]
    if unknown:
        raise BookError(f"no source has the catalogue {unknown[0]}; known: {' '.join(news)}")
    there = {name: read(place / f"{name}.po", language) for name in names(place)}
    known = {each.id: each.string for found in there.values() for each in messages(found) if settled(each)}
    wanted = {*there, *begun}
    if wanted:
        wanted.add(SHARED)
    result = {}
    for name, new in news.items():
        if name in wanted:
            catalogue = there.get(name, Catalog(locale=language.locale))
            merge(catalogue, new, known)
            write(catalogue, place / f"{name}.po", language)
            result[name] = progress(catalogue, [message.id for message in messages(new)])
    for name in there:
        if name not in news:
            (place / f"{name}.po").unlink()
    return result


def all_templates(layout: Layout) -> dict[str, Catalog]:
    """Return the catalogues of the project by their names, without translations."""
    return templates(sources(layout))


def names(place: Path) -> list[str]:
    """Return the names of the catalogues in a folder."""
    return [path.relative_to(place).with_suffix("").as_posix() for path in sorted(place.rglob("*.po"))]


def settled(message: Message) -> bool:
    """Tell whether a message has a translation that a translator stands by."""
    return bool(message.string and not message.fuzzy)


def merge(catalogue: Catalog, new: Catalog, known: dict[str, str]) -> None:
    """Give a catalogue the messages of `new`: with their translation, one that is `known` elsewhere, or a near one."""
    for message in messages(new):
        there = catalogue.get(message.id)
        if message.id in known and (there is None or not settled(there)):
            catalogue.add(message.id, known[message.id])
            catalogue[message.id].flags.discard("fuzzy")
    catalogue.update(new)
    for message in messages(catalogue):
        if message.fuzzy and len(message.id.split()) < FEW:
            message.string = ""
            message.flags.discard("fuzzy")


def progress(catalogue: Catalog, texts: Sequence[str]) -> Progress:
    """Return how far the translation of these texts is."""
    found = [(text, catalogue.get(text)) for text in texts]
    done = [text for text, message in found if message and said(message)]
    fuzzy = sum(1 for _, message in found if message and message.string and message.fuzzy)
    return Progress(words_in(texts), words_in(done), len(texts), len(done), fuzzy)


def words_in(texts: Iterable[str]) -> int:
    """Return the number of English words in some texts."""
    return sum(len(text.split()) for text in texts)


def said(message: Message) -> str | None:
    """Return the translation of a message; None where it has none, or one that nobody stands by or that is faulty."""
    sure = settled(message) and not faults(message.id, message.string)
    return message.string if sure else None


class Translator:
    """The words of a language: what its catalogues say in place of an English text."""

    def __init__(self, layout: Layout, language: Language) -> None:
        place = folder(layout, language)
        self.catalogues = {name: read(place / f"{name}.po", language) for name in names(place)}

    def words(self, text: str, *catalogues: str) -> str | None:
        """Return what the first of these catalogues that has a sure translation says for a text, or None."""
        for name in catalogues:
            message = self.catalogues[name].get(text) if name in self.catalogues else None
            if message is not None and (words := said(message)) is not None:
                return words
        return None

    def of_source(self, name: str) -> Callable[[Unit], str | None]:
        """Return what `units.translate` asks for the words of a source."""
        return lambda unit: self.words(unit.text, name, SHARED)

    def done(self, name: str, source: str) -> Progress:
        """Return how far the translation of a source is; a text that stands twice counts twice."""
        texts = [unit.text for unit in extract(source)]
        done = [text for text in texts if self.words(text, name, SHARED) is not None]
        own = messages(self.catalogues[name]) if name in self.catalogues else []
        fuzzy = sum(1 for message in own if message.string and message.fuzzy)
        return Progress(words_in(texts), words_in(done), len(texts), len(done), fuzzy)


def problems(catalogue: Catalog, check: Callable[[str, str], Iterable[str]]) -> Iterator[tuple[int, str, list[str]]]:
    """Yield for each message with a fault the line in its file, the English, and what is wrong with its translation."""
    for message in messages(catalogue):
        if settled(message):
            found = [*faults(message.id, message.string), *check(message.id, message.string)]
            if found:
                yield message.lineno or 0, message.id, found
