"""What a page says about itself: reading time and notebooks at its head, the machine at its foot.

All of it comes from the merged notebook: its metadata `d2l` tells, for each framework, when and where
the cells ran. The transform also gives code cells their ids as anchors and insists on alternative texts.
"""

import json
import math
import shutil
from datetime import datetime
from pathlib import Path

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

from book import FRAMEWORKS
from book.pages.tabs import framework_of, frameworks_of

logger = logging.getLogger(__name__)
WORDS_PER_MINUTE = 200


class notebook_link(nodes.reference):
    """A link to a notebook, which a browser is to save rather than to show; other builders see a reference."""


def visit_notebook_link(writer, node):
    """Open the link."""
    writer.body.append(writer.starttag(node, "a", "", href=node["refuri"], download=""))


def depart_notebook_link(writer, node):
    """Close the link."""
    writer.body.append("</a>")


def reading_minutes(document, framework):
    """Return the minutes that the prose of one framework takes; code, outputs and formulas do not count."""
    words = sum(_words(child, framework) for child in document.children if isinstance(child, nodes.section))
    return max(1, math.ceil(words / WORDS_PER_MINUTE))


def _words(node, framework):
    if isinstance(node, nodes.Text):
        return len(node.split())
    silent = (nodes.literal_block, nodes.math, nodes.math_block, nodes.comment, nodes.raw)
    if isinstance(node, silent) or framework_of(node) not in (None, framework) or node.get("nb_element"):
        return 0
    return sum(_words(child, framework) for child in node.children)


def header(page, minutes, frameworks):
    """Return the line under the title: reading time and one notebook for each framework."""
    line = nodes.paragraph("", f"{minutes} min read · Notebooks: ")
    for place, name in enumerate(frameworks):
        link = notebook_link("", FRAMEWORKS[name], refuri=f"notebooks/{name}/{page}.ipynb", internal=True)
        line += [nodes.Text(" · ")] * bool(place) + [link]
    return nodes.container("", line, classes=["page-facts"])


def colophon(runs):
    """Return the block at the foot: machine, date and, for each framework, versions and seconds.

    `runs` maps a framework to the dict {seconds, date, machine, versions} that its execution left.
    """
    machines = {}
    for run in runs.values():
        machines.setdefault(describe_machine(run.get("machine", {})), run)
    items = [
        nodes.paragraph("", f"Measured on {machine} ({name_day(run.get('date', ''))}).")
        for machine, run in machines.items()
    ]
    listed = nodes.bullet_list()
    for name, run in runs.items():
        versions = ", ".join(f"{package} {version}" for package, version in run.get("versions", {}).items())
        text = f": {versions}; the notebook took {run.get('seconds', 0):.0f} s."
        listed += nodes.list_item("", nodes.paragraph("", "", nodes.strong("", FRAMEWORKS[name]), nodes.Text(text)))
    title = nodes.paragraph("", "The machine that built this page", classes=["colophon-title"])
    return nodes.container("", title, *items, listed, classes=["colophon"])


def describe_machine(machine):
    """Return one phrase for the dict {cpu, cores, memory_gb, gpus, system}; what is unknown is left out."""
    parts = [machine.get("cpu") or "an unnamed CPU"]
    if machine.get("cores"):
        parts.append(f"{machine['cores']} core" + "s" * (machine["cores"] != 1))
    if machine.get("memory_gb"):
        parts.append(f"{machine['memory_gb']:.0f} GiB of memory")
    parts.append(", ".join(map(str, machine.get("gpus") or ())) or "no GPU")
    if machine.get("system"):
        parts.append(machine["system"])
    return ", ".join(parts)


def name_day(date):
    """Return a date, given as 2026-11-21, in words."""
    try:
        return f"{datetime.fromisoformat(date):%-d %B %Y}"
    except ValueError:
        return "date unknown"


class DescribePage(SphinxTransform):
    """Add anchors, header and colophon to the page of a merged notebook, and look for alternative texts."""

    default_priority = 190  # before the tabs are gathered, while cells are still children of sections

    def apply(self):
        for image in self.document.findall(nodes.image):
            if not image.get("alt", "").strip():
                logger.error("picture without alternative text: %s", image.get("uri"), location=image)
        path = Path(self.env.doc2path(self.env.docname))
        if path.suffix != ".ipynb":
            return
        notebook = json.loads(path.read_text(encoding="utf-8"))
        self._add_anchors(notebook["cells"])
        frameworks = frameworks_of(self.document)
        title = next(self.document.findall(nodes.title), None)
        if frameworks and title:
            self.env.metadata[self.env.docname]["frameworks"] = frameworks
            minutes = reading_minutes(self.document, frameworks[0])
            title.parent.insert(1, header(self.env.docname, minutes, frameworks))
            runs = notebook["metadata"].get("d2l", {}).get("frameworks", {})
            if runs:
                title.parent += colophon({name: runs[name] for name in frameworks if name in runs})

    def _add_anchors(self, cells):
        for node in self.document.findall(nodes.container):
            if node.get("nb_element") == "cell_code" and "id" in cells[node["cell_index"]]:
                node["ids"].append(cells[node["cell_index"]]["id"])


def copy_notebooks(app, fault):
    """Put the readers' notebooks beside the pages that link to them; raise ExtensionError where one is missing."""
    if fault or app.builder.name != "html":
        return
    for page in sorted(app.env.found_docs):
        for name in app.env.metadata[page].get("frameworks", ()):
            source = Path(app.config.d2l_notebooks) / name / f"{page}.ipynb"
            target = Path(app.outdir) / "notebooks" / name / source.name
            if not source.exists():
                raise ExtensionError(f"{page}: its page links to the notebook {source}, which does not exist")
            if not target.exists() or target.read_bytes() != source.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)


def name_frameworks(app, page, template, context, doctree):
    """Give the template the display names for its switch."""
    context["framework_titles"] = FRAMEWORKS


def setup(app):
    """Register the transform and the copy at the end."""
    app.add_config_value("d2l_notebooks", "", "")
    app.add_node(notebook_link, html=(visit_notebook_link, depart_notebook_link))
    app.add_transform(DescribePage)
    app.connect("html-page-context", name_frameworks)
    app.connect("build-finished", copy_notebooks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
