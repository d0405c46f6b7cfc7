"""The two-hour path: a table on the landing page links to what to read first, and those headings bear a mark.

The table stands under the heading "In Two Hours" of index.md: in its first column a link to a section, in its second
the headings of that section in italics.
"""

from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

from book.words import say

KEY = "d2l_path"  # of the environment, in which the path is kept
LOG = logging.getLogger(__name__)


def rows_of(landing: nodes.document) -> Iterator[Any]:
    for section in landing.findall(nodes.section):
        if section[0].astext() == say("In Two Hours"):
            for body in section.findall(nodes.tbody):
                yield from body.findall(nodes.row)


def path_of(landing: nodes.document) -> dict[str, list[str]]:
    """Return the headings that the landing page names, section by section; {} if it has no such table."""
    found = {}
    for row in rows_of(landing):
        link = next(row[0].findall(addnodes.pending_xref))
        found[link["reftarget"]] = [heading.astext() for heading in row[1].findall(nodes.emphasis)]
    return found


def link_path(app: Sphinx, document: nodes.document, page: str) -> None:
    """Let each heading that the landing page names link to its place."""
    if page != app.config.root_doc or app.builder.format != "html":
        return
    for row, section in zip(rows_of(document), getattr(app.env, KEY, {}), strict=False):
        address = app.builder.get_relative_uri(page, section)
        places = {part.astext(): part["anchorname"] for part in app.env.tocs[section].findall(nodes.reference)}
        for name in list(row[1].findall(nodes.emphasis)):
            if name.astext() in places:
                place = address + places[name.astext()]
                name.parent.replace(name, nodes.reference("", "", name.deepcopy(), refuri=place, internal=True))


class MarkPath(SphinxPostTransform):
    """Put the mark under each heading of a page that is on the path; warn of one that the page lacks."""

    default_priority = 5  # while titles are as they were written

    def run(self, **kwargs: Any) -> None:
        page = self.env.docname
        sections = {section[0].astext(): section for section in self.document.findall(nodes.section)}
        for heading in getattr(self.env, KEY, {}).get(page, []):
            if heading in sections:
                sections[heading].insert(1, nodes.paragraph("", say("on the two-hour path"), classes=["on-path"]))
            elif self.config.language == "en":  # a translation may have translated only one of the two
                LOG.warning("index.md: the two-hour path names %r, which is no heading of %s", heading, page)


def note_path(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Note the path once all pages are read; return the pages to write anew because it has changed."""
    root = env.config.root_doc
    old, new = getattr(env, KEY, {}), path_of(env.get_doctree(root)) if root in env.found_docs else {}
    setattr(env, KEY, new)
    return [page for page in old | new if old.get(page) != new.get(page) and page in env.found_docs]


def setup(app: Sphinx) -> None:
    app.add_post_transform(MarkPath)
    app.connect("env-updated", note_path)
    app.connect("doctree-resolved", link_path)
