"""python -m book.paper _build/epub/jax book.pdf    prints the pages of an e-book, which Sphinx has written"""

import argparse
import sys
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from book import ROOT, BookError
from book.layout import Edition
from book.paper.joining import About, find, joined, words
from book.paper.printing import finish, print_document
from book.translations import language_of
from book.words import say, say_date, set_language
from book.xhtml import OPF, Element

DC = "http://purl.org/dc/elements/1.1/"


def read(folder: Path) -> tuple[dict[str, Element], About]:
    """Return the pages of an e-book in their order, by their paths, and what its title page says, in its language."""
    try:
        package = ET.parse(folder / "content.opf").getroot()
    except FileNotFoundError:
        raise BookError(f"{folder} holds no e-book: make epub writes it") from None
    files = {item.attrib["id"]: item.attrib["href"] for item in package.iter(f"{{{OPF}}}item")}
    order = [files[item.attrib["idref"]] for item in package.iter(f"{{{OPF}}}itemref") if item.get("linear") != "no"]
    pages = {path: ET.parse(folder / path).getroot() for path in order}
    names = ("title", "creator", "date", "language")
    title, author, day, language = (package.findtext(f".//{{{DC}}}{name}", "") for name in names)
    set_language(Edition(ROOT, language_of(language)))
    profiles = [part for root in pages.values() for part in find(root, "div", "machine-profile")]
    machines = [name for part in profiles for name in find(part, "strong")]
    machine = say("Measured on {machine}", machine=words(machines[0])) if machines else ""
    return pages, About(title, author, say_date(datetime.fromisoformat(day).date()), machine, language)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m book.paper", description=__doc__)
    parser.add_argument("folder", type=Path, help="where Sphinx has written the e-book")
    parser.add_argument("target", type=Path, help="the PDF to write")
    options = parser.parse_args(arguments)
    try:
        pages, about = read(options.folder)
        folder = options.folder.resolve().as_uri()
        styles = [f"{folder}/_static/{name}.css" for name in ("pygments", "epub")]
        styles.append(Path(__file__).with_name("paper.css").as_uri())
        work = options.folder.with_name(f"{options.folder.name}-paper.xhtml")
        printed = print_document(joined(pages, about, folder, styles), work)
        number = finish(printed, options.target, about)
    except BookError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.status
    print(f"{options.target}: {number} pages, {options.target.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
