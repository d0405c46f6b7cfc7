"""Outputs of cells that are awkward to show: on a page, in the e-book and in the PDF, in both languages."""

import re
import subprocess

import awkward
import pytest
from pypdf import PdfReader
from tiny_book import RUN, Book, words
from wcag import contrast

from book import ROOT
from book.paper.__main__ import main as print_book
from book.xhtml import ET, XHTML

PAGES = {"awkward": awkward.page(jax=RUN)}
GROUNDS = {"light": "#ffffff", "dark": "#131416"}  # of furo's pages


def packed(text):
    return "".join(text.split())


def said(article):
    """Return the words that a page shows below each cell, by the cell's code."""
    found = {}
    for cell in article.select(".cell:has(.cell_input)"):
        for script in cell.select("script, style"):
            script.decompose()
        output = cell.select_one(".cell_output")
        found[words(cell.select_one(".cell_input"))] = words(output) if output else ""
    return found


def test_a_page_goes_on_after_each_output(book):
    article = book.article("awkward")
    found = said(article)
    for name, seen in awkward.WORDS.items():
        assert packed(found[name]) == packed(seen)
    assert "characters are left out here" in found["long text"]
    assert len(found["long text"]) < 30_000
    assert article.select_one("#after > p").get_text() == "The text after them."
    ids = [node["id"] for node in article.select("[id]")]
    assert len(ids) == len(set(ids))
    first, second = article.select("[fill]")
    assert first["fill"] != second["fill"]
    assert {f"url(#{node['id']})" for node in article.select("[id$=-g]")} == {first["fill"], second["fill"]}
    assert all(picture.has_attr("alt") for picture in article.select("img"))


def test_colours_of_a_terminal_can_be_read(book):
    (shown,) = [cell for cell in book.article("awkward").select(".cell") if "Model:" in cell.get_text()]
    styled = {words(span): span["class"][-1] for span in shown.select(".cell_output span[class]")}
    assert styled == {
        "Model:": "-Color-Bold",
        '"tiny"': "-Color-Bold-Green",
        "12": "-Color-Green",
        "parameters": "-Color-BGRed",
    }
    sheet = (ROOT / "book" / "pages" / "_static" / "book.css").read_text(encoding="utf-8")
    palettes = re.findall(r"--red: .*?--cyan: #\w+", sheet)
    light, dark, also_dark = [dict(re.findall(r"--(\w+): (#\w+)", palette)) for palette in palettes]
    assert dark == also_dark
    assert light.keys() == {"red", "green", "yellow", "blue", "magenta", "cyan"}
    for name, palette in {"light": light, "dark": dark}.items():
        assert min(contrast(colour, GROUNDS[name]) for colour in palette.values()) > 4.5
    for hue in light:
        assert f'[class*="-{hue.title()}"] {{ color: var(--{hue}); }}' in sheet
        assert f'[class*="-BG{hue.title()}"] {{ --ground: var(--{hue}); }}' in sheet


@pytest.fixture(scope="module", params=["en", "zh_CN"])
def edition(request, tmp_path_factory):
    """The folder of the e-book with the awkward outputs."""
    folder = tmp_path_factory.mktemp("edition")
    (folder / "awkward.md").write_text("# Awkward\n\n## After\n", encoding="utf-8")
    book = Book(folder, {"awkward": awkward.page()})
    assert book.build("epub", only="jax", language=request.param, english=folder) == (0, "")
    return book.folder / "epub"


@pytest.mark.slow
def test_the_e_book_says_the_same_without_scripts(edition):
    root = ET.parse(edition / "awkward.xhtml").getroot()
    text = packed("".join(root.itertext()))
    for name, seen in awkward.WORDS.items():
        assert packed(name + seen) in text
    body = root.find(f"{{{XHTML}}}body")
    assert not [node for name in ("script", "style") for node in body.iter(f"{{{XHTML}}}{name}")]


@pytest.mark.slow
def test_the_e_book_follows_its_standard(edition, epubcheck):
    (book,) = edition.glob("*.epub")
    done = subprocess.run([*epubcheck, str(book)], capture_output=True, text=True)
    assert "ERROR" not in done.stdout + done.stderr, done.stdout + done.stderr


@pytest.mark.slow
def test_the_pdf_says_the_same(edition, chromium_path, tmp_path, capsys):
    assert print_book([str(edition), str(tmp_path / "book.pdf")]) == 0, capsys.readouterr().err
    text = "".join(page.extract_text() for page in PdfReader(tmp_path / "book.pdf").pages)
    for seen in ("parameters", "100 %", "IntSlider", "frame", "unclosed", "The text after them."):
        assert seen in text
