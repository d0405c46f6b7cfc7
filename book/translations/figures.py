"""The labels of the drawings: lines of text that stand one below the other are the lines of one label.

A catalogue has `**bold**` for what a drawing says in a bold <tspan>. What is in the monospaced font is code, and stays.
So do titles and descriptions, since pages show the alternative text.
"""

import re
from collections.abc import Callable, Iterator
from itertools import zip_longest
from xml.etree import ElementTree

from book.translations.units import FULL_WIDTH, HAN

SVG = "http://www.w3.org/2000/svg"
TEXT, TSPAN = f"{{{SVG}}}text", f"{{{SVG}}}tspan"
WORD = re.compile(r"\b[a-z]{2}|[A-Za-z]{4}")  # a label without one, such as t₁ or 48 KiB, is the same in all languages
LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
NEXT = 28  # units of a drawing, at most, from one line of a label to the next
ROOM = 0.7  # em that a line of a translation may be wider than the widest of the English label
BOLD = re.compile(r"\*\*(.+?)\*\*")
Label = list[ElementTree.Element]


def labels(root: ElementTree.Element) -> Iterator[Label]:
    """Yield the elements of each label of a drawing, in their order."""
    for parent in root.iter():
        label: Label = []
        for element in parent:
            if label and not continues(label[-1], element):
                yield label
                label = []
            if element.tag == TEXT and "Mono" not in element.get("font-family", parent.get("font-family", "")):
                label.append(element)
        if label:
            yield label


def continues(line: ElementTree.Element, element: ElementTree.Element) -> bool:
    """Tell whether an element is the next line of the label that a line belongs to."""
    own, other = line.attrib, element.attrib
    if element.tag != TEXT or own.get("x") != other.get("x") or own.get("font-weight") != other.get("font-weight"):
        return False
    return 0 < float(other.get("y", 0)) - float(own.get("y", 0)) <= NEXT


def words(label: Label) -> str:
    """Return a label as a catalogue has it."""
    rows = ([line.text or "", *(f"**{bold.text}**{bold.tail or ''}" for bold in line)] for line in label)
    return "\n".join("".join(row).strip() for row in rows)


def extract(drawing: str) -> list[str]:
    """Return the labels of a drawing that have words."""
    found = map(words, labels(ElementTree.fromstring(drawing)))
    return [text for text in found if WORD.search(text)]


def apply(drawing: str, translate: Callable[[str], str | None], tag: str) -> str:
    """Return a drawing in the language `tag`, a label without a translation or with too long a one as it is."""
    ElementTree.register_namespace("", SVG)
    root = ElementTree.fromstring(drawing)
    root.set(LANGUAGE, tag)
    parents = {child: parent for parent in root.iter() for child in parent}
    for label in list(labels(root)):
        rows = (translate(words(label)) or words(label)).split("\n")
        if len(rows) <= len(label):
            for line, row in zip_longest(label, rows):
                if row is None:
                    parents[line].remove(line)
                else:
                    rewrite(line, row)
    return ElementTree.tostring(root, encoding="unicode")


def rewrite(line: ElementTree.Element, row: str) -> None:
    """Make an element say a line of a catalogue."""
    del line[:]
    line.text, *parts = BOLD.split(row)
    for bold, tail in zip(parts[::2], parts[1::2], strict=True):
        tspan = ElementTree.SubElement(line, TSPAN, {"font-weight": "bold"})
        tspan.text, tspan.tail = bold, tail


def too_large(english: str, translation: str) -> Iterator[str]:
    """Yield a sentence for whatever of a label's translation has no room in the drawing."""
    lines, rows = english.split("\n"), translation.split("\n")
    if len(rows) > len(lines):
        yield f"has {len(rows)} lines, the English label {len(lines)}"
    most = max(map(width, lines)) + ROOM
    yield from (f"{row!r} is {width(row):.1f} em wide: at most {most:.1f}" for row in rows if width(row) > most)


def width(line: str) -> float:
    """Return about how many em a line is wide: Chinese characters are squares, letters about 0.6 em wide."""
    text = BOLD.sub(r"\1", line)
    return 0.6 * len(text) + 0.4 * len(re.findall(f"[{HAN}{FULL_WIDTH}]", text))
