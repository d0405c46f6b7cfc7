"""The fonts that paper, e-books and slides carry, so that lines and pages break alike on every machine.

They come from packages that are pinned: STIX General and DejaVu from Matplotlib, STIX Two Math, which has the table
that formulas are laid out by, from ziamath, Source Sans from reveal.js, and Noto Serif and Noto Sans for Chinese from
pylopdf-fonts-zh-cn. Each is cut down to the characters in use.
"""

import base64
import io
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from html import unescape
from importlib.util import find_spec
from pathlib import Path
from xml.etree.ElementTree import Element

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

from book import BookError

logging.getLogger("fontTools.subset").setLevel(logging.WARNING)  # it tells each table that it leaves out
PRINTABLE = frozenset(map(chr, range(0x20, 0x7F)))  # which counters and escapes may show
# Nearly all that drawings show: a font that has been cut down to it once is cut again within milliseconds.
COMMON = PRINTABLE.union(*(map(chr, range(*ends)) for ends in ((0xA0, 0x100), (0x370, 0x400), (0x2010, 0x2300))))
# A browser sets the variables of formulas in letters of their own: 𝑥 for x, 𝛼 for α; Planck's constant stands for 𝘩.
ITALIC = frozenset(map(chr, [*range(0x1D434, 0x1D468), *range(0x1D6E2, 0x1D71C), 0x210E]))
FORMULAS = ITALIC | {"√"}  # and draws the sign of a root, of which a formula's elements hold no character
# What Chinese fonts are for: a style can name them first, and Latin letters are still those of the next font.
WIDE = frozenset("—‘’“”…").union(map(chr, range(0x2E80, 0xFFF0)))
WIDE_IN_CSS = "U+2014, U+2018-201D, U+2026, U+2E80-FFEF"
CHINESE = "pylopdf_fonts_zh_cn"  # the package of these fonts


@dataclass(frozen=True)
class Face:
    """A font: its family, weight and style in CSS, and the file that holds it, in an installed package."""

    family: str
    package: str
    path: str
    weight: int = 400
    style: str = "normal"

    @property
    def name(self) -> str:
        return Path(self.path).stem


def matplotlib(family: str, name: str, weight: int = 400, style: str = "normal") -> Face:
    return Face(family, "matplotlib", f"mpl-data/fonts/ttf/{name}.ttf", weight, style)


def reveal(name: str, weight: int, style: str) -> Face:
    path = f"_static/revealjs/dist/theme/fonts/source-sans-pro/source-sans-pro-{name}.ttf"
    return Face("Source Sans Pro", "sphinx_revealjs", path, weight, style)


SERIF = (
    matplotlib("STIX General", "STIXGeneral"),
    matplotlib("STIX General", "STIXGeneralItalic", style="italic"),
    matplotlib("STIX General", "STIXGeneralBol", 700),
    matplotlib("STIX General", "STIXGeneralBolIta", 700, "italic"),
    Face("Noto SC", CHINESE, "NotoSerifSC-Regular.otf"),
    Face("Noto SC", CHINESE, "NotoSansSC-Regular.otf", 700),  # as Chinese printers stress words
)
SANS = (
    reveal("regular", 400, "normal"),
    reveal("italic", 400, "italic"),
    reveal("semibold", 600, "normal"),
    reveal("semibolditalic", 600, "italic"),
    Face("Noto Sans SC", CHINESE, "NotoSansSC-Regular.otf"),
)
MONO = (
    matplotlib("DejaVu Sans Mono", "DejaVuSansMono"),
    matplotlib("DejaVu Sans Mono", "DejaVuSansMono-Oblique", style="italic"),
    matplotlib("DejaVu Sans Mono", "DejaVuSansMono-Bold", 700),
)
MATH = (Face("STIX Two Math", "ziamath", "fonts/STIXTwoMath-Regular.ttf"),)
SYMBOLS = (matplotlib("DejaVu Sans", "DejaVuSans"),)  # for what the fonts of text lack, such as ✗
FIGURES = (  # of the drawings, which name DejaVu and then Verdana
    *SYMBOLS,
    matplotlib("DejaVu Sans", "DejaVuSans-Bold", 700),
    MONO[0],
    Face("Verdana", CHINESE, "NotoSansSC-Regular.otf"),
)


def characters(texts: Iterable[str]) -> frozenset[str]:
    """Return the characters that pages may show; `texts` are their files."""
    return PRINTABLE.union(*map(unescape, texts))


def used(faces: Sequence[Face], wanted: frozenset[str]) -> list[Face]:
    """Return those of some fonts that pages with these characters use: the Chinese ones only if there is Chinese."""
    has_chinese = any("\u3400" <= letter <= "\u9fff" for letter in wanted)
    return [face for face in faces if has_chinese or face.package != CHINESE]


def cut(content: bytes, wanted: frozenset[str]) -> bytes:
    """Return a font (a file in WOFF) with these characters, as far as it has them, and what formulas make of them."""
    options = Options(flavor="woff", hinting=False, notdef_outline=True, drop_tables=["FFTM", "DSIG", "webf", "VORG"])
    font = TTFont(io.BytesIO(content), recalcTimestamp=False)
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=map(ord, wanted))
    subsetter.subset(font)
    if "CFF " in font:
        make_quadratic(font)
    font.flavor = options.flavor
    written = io.BytesIO()
    font.save(written)
    return written.getvalue()


def make_quadratic(font: TTFont) -> None:
    """Change a font's cubic outlines into quadratic ones: as cubic ones, Chromium prints each letter as a drawing."""
    cubic, outlines = font.getGlyphSet(), {}
    for name in font.getGlyphOrder():
        pen = TTGlyphPen(None)
        cubic[name].draw(Cu2QuPen(pen, max_err=1, reverse_direction=True))
        outlines[name] = pen.glyph()
    del font["CFF "]
    font.sfntVersion = "\0\1\0\0"
    builder = FontBuilder(font=font)
    builder.isTTF = True
    builder.setupGlyf(outlines)
    builder.setupMaxp()
    builder.setupPost(keepGlyphNames=False)


@cache
def woff(face: Face, wanted: frozenset[str]) -> bytes:
    package = find_spec(face.package)  # importing it would take a while
    if package is None or package.origin is None:
        raise BookError(f"the package {face.package}, which holds the font {face.name}, is missing: make setup")
    content = (Path(package.origin).parent / face.path).read_bytes()
    if face.package == CHINESE:
        return cut(content, wanted & WIDE)
    return cut(content, wanted | FORMULAS if face in MATH else wanted)


def embedded(content: bytes) -> str:
    """Return the address of a font that holds the font itself."""
    return f"data:font/woff;base64,{base64.b64encode(content).decode()}"


def rule(face: Face, address: str) -> str:
    """Return the rule of CSS that says where a font is."""
    characters = f"unicode-range: {WIDE_IN_CSS}; " if face.package == CHINESE else ""
    return (
        f'@font-face {{ font-family: "{face.family}"; font-weight: {face.weight}; font-style: {face.style}; '
        f"{characters}src: url({address}) }}\n"
    )


def sheet(faces: Sequence[Face], wanted: frozenset[str]) -> str:
    """Return rules of CSS that hold those of these fonts that are used, with these characters."""
    return "".join(rule(face, embedded(woff(face, wanted))) for face in used(faces, wanted))


def carry(drawings: Sequence[Element]) -> None:
    """Put into drawings (roots of files in SVG) the fonts of their text: pages show each as a picture of its own."""
    for drawing in drawings:
        join_lines(drawing)
    letters = {drawing: frozenset("".join(words)) for drawing in drawings if (words := texts(drawing))}
    all_letters = COMMON.union(*letters.values())
    for drawing, wanted in letters.items():
        settings = {value for node in drawing.iter() for value in node.attrib.values()}
        bold, mono = "bold" in settings, any("Mono" in value for value in settings)
        faces = [face for face in used(FIGURES, wanted) if (bold or face.weight < 700) and (mono or face not in MONO)]
        style = Element(f"{drawing.tag.removesuffix('svg')}style")
        style.text = "".join(rule(face, embedded(cut(woff(face, all_letters), wanted))) for face in faces)
        drawing.insert(0, style)


def join_lines(drawing: Element) -> None:
    """Take line breaks between the parts of a text out of a drawing: they would be spaces in a font of the system."""
    for node in drawing.iter():
        if node.tag.rpartition("}")[2] == "text" and len(node):
            node.text = joined(node.text)
            for part in node:
                part.tail = joined(part.tail)


def joined(blank: str | None) -> str | None:
    """Return what stands between two parts of a text, None where it is a line break alone."""
    return None if blank and "\n" in blank and not blank.strip() else blank


def texts(drawing: Element) -> list[str]:
    found = [node for node in drawing.iter() if node.tag.rpartition("}")[2] == "text"]
    return [words for node in found for words in node.itertext()]
