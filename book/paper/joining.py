"""The pages of an e-book as one document with a title page, contents and an appendix of answers. Pure functions.

An id of a page gets the page's name before it, so that a link to another page becomes one within the document.
"""

import copy
import posixpath
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from book.words import say
from book.xhtml import ADDRESS, XHTML, Element, links, rename_ids, split

UNKNOWN = "000"  # stands for the number of a page until the document has been printed once


@dataclass(frozen=True)
class About:
    """What the title page says: title, authors, date and the machine that measured; and the language it is in."""

    title: str
    author: str
    date: str
    machine: str
    language: str = "en"


def element(tag: str, text: str = "", *children: Element, **attributes: str) -> Element:
    """Return an element of XHTML; `klass` is its class."""
    names = {name.replace("klass", "class").replace("_", "-"): value for name, value in attributes.items()}
    node = ET.Element(f"{{{XHTML}}}{tag}", names)
    node.text, node.tail = text or None, "\n"
    node.extend(children)
    return node


def find(root: Element, tag: str, klass: str = "") -> Iterator[Element]:
    """Yield the elements of XHTML with this tag and, if one is given, this class."""
    for node in root.iter(f"{{{XHTML}}}{tag}"):
        if not klass or klass in node.get("class", "").split():
            yield node


def words(node: Element) -> str:
    """Return the text of an element with single spaces."""
    return " ".join("".join(node.itertext()).split())


def slug(path: str) -> str:
    """Return the name of a page in the document: back/api.xhtml is back-api."""
    return path.removesuffix(".xhtml").replace("/", "-")


def chapter(path: str, root: Element, folder: str) -> Element:
    """Return the content of a page; `folder` is where the pages lie, seen from the document."""
    name, (body, *_) = slug(path), list(find(root, "div", "body"))
    content = element("div", "", *copy.deepcopy(list(body)), klass="chapter", style=f"page: {name}")
    above = posixpath.dirname(path)
    for node, address in list(links(content)):
        page, _, place = address.partition("#")
        target = slug(posixpath.normpath(posixpath.join(above, page))) if page else name
        node.set("href", f"#{target}--{place}" if place else f"#{target}")
    rename_ids(content, lambda id: f"{name}--{id}")  # what links led to has got its new name
    content.set("id", name)
    for node in content.iter():
        if not ADDRESS.match(node.get("src", "data:")):
            node.set("src", posixpath.join(folder, above, node.attrib["src"]))
    open_folds(content)
    return content


def open_folds(content: Element) -> None:
    """Open all folds but those of code that only checks or draws, which paper goes without."""
    for parent in list(content.iter()):
        for child in list(parent):
            if split(child.tag)[1] != "details":
                continue
            if "how" in child.get("class", "").split():
                parent.remove(child)
            else:
                child.set("open", "open")


def appendix(chapters: Sequence[Element]) -> Element | None:
    """Take the answers from the chapters; return them as one chapter, None if there are none."""
    parts = []
    for content in chapters:
        for parent in list(content.iter()):
            for answers in [child for child in parent if "answers" in child.get("class", "").split()]:
                parent.remove(answers)
                heading = element("h2", words(next(find(content, "h1"))))
                parts.append(element("section", "", heading, *list(answers)[1:], id=f"of-{content.get('id')}"))
    if not parts:
        return None
    title = element("h1", say("Appendix: Answers and Solutions"))
    return element("div", "", title, *parts, klass="chapter", id="answers", style="page: answers")


def number_links(document: Element) -> None:
    """Let the links between problems and answers say the page that they lead to."""
    for klass in ("to-note", "note-title"):
        for paragraph in find(document, "p", klass):
            for link in find(paragraph, "a"):
                number = element("span", UNKNOWN, klass="number", title=link.attrib["href"])
                link.tail, number.tail = say(", page {number}").split("{number}")
                paragraph.append(number)


def contents(chapters: Sequence[Element]) -> Element:
    lines = []
    for content in chapters:
        lines.append(line("h1", words(next(find(content, "h1"))), f"#{content.get('id')}"))
        for section in find(content, "section"):
            title = next((child for child in section if split(child.tag)[1] == "h2"), None)
            if title is not None:
                lines.append(line("h2", words(title), f"#{section.get('id')}"))
    return element("div", "", element("h1", say("Contents")), *lines, klass="contents")


def line(level: str, title: str, address: str) -> Element:
    number = element("span", UNKNOWN, klass="number", title=address)
    return element("p", "", element("a", title, href=address), number, klass=f"to-{level}")


def front(about: About) -> Element:
    lines = [element("p", text) for text in (about.author, about.date, about.machine) if text]
    return element("div", "", element("p", about.title, klass="title"), *lines, klass="front")


def running_heads(chapters: Sequence[Element]) -> str:
    """Return the style that puts the title of each chapter at the top of its pages."""
    rules = []
    for content in chapters:
        title = re.sub(r'["\\]', r"\\\g<0>", words(next(find(content, "h1"))))
        rules.append(f'@page {content.get("id")} {{ @top-right {{ content: "{title}" }} }}')
    return "\n".join(rules)


def joined(pages: Mapping[str, Element], about: About, folder: str, styles: Sequence[str]) -> Element:
    """Return the document that holds all pages in their order; `styles` are addresses."""
    chapters = [chapter(path, root, folder) for path, root in pages.items()]
    last = appendix(chapters)
    chapters += [] if last is None else [last]
    sheets = [element("link", rel="stylesheet", href=address) for address in styles]
    head = element("head", "", element("title", about.title), *sheets, element("style", running_heads(chapters)))
    body = element("body", "", front(about), contents(chapters), *chapters)
    number_links(body)
    return element("html", "", head, body, lang=about.language)


def numbered(document: Element, places: Mapping[str, int]) -> bool:
    """Fill in the numbers of pages, by the id of what is there; tell whether one of them has changed."""
    changed = False
    for span in find(document, "span", "number"):
        number = str(places[span.attrib["title"].removeprefix("#")])
        changed = changed or span.text != number
        span.text = number
    return changed
