"""The book's advice on one page, each with a box to tick, a link to its place, and what it gained on this machine.

```{checklist}
:without: hybridize#a-compiled-training-step-1
:with-gpus: memory-precision#gradients-that-underflow-1
:with-several: multiple-gpus parameterserver
```

An entry is a paragraph that begins with "**In your own loop**". A comment below the paragraph names what its cells
measured, a line each: two comparisons of times or bytes, before and after, or a lever of the running total:

    % gain: eight passes → one pass
    % gain: compiled step

What gained on this machine stands first, the most first; what lost is no advice, and is named at the end. The rest
follows in the book's order. The options name the entries that another says too, those for who has a GPU, and the
entries or sections for who has several devices: by section, the id of the heading above it, and the place among the
entries of all frameworks below the heading.

Each page notes its own when it is read; the page that lists them is put together after all are read.
"""

from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Any, NamedTuple

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.nodes import traverse_parent

from book import FRAMEWORKS
from book.pages.lists import CONTENTS, LISTS, Listing, copies, places_of, resolved
from book.pages.records.record_nodes import collected
from book.pages.records.running_total import chapter_totals
from book.pages.tabs import framework_of, tab_set
from book.record_html import Record, change
from book.words import say, say_record
from d2l_lab.instruments.levers import KNOWN
from d2l_lab.instruments.predictions import quantity
from d2l_lab.instruments.timing import column_scale, three_digits

GAIN, ARROW = "gain: ", " → "
MACHINES = ("cpu", "gpu", "several")
OPTIONS = ("without", "with-gpus", "with-several")
CHOSEN = "checklist-options"  # in the metadata of the list's page
KEY = "checklist"  # in the metadata of a page: a list of Advice
BOXES = "checklist.js"
LOG = logging.getLogger(__name__)


class Advice(NamedTuple):
    """An advice: whose it is (None: everybody's), its id, a name that other editions give it too, the title above it,
    the nodes that say it, and its gains."""

    framework: str | None
    place: str
    name: str
    title: str
    words: list[Any]
    gains: list[str]


class Checklist(Listing):
    """The checklist in each framework: what gained, the rest section by section, and what lost."""

    option_spec = dict.fromkeys(OPTIONS, str.split)

    def run(self) -> list[nodes.Node]:
        """Return its place, on a page that is written anew when a measurement changes."""
        Measured(self.env)  # notes what the page depends on
        self.env.metadata[self.env.docname][CHOSEN] = {name: self.options.get(name, []) for name in OPTIONS}
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
                title, page = section[0].astext(), self.env.docname
                number = 1 + sum((each.title, each.framework) == (title, framework) for each in found)
                name = f"{page}#{framework + ':' if framework else ''}{section['ids'][0]}-{number}"
                found.append(Advice(framework, place, name, title, words_of(rest), gains_below(paragraph)))
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


class Found(NamedTuple):
    """An advice of a section, as one framework has it, with its gains on this machine in words, as factors."""

    section: str
    advice: Advice
    gains: list[tuple[str, float]]

    @property
    def gain(self) -> float:
        """What it gained at best; 0 if nothing was measured."""
        return max((factor for _, factor in self.gains), default=0)


class Arranged(NamedTuple):
    """The advice by framework: what gained, the most first, the rest by section, and what lost; nothing is empty."""

    frameworks: list[str]
    gained: dict[str, list[Found]]
    rest: dict[str, dict[str, list[Found]]]
    lost: dict[str, list[Found]]


def options(env: BuildEnvironment) -> dict[str, list[str]]:
    """Return the options of the list."""
    return next((about[CHOSEN] for about in env.metadata.values() if CHOSEN in about), dict.fromkeys(OPTIONS, []))


def advising(env: BuildEnvironment) -> list[str]:
    """Return the pages with advice, in the book's order."""
    return [page for page in env.toctree_includes.get(env.config.root_doc, []) if KEY in env.metadata[page]]


def arranged(env: BuildEnvironment) -> Arranged:
    """Return the book's advice as the list shows it."""
    measured, sections, left_out = Measured(env), advising(env), options(env)["without"]
    present = {word for page in sections for word in env.metadata[page].get("frameworks", ())}
    frameworks = [word for word in FRAMEWORKS if word in present]
    found = {
        word: [
            Found(page, advice, list(measured.gains(page, word, advice.gains)))
            for page in sections
            for advice in env.metadata[page][KEY]
            if advice.framework in (None, word) and advice.name not in left_out
        ]
        for word in frameworks
    }

    def those(test: Callable[[Found], bool]) -> dict[str, list[Found]]:
        chosen = {word: [each for each in own if test(each)] for word, own in found.items()}
        return {word: own for word, own in chosen.items() if own}

    def below(page: str) -> dict[str, list[Found]]:
        return those(lambda each: each.section == page and not each.gain)

    gained = {
        word: sorted(own, key=lambda each: -each.gain) for word, own in those(lambda each: each.gain >= 1).items()
    }
    rest = {page: below(page) for page in sections}
    lost = those(lambda each: 0 < each.gain < 1)
    return Arranged(frameworks, gained, {page: own for page, own in rest.items() if own}, lost)


def gained_title() -> str:
    return say("What Gained on This Machine")


def lost_title() -> str:
    return say("What Did Not Gain on This Machine")


def contents(env: BuildEnvironment) -> list[tuple[str, str]]:
    """Return the titles of the list with their places."""
    parts = arranged(env)
    first = [(gained_title(), "gained")] if parts.gained else []
    last = [(lost_title(), "lost")] if parts.lost else []
    return [*first, *((env.titles[page].astext(), nodes.make_id(page)) for page in parts.rest), *last]


class ListAdvice(SphinxPostTransform):
    """Fill the place of the list: sets of tabs under headings."""

    default_priority = 150  # before the tabs are shown, flat or as tabs
    sphinx: Sphinx  # which `setup` sets

    def run(self, **kwargs: Any) -> None:
        for place in places_of(self.document, "checklist"):
            parts = arranged(self.env)
            self.frameworks = parts.frameworks
            self.env.metadata[self.env.docname]["frameworks"] = self.frameworks  # for the switch above the page
            if self.sphinx.builder.name != "dummy":  # which numbers the sources, whose advice has no framework yet
                self.check(Measured(self.env), parts.frameworks)
            place.parent.replace(place, [*self.choice(), *self.parts(parts)])

    def check(self, measured: "Measured", present: Sequence[str]) -> None:
        """Warn of a name that no advice has, and of a gain that no framework of a section that ran in all measured.

        A name may be of a framework that is not `present`: it was not chosen, it cannot be had here, or it has left
        the book. A lever of the running total may stand in none: what promises too little on a machine is not tried
        there.
        """
        known = {advice.name for page in advising(self.env) for advice in self.env.metadata[page][KEY]}
        for name in [name for names in options(self.env).values() for name in names]:
            framework = name.partition("#")[2].partition(":")[0]
            if framework and ":" in name and framework not in present:
                continue
            if name not in known and name not in self.env.found_docs:
                near = sorted(each for each in known if each.startswith(name.partition("#")[0]))
                LOG.warning("the checklist names %r, which no advice has; known: %s", name, " ".join(near))
        for section in advising(self.env):
            if any((section, framework) not in measured.comparisons for framework in FRAMEWORKS):
                continue
            for advice in self.env.metadata[section][KEY]:
                for gain in set(advice.gains) - set(KNOWN):
                    if not any(list(measured.gains(section, framework, [gain])) for framework in FRAMEWORKS):
                        LOG.warning("%s: no cell measured the gain %r", section, gain)

    def parts(self, parts: "Arranged") -> Iterator[nodes.section]:
        """Yield what gained, the rest section by section, and what lost, each under a heading."""
        if parts.gained:
            yield self.part(nodes.Text(gained_title()), "gained", parts.gained)
        for section, found in parts.rest.items():
            yield self.part(self.link(self.env.titles[section].astext(), section), nodes.make_id(section), found)
        if parts.lost:
            panels = [self.panel(word, self.losses(word, found)) for word, found in parts.lost.items()]
            title = nodes.title("", lost_title())
            yield nodes.section("", title, tab_set(panels, self.frameworks), ids=["lost"])

    def part(self, title: nodes.Node, place: str, found: dict[str, list[Found]]) -> nodes.section:
        """Return entries in each framework under a title."""
        panels = [
            self.panel(word, nodes.bullet_list("", *(self.entry(word, each) for each in own), classes=["boxes"]))
            for word, own in found.items()
        ]
        machines = {machine for own in found.values() for each in own for machine in self.machines(each)}
        tabs = tab_set(panels, self.frameworks)
        return nodes.section("", nodes.title("", "", title), tabs, ids=[place], classes=sorted(machines))

    def panel(self, framework: str, content: nodes.Element) -> nodes.container:
        panel = nodes.container("", content, classes=["prose", f"tag_{framework}"])
        panel.source, panel.line = self.document["source"], 1
        return panel

    def machines(self, found: Found) -> list[str]:
        """Return the classes for the machines that an advice is for."""
        chosen, names = options(self.env), {found.section, found.advice.name}
        few = 2 if names & set(chosen["with-several"]) else 1 if names & set(chosen["with-gpus"]) else 0
        return [f"for-{machine}" for machine in MACHINES[few:]]

    def entry(self, framework: str, found: Found) -> nodes.list_item:
        """Return an entry: a box, where it stands, what to do, and what that gained."""
        section, advice, gains = found
        moved = [resolved(self.sphinx, self.env.docname, section, node) for node in advice.words]
        start = self.link(advice.title, section, f"?tab={framework}#{advice.place}")
        words = nodes.paragraph("", "", start, nodes.Text(say(": ")), *moved)
        if self.sphinx.builder.name == "html":
            label = say("Done: {title}", title=advice.title)
            box = f'<input type="checkbox" data-advice="{escape(advice.name)}" aria-label="{escape(label)}">'
            words.insert(0, nodes.raw("", box, format="html"))
        item = nodes.list_item("", words, classes=self.machines(found))
        item += [gain_line(*each) for each in sorted(gains, key=lambda each: -each[1]) if each[1] >= 1]
        return item

    def losses(self, framework: str, found: Sequence[Found]) -> nodes.paragraph:
        """Return a sentence on what was tried here and did not gain."""
        named: list[nodes.Node] = []
        for section, advice, gains in found:
            factor = max(factor for _, factor in gains)
            named += [
                nodes.Text(say(", ") if named else ""),
                self.link(advice.title, section, f"?tab={framework}#{advice.place}"),
            ]
            named.append(nodes.Text(f" ({three_digits(factor)}\N{NO-BREAK SPACE}×)"))
        return nodes.paragraph("", "", *named, nodes.Text(say(".")))

    def choice(self) -> list[nodes.Node]:
        """Return the buttons that leave out what is for other machines; the style sheet does it, without a script."""
        if self.sphinx.builder.name != "html":
            return []
        names = {"all": say("all machines"), "cpu": say("a CPU"), "gpu": say("one GPU"), "several": say("several GPUs")}
        buttons = "".join(
            f'<label><input type="radio" name="machine" value="{value}"{" checked" * (value == "all")}> {words}</label>'
            for value, words in names.items()
        )
        legend = say("Advice for")
        choice = f'<fieldset class="machines"><legend>{legend}</legend>{buttons}</fieldset>'
        return [nodes.raw("", choice, format="html")]

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


def load(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Have the page of the list load the script that keeps its ticks."""
    if app.env.metadata[page].get(LISTS) == "checklist":
        app.add_js_file(BOXES, loading_method="defer")


def setup(app: Sphinx) -> None:
    CONTENTS["checklist"] = contents
    app.add_directive("checklist", Checklist)
    app.connect("html-page-context", load)
    app.add_transform(NoteAdvice)
    app.add_post_transform(type("ListAdviceOfApp", (ListAdvice,), {"sphinx": app}))
