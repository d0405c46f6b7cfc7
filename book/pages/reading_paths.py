"""The paths through the book: tables of the landing page link to their parts, which bear marks and lead on to the next.

A part says too which names its cells use from parts that the path skips, with links to these.
"""

import json
from collections.abc import Sequence
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.nodes import traverse_parent

from book import FRAMEWORKS
from book.cells import Entry
from book.pages.tabs import tab_set
from book.paths import OPENINGS, PATHS, Row, after, borrowed, ends, headings, marks, on, onward, paths_in
from book.words import say

KEY = "d2l_paths"  # of the environment, in which what `noted` returns is kept
Needs = dict[str, dict[str, dict[str, set[str]]]]  # by framework, part, and the part that defines them: names
SIGNS = {"laptop": "◆", "gpu": "◇"}  # of a path in the contents of a page
LOG = logging.getLogger(__name__)


def noted(env: BuildEnvironment) -> tuple[dict[str, list[Row]], dict[tuple[str, str], Needs]]:
    """Return the rows of each path, and by path and page what its parts use from those that it skips."""
    return getattr(env, KEY, ({}, {}))


def link_paths(app: Sphinx, document: nodes.document, page: str) -> None:
    """Let each part that the landing page names link to its place."""
    if page != app.config.root_doc or app.builder.format != "html":
        return
    for section in document.findall(nodes.section):
        if section[0].astext() not in headings().values():
            continue
        for row in [row for body in section.findall(nodes.tbody) for row in body.findall(nodes.row)]:
            links = list(row[0].findall(nodes.reference))
            for name in list(row[1].findall(nodes.emphasis)) if links else ():
                target = links[0]["refuri"].partition(".")[0]
                place = place_of(app, page, target, name.astext())
                if place:
                    name.parent.replace(name, nodes.reference("", "", name.deepcopy(), refuri=place, internal=True))


def place_of(app: Sphinx, page: str, section: str, title: str) -> str:
    """Return the address of a part from a page, "" if there is none."""
    for part in app.env.tocs[section].findall(nodes.reference) if section in app.env.tocs else ():
        if part.astext() == title:
            return app.builder.get_relative_uri(page, section) + part["anchorname"]
    return ""


class MarkPaths(SphinxPostTransform):
    """Put a mark under each heading of a page that is on a path, and a link to the next at its end."""

    default_priority = 5  # while titles are as they were written
    sphinx: Sphinx  # which `setup` sets

    def run(self, **kwargs: Any) -> None:
        page = self.env.docname
        sections = {section[0].astext(): section for section in self.document.findall(nodes.section)}
        rows, needs = noted(self.env)
        for path, own in rows.items():
            for part in on(own, page):
                if part in sections:
                    self.note(path, sections[part])
                elif self.config.language == "en":  # a translation may have translated only one of the two
                    LOG.warning("index.md: the %s path names %r, which is no heading of %s", path, part, page)
        for title, section in sections.items():
            whole, opening = section.get(PATHS, []), section.get(OPENINGS, [])
            if not (whole or opening) or not isinstance(section.parent, nodes.section):
                continue
            told = [marks()[path] for path in whole]
            told += [say("the opening is {mark}", mark=marks()[path]) for path in opening if path not in whole]
            mark = nodes.paragraph("", say(" · ").join(told), classes=["on-path"])
            found = [needs[path, page] for path in whole if (path, page) in needs]
            section.insert(1, [mark, *self.needs(title, found)])
            section += [self.onward(rows[path], path, title) for path in whole if title in on(rows[path], page)]

    def note(self, path: str, section: nodes.section) -> None:
        """Note in a section that a path reads it, and in those around it that the path reads what they open with."""
        section.setdefault(PATHS, []).append(path)
        for around in traverse_parent(section.parent, nodes.section):
            if path not in around.setdefault(OPENINGS, []):
                around[OPENINGS].append(path)

    def needs(self, title: str, found: Sequence[Needs]) -> list[nodes.Element]:
        """Return what names the names that the cells of a part use from parts that its path skips, by framework."""
        frameworks = self.env.metadata[self.env.docname].get("frameworks", [])
        named: dict[str, dict[str, set[str]]] = {}
        for framework in frameworks:
            for needs in found:
                for other, names in needs.get(framework, {}).get(title, {}).items():
                    named.setdefault(framework, {}).setdefault(other, set()).update(names)
        if len(named) == len(frameworks) and all(own == named[frameworks[0]] for own in named.values()):
            return [self.need(named[frameworks[0]])] if named else []
        panels = []
        for framework, own in named.items():
            panel = nodes.container("", self.need(own), classes=["prose", f"tag_{framework}"])
            panel.source, panel.line = self.document["source"], 1
            panels.append(panel)
        return [tab_set(panels, frameworks)] if panels else []

    def need(self, named: dict[str, set[str]]) -> nodes.paragraph:
        """Return the line of these names, by the parts that define them."""
        line = nodes.paragraph("", say("Its cells use names from parts that the path skips: "), classes=["on-path"])
        for title, names in named.items():
            for place, name in enumerate(sorted(names)):
                line += [nodes.Text(say(", ") if place or len(line) > 1 else ""), nodes.literal("", name)]
            address = place_of(self.sphinx, self.env.docname, self.env.docname, title)
            link = nodes.reference("", title, refuri=f"#{address.partition('#')[2]}", internal=True)
            line += [nodes.Text(say(" (")), link, nodes.Text(say(")"))]
        return line

    def onward(self, rows: Sequence[Row], path: str, title: str) -> nodes.paragraph:
        """Return the line at the end of a part: a link to the next, or that it is the last."""
        following = after(rows, self.env.docname, title)
        if not following:
            return nodes.paragraph("", ends()[path], classes=["onward"])
        section, part = following
        place = place_of(self.sphinx, self.env.docname, section, part)
        line = nodes.paragraph("", onward()[path] + say(": "), classes=["onward"])
        line += nodes.reference("", part, refuri=place, internal=True) if place else nodes.Text(part)
        if section != self.env.docname and section in self.env.titles:
            line += nodes.Text(say(" ({title})", title=self.env.titles[section].astext()))
        return line


def note_paths(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Note the paths once all pages are read; return the pages to write anew because one of theirs has changed."""
    root = env.config.root_doc
    old = noted(env)
    rows = paths_in(env.doc2path(root).read_text(encoding="utf-8")) if root in env.found_docs else {}
    needs = {(path, row.section): needs_of(env, row) for path, own in rows.items() for row in own}
    setattr(env, KEY, (rows, needs))
    if old == (rows, needs):
        return []
    pages = {row.section for paths in (old[0], rows) for own in paths.values() for row in own}
    return [page for page in pages if page in env.found_docs]


def needs_of(env: BuildEnvironment, row: Row) -> Needs:
    """Return what the parts of a row use from parts that its path skips."""
    path = env.doc2path(row.section) if row.section in env.found_docs else None
    if path is None or path.suffix != ".ipynb":
        return {}
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return {framework: borrowed(entries_of(cells, framework), row.parts) for framework in FRAMEWORKS}


def entries_of(cells: Sequence[dict[str, Any]], framework: str) -> list[Entry]:
    """Return the cells of a merged notebook that one framework has, without those that only repeat an output."""
    found = []
    for cell in cells:
        tags = cell["metadata"].get("tags", [])
        used = [name for name in FRAMEWORKS if name in tags]
        if "remove-input" not in tags and (not used or framework in used):
            source = "".join(cell["source"])
            found.append(Entry(cell["id"], "", cell["cell_type"], source, framework, tuple(tags), None))
    return found


def mark_contents(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Put a path's sign behind each of its parts in the contents of a page."""
    rows, _ = noted(app.env)
    for path, own in rows.items():
        for part in on(own, page):
            place = place_of(app, page, page, part).partition("#")[2]
            sign = f' <abbr class="path-sign" title="{escape(marks()[path])}">{SIGNS[path]}</abbr></a>'
            start, link, rest = context.get("toc", "").partition(f'href="#{place}">')
            if link:
                context["toc"] = start + link + rest.replace("</a>", sign, 1)


def setup(app: Sphinx) -> None:
    app.add_post_transform(type("MarkPathsOfApp", (MarkPaths,), {"sphinx": app}))
    app.connect("env-updated", note_paths)
    app.connect("doctree-resolved", link_paths)
    app.connect("html-page-context", mark_contents)
