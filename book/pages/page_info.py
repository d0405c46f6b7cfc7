"""What a page says about itself: reading time and notebooks at its head, the machine at its foot.

All of it comes from the merged notebook: its metadata `d2l` tells, for each framework, when and where the cells ran.
The transform also makes records places that a link can lead to, and insists on alternative texts.
"""

import json
import math
import os
from datetime import datetime
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

from book import FRAMEWORKS
from book.hosted import links, repository
from book.machine_load import ROUGH
from book.outputs import RECORDS, records
from book.pages.single_framework import WHOLE, tag
from book.pages.tabs import framework_of, frameworks_of
from book.pages.text import HAN_CHARACTER
from book.words import say, say_date

logger = logging.getLogger(__name__)
WORDS_PER_MINUTE = 200
CHARACTERS_PER_MINUTE = 400  # of Chinese
LINES_PER_MINUTE = 20  # of code
SILENT = (nodes.math, nodes.math_block, nodes.comment, nodes.raw)
FOLDED = ("tag_solution", "tag_exercise", "tag_drawing", "tag_claims")  # classes of cells whose code is a click away


def reading_minutes(document: nodes.document, framework: str) -> int:
    """Return the minutes that the prose and the code of one framework take; what is folded does not count."""
    sections = [child for child in document.children if isinstance(child, nodes.section)]
    return max(1, math.ceil(sum(_minutes(section, framework) for section in sections)))


def _minutes(node: nodes.Node, framework: str) -> float:
    """Return the minutes for which readers of one framework read a node."""
    if isinstance(node, nodes.Text):
        words, characters = HAN_CHARACTER.sub(" ", node).split(), HAN_CHARACTER.findall(node)
        return len(words) / WORDS_PER_MINUTE + len(characters) / CHARACTERS_PER_MINUTE
    if isinstance(node, SILENT) or framework_of(node) not in (None, framework):
        return 0
    if isinstance(node, nodes.literal_block):
        return sum(bool(line.strip()) for line in node.astext().split("\n")) / LINES_PER_MINUTE
    if isinstance(node, nodes.Element):
        folded = node.get("design_component") == "dropdown" or set(FOLDED) & set(node["classes"])
        if folded or node.get("nb_element") == "cell_code_output":
            return 0
    return sum(_minutes(child, framework) for child in node.children)


def header(minutes: int, notebooks: dict[str, str], hosted: dict[str, dict[str, str]]) -> nodes.container:
    """Return the line under the title: reading time, and each framework's notebook with the services that open it."""
    found = nodes.inline("", classes=[WHOLE])
    separator = say(" · Notebooks: ")
    for name, path in notebooks.items():
        found += nodes.Text(separator)
        separator = " · "
        found += addnodes.download_reference("", FRAMEWORKS[name], reftarget=path)
        for service, address in hosted[name].items():
            words = say("open in {service}", service=service)
            found += [nodes.Text(say(", ")), nodes.reference("", words, refuri=address)]
    line = nodes.paragraph("", say("{minutes} min read", minutes=minutes), *([found] if notebooks else []))
    return nodes.container("", line, classes=["page-facts"])


def colophon(runs: dict[str, dict[str, Any]]) -> nodes.container:
    """Return the block at the foot: machine, date and, for each framework, versions and seconds.

    `runs` maps a framework to the dict {seconds, busy, date, machine, versions} that its execution left.
    """
    found = [nodes.paragraph("", say("The machine that built this page"), classes=["colophon-title"])]
    measured: dict[str, list[str]] = {}
    for name, run in runs.items():
        machine, day = describe_machine(run["machine"]), name_day(run["date"])
        sentence = say("Measured on {machine} ({day}).", machine=machine, day=day)
        measured.setdefault(sentence, []).append(tag(name))
    found += [nodes.paragraph("", sentence, classes=owners) for sentence, owners in measured.items()]
    listed = nodes.bullet_list()
    for name, run in runs.items():
        versions = say(", ").join(f"{package} {version}" for package, version in run["versions"].items())
        facts = {"seconds": f"{run['seconds']:.0f}", "disturbed": disturbed(run.get("busy", 0))}
        text = say(": {versions}; the notebook took {seconds} s{disturbed}.", versions=versions, **facts)
        words = nodes.paragraph("", "", nodes.strong("", FRAMEWORKS[name]), nodes.Text(text))
        listed += nodes.list_item("", words, classes=[tag(name)])
    return nodes.container("", *found, listed, classes=["colophon"])


def disturbed(busy: float) -> str:
    """Return what the seconds of a notebook are followed by if others kept this share of the processors busy."""
    if busy <= ROUGH:
        return ""
    return say(" while other programs kept {share} of the processors busy, so its times are rough", share=f"{busy:.0%}")


def describe_machine(machine: dict[str, Any]) -> str:
    """Return one phrase for the dict {cpu, cores, memory_gb, gpus, system}; what is unknown is left out."""
    parts = [machine.get("cpu") or say("an unnamed CPU")]
    if machine.get("cores"):
        parts.append(say("1 core") if machine["cores"] == 1 else say("{n} cores", n=machine["cores"]))
    if machine.get("memory_gb"):
        parts.append(say("{gib} GiB of memory", gib=f"{machine['memory_gb']:.0f}"))
    parts.append(say(", ").join(map(str, machine.get("gpus") or ())) or say("no GPU"))
    if machine.get("system"):
        parts.append(machine["system"])
    return say(", ").join(parts)


def name_day(date: str) -> str:
    """Return a date, given as 2026-11-21, in words."""
    try:
        return say_date(datetime.fromisoformat(date))
    except ValueError:
        return say("date unknown")


class DescribePage(SphinxTransform):
    """Add anchors of records, header and colophon to the page of a merged notebook, and look for alternative texts."""

    default_priority = 190  # before the tabs are gathered, while cells are still children of sections

    def apply(self, **kwargs: Any) -> None:
        for image in self.document.findall(nodes.image):
            if not image.get("alt", "").strip():
                logger.error("picture without alternative text: %s", image.get("uri"), location=image)
        frameworks = frameworks_of(self.document)
        if frameworks:
            self.env.metadata[self.env.docname]["frameworks"] = frameworks
        path = self.env.doc2path(self.env.docname)
        if path.suffix != ".ipynb":
            return
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for node in self.document.findall(nodes.container):
            if node.get("nb_element") == "cell_code":
                cell = notebook["cells"][node["cell_index"]]
                if any(records(cell, mime) for mime in RECORDS):
                    node["ids"].append(cell["id"])
        title = next(self.document.findall(nodes.title), None)
        if frameworks and title:
            ran = notebook["metadata"]["d2l"]["frameworks"]
            self._describe(title.parent, frameworks[0], {name: ran[name] for name in frameworks if name in ran})

    def _describe(self, section: nodes.Element, framework: str, runs: dict[str, dict[str, Any]]) -> None:
        # The paths of the readers' notebooks, as Sphinx takes them: from the folder of the pages.
        folder = os.path.relpath(self.config.d2l_notebooks, self.env.srcdir)
        notebooks = {name: f"/{folder}/{name}/{self.env.docname}.ipynb" for name in runs}
        hosted = {name: links(self.config.d2l_repository, name, self.env.docname) for name in runs}
        section.insert(1, header(reading_minutes(self.document, framework), notebooks, hosted))
        if runs:
            section += colophon(runs)


def setup(app: Sphinx) -> None:
    app.add_config_value("d2l_notebooks", "", "")
    app.add_config_value("d2l_repository", repository(), "env", [str])
    app.add_transform(DescribePage)
