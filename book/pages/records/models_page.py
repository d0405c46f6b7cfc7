"""How good are the models? All predictions of the book beside their measurements.

```{models}
```

draws them for each framework, names the ten models that are farthest off, lists all predictions section by section,
with what disturbed them or closes their gaps, and those that notebooks/data/gpu.json records of a machine with a GPU.
With the option `:small:` it draws the picture of times alone.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, get_args

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from book import FRAMEWORKS
from book.gpu_record import predictions
from book.model_errors import (
    Record,
    closing,
    miss,
    models,
    name_in_section,
    open_to_explanation,
    section_of,
    summary_line,
)
from book.pages.guessing import offer, score
from book.pages.records.record_nodes import collected, raw
from book.pages.records.scatter import Dot, factors, key, times
from book.pages.solutions import fold
from book.record_html import address_of, aside, comparison_of, comparison_rows, link, name_kind, table_of_comparisons
from book.words import say, say_each, say_record
from d2l_lab.instruments.predictions import Kind
from d2l_lab.instruments.timing import NEAR

WORST = 10  # models that are named
IDS = ("times", "factors", "farthest", "all", "gpu")  # of the sections of the page
Parts = dict[str, list[nodes.Node]]  # by the sections that they belong to; "" stands above the first


class Models(SphinxDirective):
    """The predictions of each framework."""

    option_spec = {"small": directives.flag}

    def run(self) -> list[nodes.Node]:
        """Return a picture, and where it is not small the tables, for each framework."""
        records = collected(self.env, "predictions")
        self.elsewhere = collected(self.env, "elsewhere")
        self.sections = list(dict.fromkeys(record["section"] for record in records))
        self.up = "../" * self.env.docname.count("/")  # to the folder of the pages
        ours = {name: [record for record in records if record["framework"] == name] for name in FRAMEWORKS}
        parts = self.small if "small" in self.options else self.whole
        found = {framework: parts(mine, framework) for framework, mine in ours.items() if mine}
        if not found:
            return self.parse_text_to_nodes(say("This copy holds no record of predictions: no notebook ran for it."))
        titles = say_each(
            "Times",
            "Savings, bytes, rates, ratios and counts",
            "The models farthest from their measurements",
            "All predictions",
            "The same cells on a GPU",
        )
        stops = "small" not in self.options and any(record.get("guess") for record in records)
        return (
            [offer(always=True)] * stops
            + tagged("", found)
            + [
                nodes.section("", nodes.title("", title), *inside, ids=[part])
                for part, title in zip(IDS, titles.values(), strict=True)
                if (inside := tagged(part, found))
            ]
        )

    def small(self, records: Sequence[Record], framework: str) -> Parts:
        """Return what the landing page shows of a framework, which is no section."""
        seconds, _ = self.dots(records)
        return {"": [self.summary(records, framework, True), *([raw(times(seconds, "small"))] if seconds else [])]}

    def whole(self, records: Sequence[Record], framework: str) -> Parts:
        """Return all that there is to see of a framework's predictions, by the sections of the page."""
        (seconds, others), worst = self.dots(records), models(records)[:WORST]
        title = say("All predictions in {framework}, section by section", framework=FRAMEWORKS[framework])
        return {
            "": [self.summary(records, framework), self.legend(records), score(framework)],
            "times": [raw(times(seconds))] if seconds else [],
            "factors": [raw(factors(others))] if others else [],
            "farthest": [self.listed(worst, records, named=True)] if worst else [],
            "all": [fold(title, self.by_section(records), classes=["all-predictions"])],
            "gpu": self.on_gpu(framework),
        }

    def on_gpu(self, framework: str) -> list[nodes.Node]:
        """Return the predictions that were recorded of a framework on a machine with a GPU."""
        ours = [record for record in self.elsewhere if record["framework"] == framework]
        records = [each for record in ours for each in predictions(record)]
        if not records:
            return []
        title = say("All predictions on an {gpu}, section by section", gpu=ours[0]["gpu"])
        seconds, _ = self.dots(records)
        tables = fold(title, self.by_section(records), classes=["all-predictions"])
        return [self.summary(records, framework), *([raw(times(seconds))] if seconds else []), tables]

    def by_section(self, records: Sequence[Record]) -> list[nodes.Node]:
        """Return a table for each section, below its title."""
        tables: list[nodes.Node] = []
        for section, group in groupby(records, key=lambda record: record["section"]):
            tables += [nodes.paragraph("", "", *self.title(section)), self.listed(list(group), records)]
        return tables

    def dots(self, records: Sequence[Record]) -> tuple[list[Dot], list[Dot]]:
        """Return the marks of predictions of times, and of savings and all others."""
        found = []
        for record in records:
            section, place = record["section"], self.up + address_of(record)
            guess = record.get("guess", "")
            found.append(Dot(comparison_of(record), section_of(record), self.sections.index(section), place, guess))
        seconds = [dot for dot in found if dot.comparison.unit == "s" and dot.comparison.kind != "saving"]
        return seconds, [dot for dot in found if dot not in seconds]

    def summary(self, records: Sequence[Record], framework: str, short: bool = False) -> nodes.paragraph:
        """Return how good a framework's predictions are."""
        name = nodes.strong("", FRAMEWORKS[framework] + say(": ").rstrip())
        return nodes.paragraph("", "", name, nodes.Text(say(" {summary}.", summary=summary_line(records, short))))

    def title(self, section: str) -> Sequence[nodes.Node]:
        """Return a link to a section that shows its title."""
        return self.parse_inline(f"{{doc}}`/{section}`")[0]

    def legend(self, records: Sequence[Record]) -> nodes.bullet_list:
        """Return what the colours and the marks mean."""
        present = {record["section"] for record in records}
        items: list[list[Any]] = [
            [raw(key("model", place)), nodes.Text(" "), *self.title(section)]
            for place, section in enumerate(self.sections)
            if section in present
        ]
        kinds = {record["kind"] for record in records}
        items += [[raw(key(kind)), nodes.Text(f" {name_kind(kind)}")] for kind in get_args(Kind) if kind in kinds]
        lines = [nodes.list_item("", nodes.paragraph("", "", *item)) for item in items]
        return nodes.bullet_list("", *lines, classes=["legend"])

    def listed(self, records: Sequence[Record], all_records: Sequence[Record], named: bool = False) -> nodes.raw:
        """Return the table of these predictions, with the names of their sections if so wanted.

        A row that was disturbed says so, and one that left a gap names what closes it among `all_records`.
        """
        names, remarks, closed = [], [], closing(all_records)
        for record in records:
            where = link(record["title"], f"{self.up}{record['section']}.html")
            remark = f' <span class="where">{where}</span>' if named else ""
            remarks.append(remark + aside(fate(record, closed.get(name_in_section(record, record["name"]))), "note"))
            names.append(link(say_record(record["name"]), self.up + address_of(record)))
        return raw(table_of_comparisons(comparison_rows([comparison_of(record) for record in records], names, remarks)))


def fate(record: Record, closer: Record | None) -> str:
    """Return what became of a prediction besides its figures: what disturbed it, or what closes its gap, in words."""
    observed = comparison_of(record).disturbance.words(say)
    if observed:
        return say("disturbed: {observed}", observed=observed)
    if closer and miss(record) > NEAR:
        return say("gap closed by “{name}”", name=say_record(closer["name"]))
    return say("gap open") if open_to_explanation(record) else ""


def tagged(part: str, found: Mapping[str, Parts]) -> list[nodes.Node]:
    """Return what the frameworks that have it show in a part of the page, each in a container with its name."""
    return [
        nodes.container("", *parts[part], classes=["prose", f"tag_{framework}"])
        for framework, parts in found.items()
        if parts.get(part)
    ]


def setup(app: Sphinx) -> None:
    app.add_directive("models", Models)
