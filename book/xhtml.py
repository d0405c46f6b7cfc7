"""Pages and drawings of an e-book as XML: read, repaired where EPUBCheck refuses what browsers accept, written."""

import copy
import posixpath
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator

Element = ET.Element
XHTML, SVG, MATHML = "http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML"
OPF = "http://www.idpf.org/2007/opf"
PREFIXES = {  # of attributes; elements have none, so that each change of language names its space
    "http://www.w3.org/1999/xlink": "xlink",
    "http://www.idpf.org/2007/ops": "epub",
    "http://www.w3.org/XML/1998/namespace": "xml",
}
LINK = re.compile(r"(?P<page>[\w./-]+?)\.x?html(\?tab=\w+)?(?P<place>#.+)?")
REFERRING = ("id", "for", "headers", "list", "form") + tuple(
    f"aria-{word}"
    for word in ("labelledby", "describedby", "controls", "details", "owns", "flowto", "activedescendant")
)
PAINT = re.compile(r"""url\(\s*["']?#([^"')]+?)["']?\s*\)""")
SELECTOR = re.compile(r"#([\w-]+)")
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # characters that XML cannot hold
ADDRESS = re.compile(r"[A-Za-z][A-Za-z\d+.-]*:|//")  # that of no file beside a page, nor of a place in it
HALO = ("stroke", "stroke-width", "stroke-linejoin", "paint-order")


def split(name: str) -> tuple[str, str]:
    """Return namespace and local name of a tag or an attribute as ElementTree has it."""
    space, _, local = name.rpartition("}")
    return space.removeprefix("{"), local


def to_xml(root: Element, short: bool = True) -> str:
    """Return an element as text, without prefixes before the names of elements; `short` closes empty ones at once."""
    plain = copy.deepcopy(root)
    _declare(plain, "")
    for space, prefix in PREFIXES.items():
        if prefix != "xml" and any(name.startswith(f"{prefix}:") for node in plain.iter() for name in node.attrib):
            plain.set(f"xmlns:{prefix}", space)
    return FORBIDDEN.sub("", ET.tostring(plain, encoding="unicode", short_empty_elements=short))


def _declare(node: Element, around: str) -> None:
    space, node.tag = split(node.tag)
    if space != around:
        node.set("xmlns", space)
    for name in [name for name in node.attrib if name.startswith("{")]:
        place, local = split(name)
        node.set(f"{PREFIXES[place]}:{local}", node.attrib.pop(name))
    for child in node:
        _declare(child, space)


def page_text(root: Element) -> str:
    return f"<!DOCTYPE html>\n{to_xml(root)}\n"


def remove(parent: Element, child: Element) -> None:
    """Remove a child and leave the text after it."""
    place = list(parent).index(child)
    if place:
        parent[place - 1].tail = (parent[place - 1].tail or "") + (child.tail or "")
    else:
        parent.text = (parent.text or "") + (child.tail or "")
    parent.remove(child)


def links(root: Element) -> Iterator[tuple[Element, str]]:
    """Yield each link of a page that leads to a place in the book, with its address."""
    for node in root.iter():
        address = node.get("href", "")
        if split(node.tag)[1] == "a" and address and not re.match(r"[a-z]+:", address):
            yield node, address


def repair_page(root: Element) -> None:
    """Repair a page: links, whose addresses name no framework, and drawings, which XML has to be told are drawings."""
    for node, address in links(root):
        found = LINK.fullmatch(address)
        if found:
            node.set("href", f"{found['page']}.xhtml{found['place'] or ''}")
    for drawing in [node for node in root.iter() if split(node.tag) == (XHTML, "svg")]:
        if drawing.get("role") == "group":
            del drawing.attrib["role"]  # not among those that a drawing may have
        for part in list(drawing.iter()):
            part.tag = f"{{{SVG}}}{split(part.tag)[1]}"
            for words in [child for child in part if child.get("class") == "words"]:
                part.remove(words)  # shown while a mark is pointed at; its title says the same


def rename_ids(root: Element, new: Callable[[str], str]) -> None:
    """Give each element that has an id a new one, and let what refers to it within `root` follow."""
    names = {node.attrib["id"]: new(node.attrib["id"]) for node in root.iter() if "id" in node.attrib}
    for node in root.iter() if names else ():
        for attribute, value in list(node.attrib.items()):
            if attribute in REFERRING:
                node.set(attribute, " ".join(names.get(word, word) for word in value.split()))
            elif split(attribute)[1] in ("href", "usemap") and value.startswith("#"):
                node.set(attribute, f"#{names.get(value[1:], value[1:])}")
            elif "url(" in value:
                node.set(attribute, PAINT.sub(lambda found: f"url(#{names.get(found[1], found[1])})", value))
        if split(node.tag)[1] == "style":
            node.text = SELECTOR.sub(lambda found: f"#{names.get(found[1], found[1])}", node.text or "")


def dead_links(pages: dict[str, Element]) -> list[str]:
    """Return a line for each link to a page or a place that is not there; `pages` has each page by its path."""
    places = {path: {node.get("id") for node in root.iter()} for path, root in pages.items()}
    lines = []
    for path, root in pages.items():
        for _, address in links(root):
            file, _, place = address.partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), file)) if file else path
            if target not in places or (place and place not in places[target]):
                lines.append(f"{path}: nothing is at {address}")
    return lines


def properties(root: Element) -> list[str]:
    """Return what the list of an e-book's files has to say about a page."""
    spaces = {split(node.tag)[0] for node in root.iter()}
    return [word for word, space in (("mathml", MATHML), ("svg", SVG)) if space in spaces]


def repair_drawing(root: Element) -> None:
    """Repair a picture: no metadata, no path without data, no halo painted below its own letters."""
    for parent in list(root.iter()):
        for child in list(parent):
            name = split(child.tag)[1]
            if name == "metadata":
                parent.remove(child)
            elif name == "path" and not child.get("d"):
                child.set("d", "M0 0")  # a blank glyph, which text may still use
            elif child.get("paint-order"):
                parent.insert(list(parent).index(child), halo_of(child))


def halo_of(node: Element) -> Element:
    """Take the halo from letters; return a copy that has it, to be painted first."""
    halo = copy.deepcopy(node)
    del halo.attrib["paint-order"]
    for part in halo.iter():
        part.attrib.pop("id", None)
    for name in HALO:
        node.attrib.pop(name, None)
    return halo
