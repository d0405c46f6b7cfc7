"""The running total: a training step as it was written, and with each lever of the chapter added.

```{running-total}
```

shows that of each framework. It reads running-totals.json beside the pages, a list of such records, each with its
section, framework and cell, among them what `Levers` tried on other loops; and predictions.json, which tells where a
lever was promised by itself.
"""

from collections.abc import Sequence

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from book import FRAMEWORKS
from book.pages.records.record_nodes import collected, raw
from book.record_html import Record, change, last_figure, lever, table, total_figures
from book.words import say, say_each
from d2l_lab.instruments.predictions import quantity
from d2l_lab.instruments.timing import three_digits


def total(record: Record, taught: dict[str, str]) -> str:
    """Return the landing page's table of a total; `taught` is the address at which a lever is taught."""
    rows = [
        [lever(each, taught.get(each["lever"], "")), step, faster, last_figure(record, each)]
        for each, (step, _, _, faster) in total_figures(record["rows"])
    ]
    return table("running-total", say_each("lever", "a step", "gain", "learns alike").values(), rows)


def sentence(record: Record, framework: str) -> nodes.paragraph:
    """Return what the levers that were kept make of the training until nine of ten digits are right, and of a step."""
    first, *others = record["rows"]
    last = [first, *(each for each in others if each["kept"])][-1]
    before, after = (
        f"> {record['limit']:.0f} s" if seconds is None else quantity(seconds, "s", 1.0) for seconds in record["until"]
    )
    until = say(" of training in {framework} until nine of ten test digits are right.", framework=FRAMEWORKS[framework])
    step = say(
        " A step takes {step}, which is {factor} times as fast.",
        step=change(first["seconds"], last["seconds"]),
        factor=three_digits(first["seconds"] / last["seconds"]),
    )
    return nodes.paragraph("", "", nodes.strong("", f"{before} → {after}"), nodes.Text(until + step))


def taught_in(record: Record, promises: Sequence[Record]) -> dict[str, str]:
    """Return the address at which each lever of a total was promised by itself, else that of the total."""
    found = {each["lever"]: record for each in record["rows"][1:]}
    for promise in reversed(promises):
        if promise["name"] in found:
            found[promise["name"]] = promise
    framework = record["framework"]
    # A section may promise a lever in some frameworks only; cells of another framework have no place in this tab.
    return {
        name: f"{at['section']}.html?tab={framework}{'#' + at['cell'] if at['framework'] == framework else ''}"
        for name, at in found.items()
    }


def chapter_totals(env: BuildEnvironment) -> list[Record]:
    """Return the running totals of the book, without the tables of what `Levers` tried on other loops."""
    return [record for record in collected(env, "running-totals") if "items" not in record]


class RunningTotal(SphinxDirective):
    """The running total of each framework."""

    def run(self) -> list[nodes.Node]:
        totals = {record["framework"]: record for record in chapter_totals(self.env)}
        savings = [record for record in collected(self.env, "predictions") if record["kind"] == "saving"]
        found: list[nodes.Node] = []
        for framework in [word for word in FRAMEWORKS if word in totals]:
            ours = totals[framework]
            # Those of the total itself come last, and those of this framework first.
            promises = sorted(
                savings, key=lambda each: (each["section"] == ours["section"], each["framework"] != framework)
            )
            panel = [sentence(ours, framework), raw(total(ours, taught_in(ours, promises)))]
            found.append(nodes.container("", *panel, classes=["prose", f"tag_{framework}"]))
        return found or self.parse_text_to_nodes(say("This copy holds no running total: no notebook ran for it."))


def setup(app: Sphinx) -> None:
    app.add_directive("running-total", RunningTotal)
