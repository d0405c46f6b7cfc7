"""A document printed by Chromium, and what the PDF that it writes lacks: the author, and a small size."""

import os
from pathlib import Path

import pikepdf
from playwright.sync_api import Error, sync_playwright

from book import BookError
from book.paper.joining import About, Element, numbered
from book.setup.system_tools import find_browser
from book.xhtml import page_text

ROUNDS = 4  # of printing, at most: each puts in the numbers of pages that the one before has found


def print_document(document: Element, path: Path) -> Path:
    """Write a document to `path` and print it until its numbers of pages are right; return the path of the PDF."""
    browser = find_browser()
    if browser is None:
        raise BookError("no browser to print with: `make browser` fetches one (Debian: apt-get install chromium)")
    result = path.with_suffix(".pdf")
    try:
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(executable_path=browser, chromium_sandbox=os.geteuid() != 0)
            page = chromium.new_page()
            for _ in range(ROUNDS):
                path.write_text(page_text(document), encoding="utf-8")
                page.goto(path.resolve().as_uri())
                page.evaluate("document.fonts.ready.then(() => null)")
                page.pdf(path=result, prefer_css_page_size=True, print_background=True, outline=True, tagged=True)
                if not numbered(document, places_in(result)):
                    return result
    except Error as error:
        raise BookError(f"the browser cannot print {path}: {error.message.splitlines()[0]}") from None
    raise BookError(f"the numbers of pages in {path} still change after {ROUNDS} rounds of printing")


def places_in(path: Path) -> dict[str, int]:
    """Return the number of the page on which each place that a link leads to stands, by its id."""
    with pikepdf.open(path) as pdf:
        numbers = {page.obj.objgen: number for number, page in enumerate(pdf.pages, start=1)}
        return {str(name)[1:]: numbers[place[0].objgen] for name, place in pdf.Root.Dests.items()}


def finish(source: Path, target: Path, about: About) -> int:
    """Write a small PDF that names its title and authors; return its number of pages."""
    pikepdf.settings.set_flate_compression_level(9)
    with pikepdf.open(source) as pdf:
        pdf.docinfo["/Title"] = about.title
        pdf.docinfo["/Author"] = about.author
        generate = pikepdf.ObjectStreamMode.generate
        pdf.save(target, object_stream_mode=generate, recompress_flate=True, deterministic_id=True)
        return len(pdf.pages)
