"""Records on the pages: those that a cell shows, and those of the whole book that lie beside the pages.

A record comes as data, in an output of a MIME type that book/outputs.py names. Those of a kind that a cell shows one
after the other become one piece of HTML, such as one table.
"""

import json
from itertools import groupby
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_nb.core.render import load_mime_renders
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform

from book.record_html import HTML, Record
from book.stops import tells


def collected(env: BuildEnvironment, name: str) -> list[Record]:
    """Return the records that the build wrote beside the pages; none if no notebook ran.

    `name` is "claims", "predictions" or "running-totals". The page at hand is written anew when they change.
    """
    path = Path(env.srcdir) / f"{name}.json"
    env.note_dependency(path)
    found: list[Record] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return found


def raw(html: str) -> nodes.raw:
    return nodes.raw("", html, format="html")


class record(nodes.General, nodes.Element):
    """A record on a page that is being read."""


class RecordRenderer:
    """A renderer of MyST-NB for outputs that are records."""

    mime_priority_overrides = [("*", mime, 1) for mime in HTML]

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[nodes.Node] | None:
        """Return the node of an output, or None if it is no record."""
        return [record(content=data.content)] if data.mime_type in HTML else None


def kind_of(node: Any) -> str:
    """Return the MIME type of the record in an output, "" for any other node."""
    if not isinstance(node, nodes.container) or node.get("nb_element") != "mime_bundle":
        return ""
    return next((child["mime_type"] for child in node.children if child.get("mime_type") in HTML), "")


def mark_terms(outputs: Any) -> None:
    """Give what a cell printed above its first stop the class `terms`: a reader may need it in order to guess.

    Where it has one of the figures that he is to guess it gets none, and is covered with all else.
    """
    records = [(output, each["content"]) for output in outputs.children for each in output.findall(record)]
    stops = [(output, content) for output, content in records if content.get("guess")]
    if not stops:
        return
    for output in outputs.children[: outputs.index(stops[0][0])]:
        for block in output.findall(nodes.literal_block):
            if not any(tells(block.astext(), content) for _, content in stops):
                block["classes"].append("terms")


class ShowRecords(SphinxTransform):
    """Show the records of a kind that follow each other as one."""

    default_priority = 194  # while a cell's outputs still stand side by side

    def apply(self, **kwargs: Any) -> None:
        parents = {id(output.parent): output.parent for output in self.document.findall(kind_of)}
        for parent in parents.values():
            mark_terms(parent)
            for kind, group in groupby(list(parent.children), kind_of):
                if kind:
                    outputs: list[Any] = list(group)
                    first, *others = [next(output.findall(record)) for output in outputs]
                    html = HTML[kind]([each["content"] for each in (first, *others)])
                    first.parent.replace(first, raw(html))
                    for output in outputs[1:]:
                        parent.remove(output)


def setup(app: Sphinx) -> None:
    """Register renderer and transform; MyST-NB keeps the list of renderers that it made."""
    if RecordRenderer not in load_mime_renders():
        load_mime_renders().append(RecordRenderer)
    app.add_transform(ShowRecords)
