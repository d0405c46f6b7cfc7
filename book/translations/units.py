"""A source as the words in it and all the rest: what there is to translate, and the source that says it otherwise.

A unit is what a translator has before him at once: a paragraph, a heading, an item of a list, a row of a table, a
caption, an alternative text, the title of a box or fold, the forms of a term of the glossary, its meaning. The markup
within it belongs to it, and so do its lines, a sentence each. Code, labels, marks of cells, comments and formulas
without words belong to no unit and stay as they are, byte for byte.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import yaml
from markdown_it.token import Token

from book.plain import PARSER, TITLED

HEADER = re.compile(r"---\n.*?\n---\n", re.DOTALL)
OPTION = re.compile(r":(alt|caption): (.+)")  # of a directive: those that are words
PROSE = ("admonition", "dropdown", "figure", "explorable", "only")  # directives that hold prose
WORD = re.compile(r"[^\W\d_]{2,}")
SAID = re.compile(r"\\text\{[^}]*[a-z]{3}")  # words in a formula
KINDS = {"heading_open": "heading", "list_item_open": "item"}  # of what follows a token
LINES_COUNT = ("term", "formula")  # units whose lines are no sentences
HAN = r"\u3400-\u4dbf\u4e00-\u9fff"
SIGNS = r"\u3000-\u303f\uff00-\uff60—‘’“”…"  # punctuation as wide as a Chinese character
AT_WIDE = re.compile(rf"(?<=[{HAN}{SIGNS}])\n|\n(?=[{HAN}{SIGNS}])")


@dataclass(frozen=True)
class Unit:
    """The words of the lines `first` to `last` - 1 of a source, and what stands there before each line of them."""

    first: int
    last: int
    kind: str
    text: str
    marks: tuple[str, ...] = ("",)

    def lines(self, words: str) -> list[str]:
        """Return the lines of a source that say `words` in place of this unit."""
        if self.kind == "cell alt":
            return yaml.safe_dump({"alt": words}, allow_unicode=True).splitlines()
        rows = words.split("\n")
        marks = [*self.marks, *[self.marks[-1]] * len(rows)]
        return [mark + row for mark, row in zip(marks, rows, strict=False)]


def extract(source: str) -> list[Unit]:
    """Return the units of a source in their order."""
    header = HEADER.match(source)
    skipped = header.group().count("\n") if header else 0
    lines = source.split("\n")
    body = "\n".join(lines[skipped:])
    return [unit for unit in units_of(body, lines, skipped) if WORD.search(unit.text)]


def translate(source: str, words: Callable[[Unit], str | None], spaced: bool = True) -> str:
    """Return a source in other words.

    Parameters
    ----------
    source : str
        A source in MyST Markdown.
    words : callable
        What to say in place of a unit, None to leave it.
    spaced : bool
        Whether the language sets a space between two sentences; without it, their lines become one.
    """
    lines = source.split("\n")
    for unit in reversed(extract(source)):
        said = words(unit)
        if said is not None:
            lines[unit.first : unit.last] = unit.lines(
                said if spaced or unit.kind in LINES_COUNT else on_one_line(said)
            )
    return "\n".join(lines)


def on_one_line(words: str) -> str:
    """Return a text on one line, with no space where a line begins or ends with a Chinese character or sign."""
    return AT_WIDE.sub("", words).replace("\n", " ")


def units_of(text: str, lines: Sequence[str], start: int) -> Iterator[Unit]:
    """Yield the units of a text (all of a source or the inside of a directive) that begins at line `start`."""
    kind, rows = "paragraph", set[int]()
    for token in PARSER.parse(text):
        kind = KINDS.get(token.type, kind)
        if not token.map:
            continue
        first, last = start + token.map[0], start + token.map[1]
        if token.type in ("fence", "colon_fence"):
            yield from units_of_directive(token, lines, first)
        elif token.type.startswith("math_block") and SAID.search(token.content):
            yield Unit(first, last, "formula", "\n".join(lines[first:last]))
        elif token.type == "inline" and lines[first].lstrip().startswith("|"):  # one of the cells of a table's row
            if first not in rows:
                rows.add(first)
                yield unit_at(first, "row", lines[first].strip(), lines)
        elif token.type == "inline":
            yield unit_at(first, kind, token.content, lines)
            kind = "paragraph"


def unit_at(first: int, kind: str, text: str, lines: Sequence[str]) -> Unit:
    """Return the unit of a text that stands in the lines from `first` on, behind marks of lists, quotes or headings."""
    rows, marks = [row.lstrip() for row in text.split("\n")], []
    for place, row in enumerate(rows, first):
        line = lines[place].rstrip()
        if not line.endswith(row):
            raise ValueError(f"line {place + 1} does not end with {row!r}: {line!r}")
        marks.append(line.removesuffix(row))
    return Unit(first, first + len(rows), kind, "\n".join(rows), tuple(marks))


def units_of_directive(token: Token, lines: Sequence[str], first: int) -> Iterator[Unit]:
    """Yield the units of a directive, which opens in line `first`: its title, its options, its body."""
    opening = re.match(r"\{(\S+)\}(.*)", token.info.strip())
    if not opening:
        return
    name, title, body = opening[1], opening[2].strip(), token.content.split("\n")
    if name in TITLED and title:
        yield unit_at(first, "title", title, lines)
    for place, row in enumerate(body):
        if not re.match(r":(?!::)", row):
            break
        option = OPTION.match(row.rstrip())
        if option:
            yield unit_at(first + 1 + place, option[1], option[2], lines)
        body[place] = ""
    if name == "code-cell" and body[0] == "---":
        yield from cell_alt(body, first + 1)
    elif name == "glossary":
        yield from entries(body, first + 1)
    elif name in PROSE:
        yield from units_of("\n".join(body), lines, first + 1)


def cell_alt(body: Sequence[str], start: int) -> Iterator[Unit]:
    """Yield the alternative text in the YAML that the code of a cell begins with."""
    for first in range(1, body.index("---", 1)):
        if body[first].startswith("alt:"):
            last = first + 1
            while body[last].startswith(" "):
                last += 1
            words = yaml.safe_load("\n".join(body[first:last]))["alt"]
            yield Unit(start + first, start + last, "cell alt", words)


def entries(body: Sequence[str], start: int) -> Iterator[Unit]:
    """Yield the units of a glossary: the forms of each term, a line each, and the lines of its meaning."""

    def indentation(numbered: tuple[int, str]) -> str | None:
        return re.match(" *", numbered[1])[0] if numbered[1].strip() else None  # type: ignore[index]

    for mark, group in groupby(enumerate(body), indentation):
        if mark is not None:
            places, rows = zip(*group, strict=True)
            text = "\n".join(row.strip() for row in rows)
            yield Unit(start + places[0], start + places[-1] + 1, "meaning" if mark else "term", text, (mark,))
