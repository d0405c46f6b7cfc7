"""Every "In your own loop" of the book on one page, each with a link to its place and what it gained on this machine.

```{checklist}
```

An entry is a paragraph that begins with "**In your own loop**". A comment below the paragraph names what its cells
measured, a line each: two comparisons of times or bytes, before and after, or a lever of the running total:

    % gain: eight passes → one pass
    % gain: compiled step

Each page notes its own when it is read; the page that lists them is put together after all are read.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.nodes import traverse_parent

from book import FRAMEWORKS
from book.pages.lists import Listing, copies, places_of, resolved
from book.pages.records.record_nodes import collected
from book.pages.records.running_total import chapter_totals
from book.pages.tabs import framework_of, tab_set
from book.record_html import Record, change
from book.words import say, say_record
from d2l_lab.instruments.predictions import quantity
from d2l_lab.instruments.timing import column_scale, three_digits

GAIN, ARROW = "gain: ", " → "
KEY = "checklist"  # in the metadata of a page: a list of Advice
LOG = logging.getLogger(__name__)


class Advice(NamedTuple):
    """An advice: whose it is (None: everybody's), its id, the title above it, the nodes that say it, its gains."""

    framework: str | None
    place: str
    title: str
    words: list[Any]
    gains: list[str]


class Checklist(Listing):
    """The checklist, section by section, in each framework."""

    def run(self) -> list[nodes.Node]:
        """Return its place, on a page that is written anew when a measurement changes."""
        Measured(self.env)  # notes what the page depends on
        return super().run()


class NoteAdvice(SphinxTransform):
    """Give each advice of a page a place that a link can lead to, and note it."""

    default_priority = 850

    def apply(self, **kwargs: Any) -> None:
        found: list[Advice] = []
        for paragraph in self.document.findall(nodes.paragraph):
            # Without the empty texts that the parser leaves.
            first, *rest = [node for node in paragraph.children if node.astext()] or [None]
            if isinstance(first, nodes.strong) and first.astext() == say("In your own loop"):
                framework = next(filter(None, map(framework_of, traverse_parent(paragraph))), None)
                section = next(iter(traverse_parent(paragraph, nodes.section)))
                place = f"in-your-own-loop-{len(found) + 1}"
                paragraph["ids"].append(place)
                found.append(Advice(framework, place, section[0].astext(), words_of(rest), gains_below(paragraph)))
        if found:
            self.env.metadata[self.env.docname][KEY] = found


def words_of(rest: Sequence[Any]) -> list[Any]:
    """Return copies of the nodes after the beginning of a paragraph."""
    first, *others = rest
    words = first.astext().lstrip(": ：")
    return copies([nodes.Text(words[:1].upper() + words[1:]), *others])


def gains_below(paragraph: nodes.paragraph) -> list[str]:
    """Return what the comment after a paragraph names."""
    following = paragraph.next_node(descend=False, siblings=True)
    lines = following.astext().split("\n") if isinstance(following, nodes.comment) else []
    return [line.strip().removeprefix(GAIN) for line in lines if line.strip().startswith(GAIN)]


class ListAdvice(SphinxPostTransform):
    """Fill the place of the list: for each section a set of tabs."""

    default_priority = 150  # before the tabs are shown, flat or as tabs
    sphinx: Sphinx  # which `setup` sets

    def run(self, **kwargs: Any) -> None:
        for place in places_of(self.document, "checklist"):
            pages = self.env.toctree_includes.get(self.config.root_doc, [])
            sections = [page for page in pages if KEY in self.env.metadata[page]]
            measured = Measured(self.env)
            self.check(sections, measured)
            present = {word for page in sections for word in self.env.metadata[page].get("frameworks", ())}
            frameworks = [word for word in FRAMEWORKS if word in present]
            self.env.metadata[self.env.docname]["frameworks"] = frameworks  # for the switch above the page
            place.parent.replace(place, [self.section(each, frameworks, measured) for each in sections])

    def check(self, sections: Sequence[str], measured: "Measured") -> None:
        """Warn of a gain that no framework of a section that has run in all of them measured."""
        for section in sections:
            if any((section, framework) not in measured.comparisons for framework in FRAMEWORKS):
                continue
            for advice in self.env.metadata[section][KEY]:
                for gain in advice.gains:
                    if not any(list(measured.gains(section, framework, [gain])) for framework in FRAMEWORKS):
                        LOG.warning("%s: no cell measured the gain %r", section, gain)

    def section(self, section: str, frameworks: Sequence[str], measured: "Measured") -> nodes.section:
        """Return the entries of a section under its title."""
        title = nodes.title("", "", self.link(self.env.titles[section].astext(), section))
        panels = []
        for framework in frameworks:
            found = [advice for advice in self.env.metadata[section][KEY] if advice.framework in (None, framework)]
            entries = [self.entry(section, framework, measured, advice) for advice in found]
            panel = nodes.container("", nodes.bullet_list("", *entries), classes=["prose", f"tag_{framework}"])
            panel.source, panel.line = self.document["source"], 1
            panels.append(panel)
        return nodes.section("", title, tab_set(panels, frameworks), ids=[nodes.make_id(section)])

    def entry(self, section: str, framework: str, measured: "Measured", advice: Advice) -> nodes.list_item:
        """Return an entry: where it stands, what to do, and what that gained."""
        moved = [resolved(self.sphinx, self.env.docname, section, node) for node in advice.words]
        start = self.link(advice.title, section, f"?tab={framework}#{advice.place}")
        item = nodes.list_item("", nodes.paragraph("", "", start, nodes.Text(say(": ")), *moved))
        item += [gain_line(*found) for found in measured.gains(section, framework, advice.gains)]
        return item

    def link(self, text: str, section: str, place: str = "") -> nodes.reference:
        """Return a link from the page of the list to a section, or to a place in it."""
        address = self.sphinx.builder.get_relative_uri(self.env.docname, section)
        return nodes.reference("", text, refuri=address + place, internal=True)


def gain_line(figures: str, gain: float) -> nodes.paragraph:
    """Return what an advice gained, its figures in words, and the factor."""
    factor = nodes.strong("", f"{three_digits(gain)}\N{NO-BREAK SPACE}×")
    words = nodes.Text(say("Measured here: {figures}, ", figures=figures))
    return nodes.paragraph("", "", words, factor, classes=["gains"])


class Measured:
    """What the book's cells measured; nothing where none ran."""

    def __init__(self, env: BuildEnvironment) -> None:
        self.comparisons: dict[tuple[str, str], dict[str, Record]] = {}
        self.levers: dict[str, dict[str, tuple[float, float]]] = {}
        for record in collected(env, "predictions"):
            self.comparisons.setdefault((record["section"], record["framework"]), {})[record["name"]] = record
        for record in chapter_totals(env):
            self.levers[record["framework"]] = steps(record["rows"])

    def gains(self, section: str, framework: str, names: Sequence[str]) -> Iterator[tuple[str, float]]:
        """Yield each of these gains that a framework's cells measured: its figures in words, and the factor."""
        comparisons = self.comparisons.get((section, framework), {})
        levers = self.levers.get(framework, {})
        for name in names:
            before, arrow, after = name.partition(ARROW)
            if arrow and before in comparisons and after in comparisons:
                first, last = comparisons[before], comparisons[after]
                size = column_scale((first["measured"], last["measured"]))
                yield f"{told(first, size)} → {told(last, size)}", first["measured"] / last["measured"]
            elif name in levers:
                without, with_it = levers[name]
                seconds = change(without, with_it)
                words = say("{lever}: a step of {seconds}", lever=say_record(name), seconds=seconds)
                yield words, without / with_it


def told(record: Record, size: float | None) -> str:
    """Return what was measured in words, in the unit in which a figure of this size reads best."""
    return say_record(record["name"]) + say(": ") + quantity(record["measured"], record["unit"], size)


def steps(rows: Sequence[Record]) -> dict[str, tuple[float, float]]:
    """Return the seconds of a step without and with each lever of a running total."""
    found, before = {}, rows[0]["seconds"]
    for row in rows[1:]:
        found[row["lever"]] = (before, row["seconds"])
        before = row["seconds"] if row["kept"] else before
    return found


def setup(app: Sphinx) -> None:
    app.add_directive("checklist", Checklist)
    app.add_transform(NoteAdvice)
    app.add_post_transform(type("ListAdviceOfApp", (ListAdvice,), {"sphinx": app}))
