"""The decks on disk: one for each section, and a page that lists them."""

import importlib.resources
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path

import nbformat
from nbconvert.exporters import SlidesExporter
from traitlets.config import Config

from book import FRAMEWORKS
from book.cells import Notebook, split
from book.fonts import MATH, MONO, SANS, SYMBOLS, carry, characters, sheet
from book.layout import Edition, read_notebook
from book.paths import marked, paths_in
from book.slides.deck import deck, with_outputs
from book.sources import chapter, entries_of, pictures
from book.words import current, say, set_language
from book.xhtml import to_xml
from d2l_lab.files import write_atomically

TEMPLATE = Path(__file__).with_name("template")
REVEAL = {"reveal_js": "dist/reveal.js", "reveal_css": "dist/reveal.css", "notes_js": "plugin/notes/notes.js"}


@cache
def furniture() -> dict[str, str]:
    """Return the scripts and styles that go into every deck."""
    home = importlib.resources.files("sphinx_revealjs") / "_static" / "revealjs"
    found = {name: (home / path).read_text(encoding="utf-8") for name, path in REVEAL.items()}
    own = {"css": "deck.css", "fitting_js": "fitting.js"}
    return found | {name: (TEMPLATE / "d2l" / path).read_text(encoding="utf-8") for name, path in own.items()}


@cache
def exporter() -> SlidesExporter:
    settings = Config()
    settings.CSSHTMLHeaderPreprocessor.style = "a11y-light"
    return SlidesExporter(config=settings, template_name="d2l", extra_template_basedirs=[str(TEMPLATE)])


def page(notebook: Notebook, title: str) -> str:
    about = {"title": title, "language": current().lang}
    content, _ = exporter().from_notebook_node(nbformat.from_dict(notebook), {"d2l": furniture() | about})
    return content


def with_fonts(decks: Mapping[Path, str]) -> dict[Path, str]:
    """Return decks that carry the fonts of their text: all carry the same, with the characters of any of them."""
    fonts = sheet((*SANS, *MONO, *MATH, *SYMBOLS), characters(decks.values()))
    return {path: text.replace("</head>", f"<style>{fonts}</style>\n</head>", 1) for path, text in decks.items()}


def with_letters(picture: bytes) -> bytes:
    """Return a picture (a file in SVG) that carries the fonts of its text."""
    drawing = ET.fromstring(picture)
    carry([drawing])
    return to_xml(drawing).encode()


def contents(titles: Mapping[str, str], framework: str) -> str:
    """Return the page that lists the decks, whose titles come by their slugs, in the book's order."""
    links = "\n".join(f'<li><a href="{slug}.html">{escape(title)}</a></li>' for slug, title in titles.items())
    book = say("Computational Performance")
    heading = say("{title} in {framework}: slides", title=book, framework=FRAMEWORKS[framework])
    style = "body { font: 18px/1.6 sans-serif; margin: 3rem auto; max-width: 40rem; padding: 0 1rem }"
    keys = say(
        "Space goes on, S opens the speaker's notes, Esc shows all slides; "
        "with <code>?view=print</code> after its address a deck prints."
    )
    return (
        f'<!DOCTYPE html>\n<html lang="{current().lang}">\n<head>\n<meta charset="utf-8">\n<title>{heading}</title>\n'
        f"<style>{style}</style>\n</head>\n<body>\n<h1>{heading}</h1>\n<ol>\n{links}\n</ol>\n<p>{keys}</p>\n</body>\n</html>\n"
    )


def write_decks(edition: Edition, frameworks: Sequence[str], sections: Sequence[str]) -> None:
    """Write a deck for each of these sections and frameworks, and the page that lists those of a framework."""
    set_language(edition)
    sources, numbers = chapter(edition)
    paths = paths_in((edition.sources / "index.md").read_text(encoding="utf-8"))
    titles = {source["slug"]: numbers["sections"][source["slug"]]["title"] for source in sources}
    decks = {}
    for source in [source for source in sources if source["slug"] in sections]:
        slug, name = source["slug"], f"{source['slug']}.md"
        images = {path: with_letters(picture) for path, picture in pictures(source, edition).items()}
        notebooks = split(entries_of(source, edition), frameworks, numbers, images, name, answers=False)
        for framework, notebook in notebooks.items():
            cure = f"make book FRAMEWORKS={framework} SECTIONS={slug} runs it"
            executed = read_notebook(edition.notebook("executed", framework, slug), cure)
            about = f"{say('Computational Performance')} · {FRAMEWORKS[framework]}"
            cells = with_outputs(notebook, executed, f"{name}, {framework}", cure)
            text = page(deck(cells, framework, about, name, marked(paths, slug)), f"{titles[slug]} · {about}")
            decks[deck_path(edition, framework, slug)] = text
    for path, text in with_fonts(decks).items():
        write_atomically(path, text)
    for framework in frameworks:
        number = list_decks(edition, framework, titles)
        print(f"{deck_path(edition, framework, 'index')}: {number} decks")


def list_decks(edition: Edition, framework: str, titles: Mapping[str, str]) -> int:
    """Write the page that lists a framework's decks, remove those of gone sections; return how many stay."""
    written = {slug: title for slug, title in titles.items() if deck_path(edition, framework, slug).exists()}
    write_atomically(deck_path(edition, framework, "index"), contents(written, framework))
    for path in deck_path(edition, framework, "index").parent.glob("*.html"):
        if path.stem not in {"index", *titles}:
            path.unlink()
    return len(written)


def deck_path(edition: Edition, framework: str, name: str) -> Path:
    """Return the path of a deck, or of the page that lists them."""
    return edition.derived / "slides" / framework / f"{name}.html"
