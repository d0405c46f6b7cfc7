"""HTML and drawings that a cell displays, read as a browser reads them and written so that HTML and XML can hold them.

Whatever is left open in a fragment ends with it, and its ids are its own, so that nothing of a page around it changes.
"""

import re
import xml.etree.ElementTree as ET
from html import unescape
from typing import Any

from book.xhtml import ADDRESS, FORBIDDEN, MATHML, PREFIXES, SVG, XHTML, Element, remove, rename_ids, split, to_xml

NO_TEXT = {"script", "style", "iframe", "object", "embed", "template", "noscript", "base", "link", "meta"}
FORMER = {"font", "center", "big", "tt", "strike", "acronym", "nobr", "blink", "marquee"}  # elements of HTML
FORMER_ATTRIBUTES = {"align", "bgcolor", "border", "cellpadding", "cellspacing", "char", "color", "face", "frame"}
FORMER_ATTRIBUTES |= {"name", "nowrap", "rules", "scoped", "valign"}
INLINE = FORMER | {"a", "b", "code", "em", "i", "kbd", "label", "mark", "s", "small", "span"}
INLINE |= {"strong", "sub", "sup", "u"}
BLOCKS = {"blockquote", "dl", "div", "figure", "hr", "ol", "p", "pre", "table", "ul"}
BLOCKS |= {f"h{level}" for level in range(1, 7)}
SIZED = ("img", "video", "canvas")
NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
VOID = "area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr"
UNCLOSED = re.compile(rf"(<(?:{VOID})\b[^<>]*)></(?:{VOID})>")  # </br> would be one more line break
RAW = re.compile(r"(<(script|style)\b[^<>]*>)([^<]*[<&][^<]*)(?=</\2>)")
OF_PAGE = {(XHTML, name) for name in ("base", "link", "meta", "title")}  # which would change the page around a fragment
AS_THEY_ARE = {"xmp", "plaintext", "listing"}  # in which a browser reads no tags


def contained(html: str, name: str, alt: str = "") -> str:
    """Return HTML that a cell displays as one element that is as good XML as HTML.

    Ids begin with `name`, which is nobody else's, unless a script may look for them; `alt` stands for a picture whose
    maker gave it no words. ValueError says why it cannot be written.
    """
    root = tree(html, fragment=True)
    root.tag, root.attrib = f"{{{XHTML}}}div", {"class": "html-output"}
    replace_files(root, alt)
    if root.find(f".//{{{XHTML}}}script") is None:
        rename_ids(root, lambda id: f"{name}-{id}")
    try:
        return polyglot(root)
    except RecursionError:
        raise ValueError("is nested too deeply") from None


def replace_files(root: Element, alt: str) -> None:
    """Put words in the place of what leads to the run's files, which pages lack, and head no column by nothing."""
    places = {f"#{node.get('id')}" for node in root.iter()}
    for node in root.iter():
        for link in [link for link in ("href", "src") if link in node.attrib]:
            address = node.attrib[link]
            if address not in places and not ADDRESS.match(address):
                del node.attrib[link]
        if split(node.tag) == (XHTML, "a") and not {"href", "id"} & node.attrib.keys():
            node.tag = f"{{{XHTML}}}span"
        if split(node.tag) == (XHTML, "th") and not len(node) and not node.text:
            node.tag, node.attrib = f"{{{XHTML}}}td", {}  # a heading of nothing, in the corner
        if split(node.tag) == (XHTML, "img"):
            node.set("alt", node.get("alt", alt))
            if "src" not in node.attrib:
                node.tag, node.text, node.attrib = f"{{{XHTML}}}span", node.attrib["alt"], {}


def drawing(svg: str) -> str:
    """Return `svg` if it is XML, else the drawing that a browser finds in it; ValueError if there is none."""
    try:
        if ET.fromstring(svg).tag == f"{{{SVG}}}svg":
            return svg
    except ET.ParseError:
        pass
    found = tree(svg, fragment=True).find(f".//{{{SVG}}}svg")
    if found is None:
        raise ValueError("holds no drawing")
    found.tail = None
    return to_xml(found)


def page(text: str) -> Element:
    """Return the tree of a page that is XML or, if it is not, what a browser makes of it as HTML."""
    try:
        return ET.fromstring(FORBIDDEN.sub("", text))
    except ET.ParseError:
        return tree(text)


def tree(html: str, fragment: bool = False) -> Element:
    """Return what a browser makes of a page, or of a fragment of one, with names that XML accepts, without comments."""
    import html5lib  # most builds read no HTML

    parse: Any = html5lib.parseFragment if fragment else html5lib.parse
    root: Element = parse(html, treebuilder="etree", namespaceHTMLElements=True)
    for parent in list(root.iter()):
        for child in list(parent):
            if not isinstance(child.tag, str) or fragment and split(child.tag) in OF_PAGE:
                remove(parent, child)
    for node in root.iter():
        space, local = split(node.tag)
        if space not in (XHTML, SVG, MATHML) or not NAME.fullmatch(local):
            node.tag = f"{{{XHTML}}}span"
        elif local in AS_THEY_ARE:
            node.tag = f"{{{XHTML}}}pre"
        for attribute in list(node.attrib):
            place, local = split(attribute)
            if local == "xmlns" or not NAME.fullmatch(local) or place and place not in PREFIXES:
                del node.attrib[attribute]
    return root


def make_printable(root: Element) -> None:
    """Take from the body of a page what no e-book may have, but no text; words replace a picture from elsewhere."""
    parents = [parent for body in root.iter(f"{{{XHTML}}}body") for parent in body.iter()]
    for parent in parents:
        for child in [child for child in parent if split(child.tag)[0] == XHTML]:
            name = split(child.tag)[1]
            if name in NO_TEXT:
                remove(parent, child)
            elif name == "img" and ADDRESS.match(child.get("src", "").removeprefix("data:")):
                child.tag, child.text, child.attrib = f"{{{XHTML}}}span", child.get("alt"), {}
            elif name in INLINE and any(split(part.tag)[1] in BLOCKS for part in child.iter()):
                child.tag, child.attrib = f"{{{XHTML}}}div", {}
            elif name in FORMER or "-" in name:
                child.tag = f"{{{XHTML}}}span"
            for attribute in list(child.attrib):
                sized = attribute in ("width", "height") and name not in SIZED
                if sized or attribute in FORMER_ATTRIBUTES or attribute.startswith("on"):
                    del child.attrib[attribute]


def polyglot(root: Element) -> str:
    """Return an element as text that parsers of HTML and of XML read alike."""
    return RAW.sub(raw, UNCLOSED.sub(r"\1/>", to_xml(root, short=False)))


def raw(found: re.Match[str]) -> str:
    """Return a script or a style whose text needs no escapes: HTML knows none there."""
    start, kind, text = found[1], found[2], unescape(found[3])
    if "json" in start:
        return start + text.replace("<", r"\u003c").replace("&", r"\u0026")
    text = text.replace("]]>", "]] >")
    return f"{start}//<![CDATA[\n{text}\n//]]>" if kind == "script" else f"{start}/*<![CDATA[*/{text}/*]]>*/"
