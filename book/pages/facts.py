"""What a page says about itself: reading time and notebooks at its head, the machine at its foot.

All of it comes from the merged notebook: its metadata `d2l` tells, for each framework, when and where
the cells ran. The transform also makes claims places that a link can lead to, and insists on alternative texts.
"""

import json
import math
import os
from datetime import datetime

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

from book import FRAMEWORKS
from book.outputs import claims
from book.pages.tabs import framework_of, frameworks_of

logger = logging.getLogger(__name__)
WORDS_PER_MINUTE = 200


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


def header(minutes, notebooks):
    """Return the line under the title: reading time and one notebook, a path, for each framework that ran."""
    line = nodes.paragraph("", f"{minutes} min read")
    for place, (name, path) in enumerate(notebooks.items()):
        line += nodes.Text(" · " if place else " · Notebooks: ")
        line += addnodes.download_reference("", FRAMEWORKS[name], reftarget=path)
    return nodes.container("", line, classes=["page-facts"])


def colophon(runs):
    """Return the block at the foot: machine, date and, for each framework, versions and seconds.

    `runs` maps a framework to the dict {seconds, date, machine, versions} that its execution left.
    """
    found = [nodes.paragraph("", "The machine that built this page", classes=["colophon-title"])]
    measured = [f"Measured on {describe_machine(run['machine'])} ({name_day(run['date'])})." for run in runs.values()]
    found += [nodes.paragraph("", sentence) for sentence in dict.fromkeys(measured)]
    listed = nodes.bullet_list()
    for name, run in runs.items():
        versions = ", ".join(f"{package} {version}" for package, version in run["versions"].items())
        text = f": {versions}; the notebook took {run['seconds']:.0f} s."
        listed += nodes.list_item("", nodes.paragraph("", "", nodes.strong("", FRAMEWORKS[name]), nodes.Text(text)))
    return nodes.container("", *found, listed, classes=["colophon"])


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
    """Add anchors of claims, header and colophon to the page of a merged notebook, and look for alternative texts."""

    default_priority = 190  # before the tabs are gathered, while cells are still children of sections

    def apply(self):
        for image in self.document.findall(nodes.image):
            if not image.get("alt", "").strip():
                logger.error("picture without alternative text: %s", image.get("uri"), location=image)
        path = self.env.doc2path(self.env.docname)
        if path.suffix != ".ipynb":
            return
        notebook = json.loads(path.read_text(encoding="utf-8"))
        self._add_anchors(notebook["cells"])
        frameworks = frameworks_of(self.document)
        title = next(self.document.findall(nodes.title), None)
        if frameworks and title:
            self.env.metadata[self.env.docname]["frameworks"] = frameworks
            ran = notebook["metadata"]["d2l"]["frameworks"]
            self._describe(title.parent, frameworks[0], {name: ran[name] for name in frameworks if name in ran})

    def _describe(self, section, framework, runs):
        notebooks = {name: self._notebook(name) for name in runs}
        section.insert(1, header(reading_minutes(self.document, framework), notebooks))
        if runs:
            section += colophon(runs)

    def _notebook(self, framework):
        """Return the path of a reader's notebook as Sphinx takes it, from the folder of the pages."""
        path = os.path.join(self.config.d2l_notebooks, framework, f"{self.env.docname}.ipynb")
        return "/" + os.path.relpath(path, self.env.srcdir)

    def _add_anchors(self, cells):
        for node in self.document.findall(nodes.container):
            if node.get("nb_element") == "cell_code" and any(claims(cell := cells[node["cell_index"]])):
                node["ids"].append(cell["id"])


def name_frameworks(app, page, template, context, doctree):
    """Give the template the display names for its switch."""
    context["framework_titles"] = FRAMEWORKS


def setup(app):
    """Register the transform and its setting."""
    app.add_config_value("d2l_notebooks", "", "")
    app.add_transform(DescribePage)
    app.connect("html-page-context", name_frameworks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
