"""Text in nodes of a page, and Chinese in it."""

import re
import xml.etree.ElementTree as ET

from docutils import nodes

from book.formulas import TeXError, mathml
from book.translations.units import HAN

HAN_CHARACTER = re.compile(f"[{HAN}]")
SIGNS = {"mfrac": "/", "msup": "^"}  # what a formula says by its layout
WITHIN_SENTENCE = re.compile(r"(?<![.?!:])\n")
CHINESE_SENTENCE = re.compile(r"(?<=[。？！])(?=[^\n])")


def plain(node: nodes.Node) -> str:
    """Return the text of `node`, its formulas as they are read."""
    if isinstance(node, nodes.math):
        try:
            return flat(ET.fromstring(mathml(node.astext()))[0][0])
        except TeXError:  # told by book.pages.maths
            return node.astext()
    if isinstance(node, nodes.raw):  # a drawing or a mark
        return ""
    return node.astext() if isinstance(node, nodes.Text) else "".join(map(plain, node.children))


def flat(element: ET.Element) -> str:
    """Return the text of MathML on one line."""
    sign = SIGNS.get(element.tag.rpartition("}")[2], "")
    return (element.text or "") + sign.join(map(flat, element))


def sentences(node: nodes.Node) -> str:
    """Return the text of `node` with one sentence a line."""
    return CHINESE_SENTENCE.sub("\n", WITHIN_SENTENCE.sub(" ", plain(node)).strip())
