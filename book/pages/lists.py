"""Lists of what stands on all pages, such as the checklist: each page notes its own in its metadata when it is read.

A directive leaves the place of the list, which is filled when every page has been read.
"""

from collections.abc import Callable, Iterable
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

LISTS = "lists"  # in the metadata of a page that lists what stands on others
CONTENTS: dict[str, Callable[[BuildEnvironment], list[tuple[str, str]]]] = {}
"""Functions that return the titles of a list with their places, where these are not the sections."""


class listing(nodes.General, nodes.Element):
    """The place of a list, which the directive `name` has left."""


class Listing(SphinxDirective):
    """A list of what stands on all pages."""

    def run(self) -> list[nodes.Node]:
        """Return the list's place, which is filled when every page has been read."""
        self.env.metadata[self.env.docname][LISTS] = self.name
        return [listing(name=self.name)]


def places_of(document: nodes.document, name: str) -> list[listing]:
    """Return the places that a directive has left on a page."""
    return [place for place in document.findall(listing) if place["name"] == name]


def copies(parts: Iterable[Any]) -> list[Any]:
    """Return copies of nodes, which hold nothing of the page they come from."""
    found = [part.deepcopy() for part in parts]
    for part in found:
        for node in part.findall():
            node.document = None
    return found


def resolved(app: Sphinx, page: str, section: str, node: Any) -> Any:
    """Return a copy of a node of a section for `page`, where no list of works stands: a citation becomes text."""
    around = nodes.container("", node.deepcopy())
    for reference in list(around.findall(addnodes.pending_xref)):
        cited, domain = reference["refdomain"] == "cite", app.env.domains[reference["refdomain"]]
        where = (app.env, section if cited else page, app.builder)
        target = domain.resolve_xref(
            *where, reference["reftype"], reference["reftarget"], reference, reference[0].deepcopy()
        )
        linked = target if target and not cited else nodes.Text((target or reference).astext())
        reference.parent.replace(reference, linked)
    return around[0]


def add_contents(app: Sphinx, env: BuildEnvironment) -> None:
    """Add the sections of each list to the contents of its page, which Sphinx gathers before the list is there."""
    pages = env.toctree_includes.get(app.config.root_doc, [])
    for page in [page for page in env.metadata if LISTS in env.metadata[page]]:
        own = env.tocs[page][0]  # the title, and below it what this function added to a page that has not changed since
        name = env.metadata[page][LISTS]
        sections = [section for section in pages if name in env.metadata[section]]
        titles = [(env.titles[section].astext(), nodes.make_id(section)) for section in sections]
        listed = CONTENTS[name](env) if name in CONTENTS else titles
        own[1:] = [nodes.bullet_list("", *(content(page, *each) for each in listed))] if listed else []
        env.toc_num_entries[page] = 1 + len(listed)


def content(page: str, title: str, place: str) -> nodes.list_item:
    """Return the entry for a part of a list in the contents of its page."""
    link = nodes.reference("", "", nodes.Text(title), internal=True, refuri=page, anchorname=f"#{place}")
    return nodes.list_item("", addnodes.compact_paragraph("", "", link))


def outdated(app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]) -> list[str]:
    """Have the pages of lists written anew whenever any page has changed."""
    return [page for page, about in env.metadata.items() if LISTS in about] if added | changed | removed else []


def setup(app: Sphinx) -> None:
    app.add_node(listing)
    app.connect("env-get-outdated", outdated)
    app.connect("env-updated", add_contents)
