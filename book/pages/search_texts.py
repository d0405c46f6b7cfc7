"""What the search looks through: a script for each page, which a browser also reads from disk.

The script `_texts/<page>.js` calls d2lTexts with the page's name, its title and, compressed, the JSON of its places:

    [[anchor, title, [[framework or "", text], …]], …]

A place is a section, or an entry of a list of definitions that links lead to. A text is a paragraph with one sentence
a line, as in the source, or a row of a table. Code has a third item, 1; so have error messages, as they were printed.
What else a cell printed is left out, since a machine measured it.
`_static/search.js` reads it all once somebody searches. Sphinx's own index finds pages, not sentences: it is not made.
"""

import base64
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from book.pages.tabs import framework_of
from book.pages.text import plain, sentences
from d2l_lab.files import write_atomically

BLOCKS = (nodes.paragraph, nodes.caption, nodes.rubric, nodes.title, nodes.term)
SILENT = {"page-facts", "colophon", "machine-profile", "letters", "on-path", "onward"}
CAUGHT = re.compile(r"^\s*except\b", re.MULTILINE)
ERROR = re.compile(r"(?:Error|Exception|Warning)\b")

Place = tuple[str, str]  # anchor and title
Text = tuple[str, str] | tuple[str, str, int]


def places(document: nodes.document) -> list[tuple[str, str, list[Text]]]:
    """Return the places of a page in their order, each with its texts."""
    found: dict[Place, list[Text]] = {}
    for place, text in texts(document, ("", ""), ""):
        found.setdefault(place, []).extend(text)
    return [(*place, own) for place, own in found.items()]


def place_of(node: nodes.Element) -> Place | None:
    """Return the place that begins at `node`, if one does."""
    if isinstance(node, nodes.section):
        return node["ids"][0], plain(node[node.first_child_matching_class(nodes.title)])
    if isinstance(node, nodes.definition_list_item) and node[0]["ids"]:
        return node[0]["ids"][0], plain(node[0])
    return None


def texts(node: nodes.Element, place: Place, framework: str) -> Iterator[tuple[Place, list[Text]]]:
    """Yield the texts in `node`, which stands in this place and belongs to one framework or, "", to all."""
    begun = place_of(node)
    if begun:
        place = begun
        yield place, []
    framework = framework_of(node) or framework
    for child in node.children:
        if not isinstance(child, nodes.Element) or not SILENT.isdisjoint(child["classes"]):
            continue
        if "cell" in child["classes"]:
            yield place, code(child, framework_of(child) or framework)
        elif isinstance(child, nodes.literal_block):
            yield place, [(framework, child.astext().strip(), 1)]
        elif isinstance(child, nodes.row):
            yield place, [(framework, " · ".join(map(plain, child)))]
        elif not isinstance(child, BLOCKS):
            yield from texts(child, place, framework)
        elif plain(child) != place[1]:
            yield place, [(framework, sentences(child))]


def code(cell: nodes.Element, framework: str) -> list[Text]:
    """Return the code of a cell and what it printed of errors: all of it if the code catches any."""
    outputs = [node for node in cell.findall(nodes.container) if node.get("nb_element") == "cell_code_output"]
    printed = [block for output in outputs for block in output.findall(nodes.literal_block)]
    written = [block.astext() for block in cell.findall(nodes.literal_block) if block not in printed]
    lines = [line for block in printed for line in block.astext().strip().split("\n")]
    if not any(map(CAUGHT.search, written)):
        lines = [line for line in lines if ERROR.search(line)]
    return [(framework, text, 1) for text in (*written, "\n".join(lines)) if text]


def write_texts(
    app: Sphinx, page: str, template: str, context: dict[str, Any], document: nodes.document | None
) -> None:
    if app.builder.name == "html" and document is not None:
        listed = json.dumps(places(document), ensure_ascii=False, separators=(",", ":"))
        packed = base64.b64encode(zlib.compress(listed.encode(), 9)).decode()
        arguments = ", ".join(map(json.dumps, (page, app.env.titles[page].astext(), packed)))
        write_atomically(Path(app.outdir) / "_texts" / f"{page}.js", f"d2lTexts({arguments});\n")


def leave_out_index(app: Sphinx) -> None:
    if app.builder.name == "html":
        app.builder.search = False  # type: ignore[attr-defined]


def search_page(app: Sphinx) -> list[tuple[str, dict[str, Any], str]]:
    """Return the page that searches, which is told the names of all pages."""
    if app.builder.name != "html":
        return []
    order = list(app.env.collect_relations())
    pages = sorted(app.env.found_docs, key=lambda page: order.index(page) if page in order else len(order))
    return [("search", {"searched": pages}, "search.html")]


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", leave_out_index)
    app.connect("html-page-context", write_texts)
    app.connect("html-collect-pages", search_page)
