"""Catalogues in the format PO: read, written, and brought up to date with the sources.

A catalogue holds every unit of its source in the order of the text, translated or not. When the English of a unit
changes, its translation is kept but marked fuzzy: it is not used until a translator has revised it and removed the
mark.
"""

import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_javascript, extract_python
from babel.messages.pofile import PoFileError, read_po, write_po
from jinja2.ext import babel_extract

from book import BookError, gpu_record
from book.layout import Layout, own_files
from book.translations import Language, figures, records
from book.translations.units import extract
from d2l_lab.files import write_atomically

Message = Any  # of Babel: here its id and string are str, never the forms of a plural
SHARED = "book"  # the catalogue of the texts that stand in several places
PACKAGES = ("book", "d2l_utils", "d2l_lab")  # where `say` is called
PAGES = "pages"  # the catalogue of the texts in calls of `book.words.say`
RECORDS = "records"  # the catalogue of the texts for `book.words.say_record`
FIGURES = "figures"  # the catalogue of the drawings' labels
APART = (RECORDS, FIGURES)  # which share no text with others, since a label has too little room for another translation
HEADER = """\
msgid ""
msgstr ""
"Language: {locale}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: nplurals=1; plural=0;\\n"

"""
METHODS: dict[str, Callable[..., Iterable[Any]]] = {
    ".py": extract_python,
    ".html": babel_extract,
    ".js": extract_javascript,
}
GUESSED = {"python-format", "python-brace-format"}  # flags that Babel guesses from % and {
FEW = 4  # words: what resembles a shorter text means something else
LINE = re.compile(r'((msgid|msgstr) )?"([^"\\]|\\[nt"\\])*"|#.*|\s*')
TAGS = re.compile(r"\+\+\+ (\{.*\})")  # of a cell of prose


def folder(layout: Layout, language: Language) -> Path:
    return layout.catalogues / language.locale


def names(place: Path) -> list[str]:
    return [path.relative_to(place).with_suffix("").as_posix() for path in own_files(place, "**/*.po")]


def sources(layout: Layout) -> dict[str, str]:
    """Return the text of each source by the name of its catalogue."""
    paths = [*own_files(layout.sources, "*.md"), *own_files(layout.sources, "back/*.md")]
    return {path.relative_to(layout.sources).with_suffix("").as_posix(): path.read_text("utf-8") for path in paths}


def read(path: Path) -> Catalog:
    """Return the catalogue in a file, an empty one if there is no file; BookError if the file is no catalogue."""
    if not path.exists():
        return Catalog()
    try:
        content = path.read_text(encoding="utf-8")
        for number, line in enumerate(content.split("\n"), 1):  # Babel itself takes quotation marks for granted
            if not LINE.fullmatch(line):
                raise BookError(f"{path}:{number}: no line of a catalogue: {line}")
        return read_po(io.StringIO(content), abort_invalid=True)
    except (PoFileError, UnicodeDecodeError) as error:
        raise BookError(f"{path} cannot be read: {error}") from None


def messages(catalogue: Catalog) -> list[Message]:
    """Return the messages of a catalogue, without its header."""
    return [message for message in catalogue if message.id]


def is_final(message: Message) -> bool:
    """Tell whether a message has a translation that is not marked fuzzy."""
    return bool(message.string) and not message.fuzzy


def write(catalogue: Catalog, path: Path, language: Language) -> None:
    """Write a catalogue without dates, so that equal catalogues are equal files."""
    for message in messages(catalogue):
        message.flags -= GUESSED
    content = io.BytesIO()
    write_po(content, catalogue, width=0, omit_header=True, ignore_obsolete=True)
    write_atomically(path, HEADER.format(locale=language.locale) + content.getvalue().decode())


def translatable(layout: Layout) -> dict[str, list[tuple[str, str]]]:
    """Return what is to be translated: for each catalogue but SHARED its texts in order, each with a comment."""
    found = sources(layout)
    result = {}
    for name, source in found.items():
        tags = tags_of_lines(source)
        result[name] = [(unit.text, ", ".join([unit.kind, *tags[unit.first]])) for unit in extract(source)]
    result[PAGES] = [text for package in PACKAGES for text in fixed_texts(layout.root / package)]
    result[RECORDS] = [(text, f"record, {name}") for name in found for text in records.extract(found[name])]
    result[RECORDS] += [(text, "record") for text in records.OURS]
    result[RECORDS] += [(text, "record, gpu") for text in gpu_record.read(layout.root).get("remarks", {}).values()]
    result[FIGURES] = [
        (text, f"label, {path.stem}")
        for path in own_files(layout.sources, "img/*.svg")
        for text in figures.extract(path.read_text(encoding="utf-8"))
    ]
    return result


def fixed_texts(package: Path) -> list[tuple[str, str]]:
    """Return the texts in calls of `say` in the modules, templates and scripts of a package, each with its file."""
    paths = [path for ending in METHODS for path in own_files(package, f"**/*{ending}")]
    return [(text, path.relative_to(package.parent).as_posix()) for path in paths for text in said(path)]


def said(path: Path) -> list[str]:
    """Return the texts in calls of `say` and `say_each` in a file."""
    result = list[str]()
    with path.open("rb") as file:
        for _, function, found, _ in METHODS[path.suffix](file, ["say", "say_each"], [], {}):
            texts = found if isinstance(found, tuple) else (found,)
            result += filter(None, texts if function == "say_each" else texts[:1])
    return result


def templates(texts: dict[str, list[tuple[str, str]]]) -> dict[str, Catalog]:
    """Return catalogues without translations of `translatable` texts; what stands in several places is in SHARED."""
    places = Counter(text for name in texts if name not in APART for text in {text for text, _ in texts[name]})
    result = {name: Catalog() for name in (SHARED, *texts)}
    for name, found in texts.items():
        for text, comment in found:
            shared = places[text] > 1 and name not in APART
            result[SHARED if shared else name].add(text, auto_comments=[comment.split(",")[0] if shared else comment])
    return {name: template for name, template in result.items() if messages(template)}


def tags_of_lines(source: str) -> list[list[str]]:
    """Return for each line of a source the tags of its cell of prose."""
    result, tags = [], list[str]()
    for line in source.split("\n"):
        opening = TAGS.match(line)
        if opening:
            tags = json.loads(opening[1]).get("tags", [])
        elif line.startswith(("+++", "```{code-cell}")):
            tags = []
        result.append(tags)
    return result


def update(layout: Layout, language: Language) -> list[str]:
    """Bring the catalogues of a language up to date with the sources; return their names.

    Missing catalogues are begun. A translation follows its text into another catalogue.
    """
    place = folder(layout, language)
    old = {name: read(place / f"{name}.po") for name in names(place)}
    known = {each.id: each for name in old if name not in APART for each in messages(old[name]) if is_final(each)}
    new = templates(translatable(layout))
    for name, template in new.items():
        catalogue = old.get(name, Catalog())
        merge(catalogue, template, {} if name in APART else known)
        write(catalogue, place / f"{name}.po", language)
    for name in old.keys() - new.keys():
        (place / f"{name}.po").unlink()
    return list(new)


def merge(catalogue: Catalog, template: Catalog, known: dict[str, Message]) -> None:
    """Give a catalogue the messages of a template, with their own translation, a `known` one, or a similar text's."""
    for message in messages(template):
        there = catalogue.get(message.id)
        if message.id in known and (there is None or not is_final(there)):
            found = known[message.id]
            catalogue.delete(message.id)
            catalogue.add(message.id, found.string, user_comments=found.user_comments)
    catalogue.update(template)
    for message in messages(catalogue):
        if message.fuzzy and len(message.id.split()) < FEW:
            message.string = ""
            message.flags.discard("fuzzy")
