"""The fonts that documents and slides carry: what each holds, and that styles name no others."""

import io
import re
import xml.etree.ElementTree as ET

import pytest
from fontTools.ttLib import TTFont

from book import ROOT
from book.fonts import CHINESE, FIGURES, MATH, MONO, SANS, SERIF, SYMBOLS, carry, characters, sheet, used, woff
from book.slides.writing import with_fonts

ALL = sorted({*SERIF, *SANS, *MONO, *MATH, *FIGURES}, key=lambda face: face.name)
STYLES = ["book/pages/_epub/epub.css", "book/paper/paper.css", "book/slides/template/d2l/deck.css"]
GENERIC = {"serif", "sans-serif", "monospace", "math"}
DRAWING = '<svg xmlns="http://www.w3.org/2000/svg"><text{}>{}</text></svg>'


def held(content):
    return set(map(chr, TTFont(io.BytesIO(content)).getBestCmap()))


@pytest.mark.parametrize("face", ALL, ids=lambda face: face.name)
def test_a_font_is_cut_down_to_the_characters_in_use(face):
    wanted = frozenset("ab1→中“")
    content = woff(face, wanted)
    assert ({"中", "“"} if face.package == CHINESE else {"a", "b", "1"}) <= held(content)
    assert "c" not in held(content)


@pytest.mark.parametrize("face", [SERIF[0], MATH[0]], ids=lambda face: face.name)
def test_a_font_is_the_same_each_time(face):
    wanted = frozenset("ab1→")
    assert woff.__wrapped__(face, wanted) == woff.__wrapped__(face, wanted)


@pytest.mark.parametrize("face", [face for face in SERIF if face.package == CHINESE], ids=lambda face: face.name)
def test_a_chinese_font_has_outlines_that_a_pdf_takes_for_chinese_alone(face):
    content = woff(face, frozenset("a中"))
    assert held(content) == {"中"}
    assert "glyf" in TTFont(io.BytesIO(content))


def test_formulas_get_the_letters_that_they_are_laid_out_with():
    content = woff(MATH[0], frozenset("x+"))
    assert {"x", "+", "𝑥", "𝛼", "ℎ", "√"} <= held(content)
    assert "MATH" in TTFont(io.BytesIO(content))


def test_every_character_of_the_sources_is_in_the_fonts_of_text():
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "notebooks").rglob("*.md")]
    wanted = characters(texts) - {"\n", "\t"}
    for text in (SERIF[0], SANS[0], MONO[0]):
        assert wanted - held(woff(text, wanted)) - held(woff(SYMBOLS[0], wanted)) == set(), text.family


@pytest.mark.parametrize("path", STYLES)
def test_styles_name_only_fonts_that_are_carried(path):
    style = (ROOT / path).read_text(encoding="utf-8")
    lists = re.findall(r'font(?:-family)?: [^;"]*((?:"[^"]+"(?:, )?)+[^;]*);', style)
    named = {name.strip(' "') for found in lists for name in found.split(",")}
    assert named - GENERIC <= {face.family for face in (*SERIF, *SANS, *MONO, *MATH, *SYMBOLS)}
    assert len(named) > 1


@pytest.mark.parametrize(
    ("attributes", "text", "fonts"),
    [
        ("", "“12 µs”", ["400"]),  # in Chinese, these quotation marks are Chinese
        (' font-weight="bold"', "12 µs", ["400", "700"]),
        (" font-family=\"'DejaVu Sans Mono', monospace\"", "12 µs", ["400", "400"]),
        (' font-weight="bold"', "队列", ["400", "700", "400"]),
    ],
)
def test_a_drawing_carries_the_fonts_of_its_text(attributes, text, fonts):
    drawing = ET.fromstring(DRAWING.format(attributes, text))
    carry([drawing])
    assert re.findall(r"font-weight: (\d+)", drawing[0].text) == fonts
    assert "url(data:font/woff;base64," in drawing[0].text


def test_a_text_of_several_parts_has_no_spaces_in_a_font_of_the_system():
    drawing = ET.fromstring("<svg><text>\n <tspan>1</tspan>\n <tspan>0</tspan> of <tspan>2</tspan>\n</text></svg>")
    carry([drawing])
    assert "".join(drawing.find("text").itertext()) == "10 of 2"


def test_decks_carry_their_fonts_which_have_the_characters_of_all_of_them():
    decks = with_fonts({"a": "<head></head>α", "b": "<head></head>b"})
    carried = used((*SANS, *MONO, *MATH, *SYMBOLS), frozenset("αb"))
    assert all(deck.count("@font-face") == len(carried) for deck in decks.values())
    assert decks["a"].partition("</head>")[0] == decks["b"].partition("</head>")[0]
    assert sheet(SYMBOLS, characters(["αb"])) in decks["a"]
