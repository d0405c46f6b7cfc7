"""The documents are whole: every section, figure and answer, the code of one framework, and no link that is dead."""

import io
import json
import re
import subprocess
from zipfile import ZipFile

import pytest
from fontTools.ttLib import TTFont
from written import OTHERS, SECTIONS

from book import ROOT
from book.paper.joining import find, words
from book.words import say

MEGABYTES = 0.62  # a section; 0.50 have been seen
FONTS = {"STIXGeneral", "STIXTwoMath", "DejaVuSans", "DejaVuSansMono"}
CHINESE = {"NotoSerifSC", "NotoSansSC"}
pytestmark = pytest.mark.slow


def text_of(pages):
    return " ".join(words(body) for root in pages.values() for body in find(root, "body"))


def test_the_checker_of_the_standard_finds_no_error(epub, epubcheck):
    checked = subprocess.run([*epubcheck, str(epub)], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
    assert "0 fatals / 0 errors / 0 warnings" in checked.stdout


def test_the_e_book_has_all_of_every_section(pages, epub, framework, layout):
    assert {f"{page}.xhtml" for page in [*SECTIONS, *OTHERS]} <= set(pages)
    with ZipFile(epub) as packed:
        files = set(packed.namelist())
    for section in SECTIONS:
        source = (ROOT / "notebooks" / f"{section}.md").read_text(encoding="utf-8")
        assert set(re.findall(r"\{figure\} img/(\S+)", source)) <= {path.removeprefix("_images/") for path in files}
        path = layout.notebook("notebooks", framework, section)
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        source = "\n".join("".join(cell["source"]) for cell in cells)
        told = len(re.findall(rf"<summary>(?:{say('Answer')}|{say('Solution')})</summary>", source))
        assert told
        assert len(list(find(pages[f"{section}.xhtml"], "div", "endnote"))) >= told, section


def test_no_sentence_speaks_of_what_only_the_screen_has(pages):
    assert re.findall(r"[^.]*\b(?:tabs?|Skip to content|switch at the top)\b[^.]*", text_of(pages)) == []


def test_the_documents_say_what_they_are(epub, pdf, layout):
    with ZipFile(epub) as packed:
        assert f"<dc:language>{layout.lang}</dc:language>" in packed.read("content.opf").decode()
    assert pdf.trailer["/Root"]["/Lang"] == layout.lang
    assert say("Computational Performance") in pdf.pages[0].extract_text()


def test_every_link_within_the_pdf_has_its_place(pdf):
    links = [note.get_object() for page in pdf.pages for note in page.get("/Annots", [])]
    found = [str(link["/Dest"]).removeprefix("/") for link in links if "/Dest" in link]
    assert len(found) > 500
    assert set(found) <= {name.removeprefix("/") for name in pdf.named_destinations}
    outside = [link["/A"]["/URI"] for link in links if "/URI" in link.get("/A", {})]
    assert {address.partition(":")[0] for address in outside} <= {"http", "https"}


def test_contents_name_every_section_with_its_page(pdf, pages):
    titles = [words(next(find(pages[f"{section}.xhtml"], "h1"))) for section in SECTIONS]
    titles.append(say("Appendix: Answers and Solutions"))
    marks = [" ".join(mark.title.split()) for mark in pdf.outline if not isinstance(mark, list)]
    assert [mark for mark in marks if mark in titles] == titles
    front = " ".join(page.extract_text() for page in pdf.pages[1:8])
    for section in SECTIONS:
        letters = "".join(words(next(find(pages[f"{section}.xhtml"], "h1"))).split())
        title = r"\s*".join(map(re.escape, letters))  # between Chinese and Latin letters, pypdf reads more spaces
        number = re.search(rf"{title}\s+(\d+)", front)
        assert number, letters
        assert re.search(title, pdf.pages[int(number[1]) - 1].extract_text())


def test_the_e_book_has_a_letter_for_each_character_that_it_shows(pages, epub):
    with ZipFile(epub) as packed:
        fonts = [packed.read(name) for name in packed.namelist() if name.endswith(".woff")]
    held = {chr(number) for font in fonts for number in TTFont(io.BytesIO(font)).getBestCmap()}
    assert {letter for letter in text_of(pages) if letter.isprintable()} - held == set()


def test_the_pdf_carries_the_fonts_that_it_uses(pdf, printed, layout):
    assert printed.stat().st_size <= MEGABYTES * 1e6 * len(SECTIONS)
    fonts = {}
    for page in pdf.pages:
        fonts |= {str(font.get_object()): font.get_object() for font in page["/Resources"].get("/Font", {}).values()}
    names = {str(font.get("/BaseFont")).rpartition("+")[2].partition("-")[0] for font in fonts.values()}
    assert CHINESE & names == (CHINESE if layout.language else set())
    for font in fonts.values():
        described = font["/DescendantFonts"][0].get_object() if "/DescendantFonts" in font else font
        drawn = font["/Subtype"] == "/Type3"  # its letters are drawings
        assert drawn or font["/BaseFont"].rpartition("+")[2].partition("-")[0] in FONTS | CHINESE
        assert drawn or {"/FontFile", "/FontFile2", "/FontFile3"} & described["/FontDescriptor"].get_object().keys()
