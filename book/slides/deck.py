"""The slides of a section: which cells they show, in which order, under which titles. Pure functions.

A heading opens a slide; marked cells are shown, prose becomes the speaker's notes, other code is left out.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape, unescape
from types import MappingProxyType
from unicodedata import east_asian_width

from markdown_it.token import Token

from book import BookError
from book.cells import Cell, Notebook, cell_label, notebook_of, short_hash, stop_names
from book.slides.showing import html, parsed, shown, unfolded, unpictured
from book.stops import marked
from book.words import say

LONG = 14  # lines: of a longer cell a slide shows the output alone
ROOM = 1200  # letters of questions on a slide
TAG = re.compile("<[^>]*>")
NO_MARKS: Mapping[str, str] = MappingProxyType({})


@dataclass
class Slide:
    """A slide: where it stands ("slide" to the right, "subslide" below), its titles, its cells and the notes."""

    kind: str
    title: str
    above: str = ""  # the title of the section that it is a part of
    level: int = 2
    cells: list[Cell] = field(default_factory=list)
    notes: list[Token] = field(default_factory=list)


def pieces(text: str) -> Iterator[tuple[int, str, list[Token]]]:
    """Yield the parts of a text between its headings: the heading's level (0 for none), its title as HTML, the rest."""
    tokens = parsed(text)
    level, title, rest = 0, "", list[Token]()
    number = 0
    while number < len(tokens):
        token = tokens[number]
        if token.type == "heading_open" and token.level == 0:
            if level or rest:
                yield level, title, rest
            level, title, rest = int(token.tag[1]), html([tokens[number + 1]]), []
            number += 3
        else:
            rest.append(token)
            number += 1
    yield level, title, rest


def slides(cells: Sequence[Cell], name: str) -> list[Slide]:
    """Return the slides of a notebook whose outputs are in it; `name` is the section's, for errors."""
    found = [Slide("slide", name, level=1)]
    questions: list[str] = []
    over = False
    for number, cell in enumerate(cells, 1):
        mark = cell["metadata"].get("slideshow", {}).get("slide_type")
        if cell["cell_type"] == "code":
            if mark and not over:
                add(found, mark, code(cell, f"{name}, {cell_label(number, cell)}"))
            continue
        for level, title, rest in pieces(cell["source"]):
            if over and 0 < level <= 2:
                return finished(found, questions)
            over = over or unescape(title) == say("Exercises")
            if over:
                questions += asked(rest)
                continue
            if level:
                open_slide(found, level, title)
            if mark and rest:
                add(found, mark, text(html(rest)))
            elif rest:
                found[-1].notes += unpictured(list(unfolded(rest)))
    return finished(found, questions)


def open_slide(found: list[Slide], level: int, title: str) -> None:
    if level == 1:
        found[0].title = title
        return
    upper = next((slide.title for slide in reversed(found) if slide.level == 2), "") if level > 2 else ""
    found.append(Slide("slide" if level == 2 else "subslide", title, upper, level))


def add(found: list[Slide], mark: str, cell: Cell) -> None:
    """Show a cell, on a slide of its own where its mark says so and the last slide shows something already."""
    last = found[-1]
    if last.cells and mark != "fragment":
        found.append(Slide(mark, last.title, last.above, max(last.level, 2)))
    elif last.cells:
        cell["metadata"]["slideshow"] = {"slide_type": "fragment"}
    elif mark == "slide":
        last.kind = mark
    found[-1].cells.append(cell)


def finished(found: Sequence[Slide], questions: Sequence[str]) -> list[Slide]:
    """Return the slides without those that show nothing, but for a section's only one, and the questions as the last.

    What a speaker says to a slide that is left out, he says to the next of its section, or to the last before it.
    """
    kept: list[Slide] = []
    for section in sections(found):
        notes: list[Token] = []
        kind = "subslide"
        for slide in section:
            notes = [*notes, *slide.notes]
            kind = slide.kind if slide.kind == "slide" else kind
            if slide.cells or slide.level == 1 or len(section) == 1:
                slide.kind, slide.notes = kind, notes
                kept.append(slide)
                notes, kind = [], "subslide"
        kept[-1].notes += notes
    return kept + question_slides(questions)


def question_slides(questions: Sequence[str]) -> list[Slide]:
    """Return slides of as many questions as there is room for on each."""
    found: list[Slide] = []
    room = 0
    for number, question in enumerate(questions, 1):
        room -= width(question)
        if not found or room < 0:
            opened = text(f'<ol class="questions" start="{number}"></ol>')
            found.append(Slide("subslide" if found else "slide", say("Exercises"), cells=[opened]))
            room = ROOM - width(question)
        (cell,) = found[-1].cells
        cell["source"] = cell["source"].replace("</ol>", f"<li>{question}</li></ol>")
    return found


def width(content: str) -> int:
    """Return how many letters the text of HTML is wide; a Chinese one counts twice."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in TAG.sub("", content))


def sections(found: Sequence[Slide]) -> list[list[Slide]]:
    grouped: list[list[Slide]] = []
    for slide in found:
        if slide.level <= 2:
            grouped.append([])
        grouped[-1].append(slide)
    return grouped


def asked(tokens: Sequence[Token]) -> Iterator[str]:
    """Yield each exercise as HTML, without what is folded."""
    item: list[Token] = []
    for token in unfolded(tokens):
        if token.level > 1:
            item.append(token)
        elif token.type == "list_item_close":
            yield html(item).strip()
            item = []


def text(content: str, mark: str = "") -> Cell:
    """Return a cell of HTML, with a mark on how it appears in the deck."""
    metadata = {"slideshow": {"slide_type": mark}} if mark else {}
    return {"cell_type": "markdown", "id": short_hash("s", content), "metadata": metadata, "source": content}


def code(cell: Cell, where: str) -> Cell:
    """Return a code cell as a slide shows it: the output alone if the cell only draws or is long."""
    try:
        outputs = shown(marked(cell["outputs"], stop_names(cell)), cell["metadata"].get("alt", ""))
    except ValueError as error:
        raise BookError(f"{where} shows what {error}") from None
    lines = cell["source"].count("\n") + 1
    drawn = "drawing" in cell["metadata"].get("tags", []) or lines > LONG
    if drawn and not outputs:
        raise BookError(f"{where}: {lines} lines of code without an output are no slide; at most {LONG} are")
    return cell | {"metadata": {"d2l_drawn": drawn}, "outputs": outputs}


def heading(slide: Slide, about: str, marks: Mapping[str, str]) -> Cell:
    """Return the cell that opens a slide: its titles; `about` stands above the first, and `marks` above theirs."""
    level = "h1" if slide.level == 1 else "h2"
    above = about if slide.level == 1 else slide.above
    mark = marks.get(unescape(TAG.sub("", slide.title)), "") if slide.level > 1 else ""
    above = say(" · ").join(filter(None, [above, mark]))
    lines = [f'<p class="above">{above}</p>'] if above else []
    return text("".join([*lines, f"<{level}>{slide.title}</{level}>"]), slide.kind)


def with_outputs(notebook: Notebook, executed: Notebook, name: str, cure: str) -> list[Cell]:
    """Return the cells of a reader's notebook with the outputs of its run; BookError if a marked one did not run."""
    outputs = {cell["id"]: cell["outputs"] for cell in executed["cells"] if cell["cell_type"] == "code"}
    cells = []
    for number, cell in enumerate(notebook["cells"], 1):
        if cell["cell_type"] == "code":
            if cell["id"] not in outputs and "slideshow" in cell["metadata"]:
                raise BookError(f"{name}, {cell_label(number, cell)} has changed since its notebook ran: {cure}")
            cell = cell | {"outputs": outputs.get(cell["id"], [])}
        cells.append(cell)
    return cells


def deck(cells: Sequence[Cell], framework: str, about: str, name: str, marks: Mapping[str, str] = NO_MARKS) -> Notebook:
    """Return a section's deck as a notebook in which each cell has its place on a slide.

    `cells` are those of the reader's notebook, with outputs, without solutions and answers; `about` stands above the
    title, `marks` has what stands above other titles, and `name` is the section's, for errors.
    """
    found: list[Cell] = []
    for slide in slides(cells, name):
        notes = [text(html(slide.notes), "notes")] if slide.notes else []
        found += [heading(slide, escape(about), marks), *notes, *slide.cells]
    for number, cell in enumerate(found):
        cell["id"] = f"{number}-{cell['id']}"
    return notebook_of(framework, found)
