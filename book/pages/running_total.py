"""The running total: a training step as it was written, and with each lever of the chapter added.

A section's total comes as data, in an output of the MIME type RUNNING_TOTAL:
{"rows": [{lever, seconds, low, high, promised, accuracy, kept}, …], "steps": n}, the loop as written first.

```{running-total}
```

shows that of each framework. It reads running-totals.json beside the pages, a list of such records, each with its
section, framework and cell, and predictions.json, which tells where a lever was promised by itself.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_nb.core.render import load_mime_renders
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from book import FRAMEWORKS
from book.outputs import RUNNING_TOTAL
from book.pages.tables import link, row, table
from book.records import LEFT_OUT, TOTAL_HEAD, Row, accuracy, faster, total_figures
from d2l_utils.predictions import quantity
from d2l_utils.timing import three_digits


def lever_cell(found: Row, address: str = "") -> list[nodes.Node]:
    """Return the name of a lever, with a link if there is an address; one that lost says so."""
    name: list[nodes.Node] = [link(found["lever"], address) if address else nodes.Text(found["lever"])]
    return name if found["kept"] else [*name, nodes.Text(" "), nodes.inline("", LEFT_OUT, classes=["kind"])]


def kind(found: Row) -> str:
    """Return the class of a row."""
    return "" if found["kept"] else "left-out"


def promised_and_obtained(rows: Sequence[Row]) -> nodes.table:
    """Return a section's table: what each lever promised to save of a step, and what it saved."""
    found = [row(lever_cell(each), *cells, kind=kind(each)) for each, cells in total_figures(rows)]
    return table(TOTAL_HEAD, found, "promises")


def total(record: Row, taught: dict[str, str]) -> nodes.table:
    """Return the landing page's table of a total; `taught` is the address at which a lever is taught."""
    first, *_ = record["rows"]
    rows = [
        row(
            lever_cell(each, taught.get(each["lever"], "")),
            quantity(each["seconds"], "s"),
            faster(first, each),
            accuracy(each),
            kind=kind(each),
        )
        for each in record["rows"]
    ]
    return table(("lever", "a step", "faster", "accuracy"), rows, "running-total")


def sentence(record: Row, framework: str) -> nodes.paragraph:
    """Return what the levers that were kept make of a step."""
    first, *others = record["rows"]
    last = [first, *(each for each in others if each["kept"])][-1]
    gain = nodes.strong("", f"{quantity(first['seconds'], 's')} → {quantity(last['seconds'], 's')}")
    factor = three_digits(first["seconds"] / last["seconds"])
    rest = f" for a training step in {FRAMEWORKS[framework]}: {factor} times as fast."
    return nodes.paragraph("", "", gain, nodes.Text(rest))


def taught_in(record: Row, promises: Sequence[Row]) -> dict[str, str]:
    """Return the address at which each lever of a total was promised by itself, else that of the total."""
    found = {each["lever"]: record for each in record["rows"][1:]}
    for promise in reversed(promises):
        if promise["name"] in found:
            found[promise["name"]] = promise
    framework = record["framework"]
    # A section may promise a lever in some frameworks only; cells of another framework have no place in this tab.
    return {
        lever: f"{at['section']}.html?tab={framework}{'#' + at['cell'] if at['framework'] == framework else ''}"
        for lever, at in found.items()
    }


class RunningTotalRenderer:
    """A renderer of MyST-NB for outputs that are running totals."""

    mime_priority_overrides = [("*", RUNNING_TOTAL, 1)]

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[nodes.Node] | None:
        """Return the nodes of an output, or None if it is no running total."""
        return [promised_and_obtained(data.content["rows"])] if data.mime_type == RUNNING_TOTAL else None


class RunningTotal(SphinxDirective):
    """The running total of each framework."""

    def run(self) -> list[nodes.Node]:
        """Return a sentence and a table for each framework."""
        totals = {record["framework"]: record for record in self.records("running-totals.json")}
        savings = [record for record in self.records("predictions.json") if record["kind"] == "saving"]
        found: list[nodes.Node] = []
        for framework in [word for word in FRAMEWORKS if word in totals]:
            ours = totals[framework]
            # Those of the total itself come last, and those of this framework first.
            promises = sorted(
                savings, key=lambda each: (each["section"] == ours["section"], each["framework"] != framework)
            )
            panel = [sentence(ours, framework), total(ours, taught_in(ours, promises))]
            found.append(nodes.container("", *panel, classes=["prose", f"tag_{framework}"]))
        return found or self.parse_text_to_nodes("This copy holds no running total: no notebook ran for it.")

    def records(self, name: str) -> list[Row]:
        """Return the records of a file beside the pages, none if there is no such file."""
        path = Path(self.env.srcdir) / name
        self.env.note_dependency(path)
        found: list[Row] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
        return found


def setup(app: Sphinx) -> dict[str, bool]:
    """Register renderer and directive; MyST-NB keeps the list of renderers that it made."""
    if RunningTotalRenderer not in load_mime_renders():
        load_mime_renders().append(RunningTotalRenderer)
    app.add_directive("running-total", RunningTotal)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
