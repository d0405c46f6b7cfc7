"""The translatable units of a source: extract them, and apply their translations.

A unit is a paragraph, a heading, an item of a list, a row of a table, a caption, an alternative text, the title of a
box or fold, the forms of a term in the glossary, or its meaning. Inline markup is part of a unit, and so are its line
breaks. Code, labels, the marks of cells, comments and formulas without words are in no unit and stay byte for byte.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby

import yaml
from markdown_it.token import Token

from book.myst import PARSER, TITLED

HEADER = re.compile(r"---\n.*?\n---\n", re.DOTALL)
OPTION = re.compile(r":(alt|caption): (.+)")  # the options of directives that are text
NESTED = ("admonition", "dropdown", "figure", "explorable", "only")  # directives whose body is Markdown
WORD = re.compile(r"[^\W\d_]{2,}")
WORDS_IN_FORMULA = re.compile(r"\\text\{(?:[^}]*[a-z]{3}|if\})")
KINDS = {"heading_open": "heading", "list_item_open": "item"}  # of the text that follows these tokens
LINES_KEPT = ("term", "formula")  # kinds of units whose line breaks mean something
HAN = r"\u3400-\u4dbf\u4e00-\u9fff"
FULL_WIDTH = r"\u3000-\u303f\uff00-\uff60"  # punctuation of Chinese alone
SHARED = "‘’“”—…"  # punctuation of both languages
NO_SPACE = re.compile(
    rf"(?<=[{FULL_WIDTH}])\n|\n(?=[{FULL_WIDTH}])|(?<=[{HAN}{SHARED}])\n(?=[{HAN}{SHARED}])"
    rf"|(?<=[{HAN}])\n(?=\{{(?:numref|cite:p)\}})"  # which become 图 3.1 and （…）
)


@dataclass(frozen=True)
class Unit:
    """A unit: the lines `first` to `last` - 1 of the source, and what stands before its text in each of them."""

    first: int
    last: int
    kind: str
    text: str
    prefixes: tuple[str, ...] = ("",)

    def lines(self, translation: str) -> list[str]:
        """Return the lines of the source with a translation in place of the text."""
        if self.kind == "cell alt":
            return yaml.safe_dump({"alt": translation}, allow_unicode=True).splitlines()
        rows = translation.split("\n")
        prefixes = [*self.prefixes, *[self.prefixes[-1]] * len(rows)]
        return [prefix + row for prefix, row in zip(prefixes, rows, strict=False)]


@cache  # a build asks twice: for the translated source, and to count
def extract(source: str) -> tuple[Unit, ...]:
    """Return the units of a source in their order."""
    header = HEADER.match(source)
    skipped = header.group().count("\n") if header else 0
    lines = source.split("\n")
    units = units_of_text("\n".join(lines[skipped:]), lines, skipped)
    return tuple(unit for unit in units if WORD.search(unit.text))


def apply(source: str, translate: Callable[[str], str | None]) -> str:
    """Return a source with its units translated; `translate` returns None for a text that stays as it is."""
    lines = source.split("\n")
    for unit in reversed(extract(source)):
        translation = translate(unit.text)
        if translation is not None:
            if unit.kind not in LINES_KEPT:
                translation = join_lines(translation)
            lines[unit.first : unit.last] = unit.lines(translation)
    return "\n".join(lines)


def join_lines(text: str) -> str:
    """Return a text without the line breaks that browsers would show as spaces where Chinese has none."""
    return NO_SPACE.sub("", text)


def units_of_text(text: str, lines: Sequence[str], start: int, kind: str = "paragraph") -> Iterator[Unit]:
    """Yield the units of Markdown that begins in line `start` of the source: all of it or the body of a directive.

    `kind` is what its paragraphs are called.
    """
    next_kind, rows = kind, set[int]()
    for token in PARSER.parse(text):
        next_kind = KINDS.get(token.type, next_kind)
        if not token.map:
            continue
        first, last = start + token.map[0], start + token.map[1]
        if token.type in ("fence", "colon_fence"):
            yield from units_of_directive(token, lines, first)
        elif token.type.startswith("math_block") and WORDS_IN_FORMULA.search(token.content):
            yield Unit(first, last, "formula", "\n".join(lines[first:last]))
        elif token.type == "inline" and lines[first].lstrip().startswith("|"):  # one cell of a table's row
            if first not in rows:
                rows.add(first)
                yield unit_at(first, "row", lines[first].strip(), lines)
        elif token.type == "inline":
            yield unit_at(first, next_kind, token.content, lines)
            next_kind = kind


def unit_at(first: int, kind: str, text: str, lines: Sequence[str]) -> Unit:
    """Return the unit of a text that begins in line `first`, behind the marks of lists, quotations or headings."""
    rows, prefixes = [row.lstrip() for row in text.split("\n")], []
    for number, row in enumerate(rows, first):
        line = lines[number].rstrip()
        if not line.endswith(row):
            raise ValueError(f"line {number + 1} does not end with {row!r}: {line!r}")
        prefixes.append(line.removesuffix(row))
    return Unit(first, first + len(rows), kind, "\n".join(rows), tuple(prefixes))


def units_of_directive(token: Token, lines: Sequence[str], first: int) -> Iterator[Unit]:
    """Yield the units of a directive that opens in line `first`: its title, its options, its body."""
    opening = re.match(r"\{(\S+)\}(.*)", token.info.strip())
    if not opening:
        return
    name, title, body = opening[1], opening[2].strip(), token.content.split("\n")
    if name in TITLED and title:
        yield unit_at(first, "title", title, lines)
    for number, row in enumerate(body):
        if not re.match(r":(?!::)", row):
            break
        option = OPTION.match(row.rstrip())
        if option:
            yield unit_at(first + 1 + number, option[1], option[2], lines)
        body[number] = ""
    if name == "code-cell" and body[0] == "---":
        yield from unit_of_cell(body, first + 1)
    elif name == "glossary":
        yield from units_of_glossary(body, first + 1)
    elif name in NESTED:
        kind = "caption" if name == "figure" else "paragraph"
        yield from units_of_text("\n".join(body), lines, first + 1, kind)


def unit_of_cell(body: Sequence[str], start: int) -> Iterator[Unit]:
    """Yield the unit of the alternative text in the YAML with which a code cell begins, if it has one."""
    for first in range(1, body.index("---", 1)):
        if body[first].startswith("alt:"):
            last = first + 1
            while body[last].startswith(" "):
                last += 1
            text = yaml.safe_load("\n".join(body[first:last]))["alt"]
            yield Unit(start + first, start + last, "cell alt", text)


def units_of_glossary(body: Sequence[str], start: int) -> Iterator[Unit]:
    """Yield the units of a glossary: the forms of each term, one a line, and its meaning."""
    for indentation, group in groupby(enumerate(body), lambda numbered: indentation_of(numbered[1])):
        if indentation is not None:
            numbers, rows = zip(*group, strict=True)
            kind = "meaning" if indentation else "term"
            text = "\n".join(row.strip() for row in rows)
            yield Unit(start + numbers[0], start + numbers[-1] + 1, kind, text, (indentation,))


def indentation_of(line: str) -> str | None:
    """Return the spaces with which a line begins; None for an empty line."""
    return line[: len(line) - len(line.lstrip())] if line.strip() else None
