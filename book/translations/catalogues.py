"""Catalogues in the format PO: where they lie, read and written."""

import io
import re
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.pofile import PoFileError, read_po, write_po

from book import BookError
from book.layout import Edition, own_files
from book.translations import Language
from d2l_lab.files import write_atomically

Message = Any  # of Babel: here its id and string are str, never the forms of a plural
SHARED = "book"  # the catalogue of the texts that stand in several places
PAGES = "pages"  # the catalogue of the texts in calls of `book.words.say`
RECORDS = "records"  # the catalogue of the texts for `book.words.say_record`
FIGURES = "figures"  # the catalogue of the drawings' labels
LINES = "lines"  # the catalogue of the lines that cells print
COMMENTS = "comments"  # the catalogue of the comments and docstrings of cells
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
LINE = re.compile(r'((msgid|msgstr) )?"([^"\\]|\\[nt"\\])*"|#.*|\s*')


def folder(edition: Edition, language: Language) -> Path:
    return edition.catalogues / language.locale


def names(place: Path) -> list[str]:
    return [path.relative_to(place).with_suffix("").as_posix() for path in own_files(place, "**/*.po")]


def sources(edition: Edition) -> dict[str, str]:
    """Return the text of each source by the name of its catalogue."""
    paths = [*own_files(edition.sources, "*.md"), *own_files(edition.sources, "back/*.md")]
    return {path.relative_to(edition.sources).with_suffix("").as_posix(): path.read_text("utf-8") for path in paths}


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
