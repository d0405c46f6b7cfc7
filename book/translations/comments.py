"""The comments and docstrings of a source's code, and the same code with their translations.

A unit is a comment, with those below it where they stand alone in their lines, or a paragraph of a docstring; its lines
are joined, and those of its translation are the translator's. Doctests and what a shell or a batch system reads of
comments are in no unit, and no other character of the code changes.
"""

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from tokenize import COMMENT, generate_tokens

from book.translations.units import WORD

FIRST_LINE = re.compile(r"%%(?:writefile (?:-a )?\S+\.(\w+)|\w+).*\n")  # of a cell that a magic takes
MAGIC = re.compile(r"^( *)([%!].*)", re.MULTILINE)  # a line that is IPython's
FILES = {"py": "python", "c": "c", "h": "c", "cc": "c"}  # languages by the ends of files' names
FENCE = re.compile(r"^(```+)(python|sh|bash|c)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)  # code that is shown, not run
IN_C = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|(?P<comment>//[^\n]*)')
IN_SHELL = re.compile(r"(?:^ *|  )(?P<comment># .*)", re.MULTILINE)  # #!/bin/bash and #SBATCH have no space
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
DOCSTRING = re.compile(r'[rR]?("""|\'\'\'|"|\')(.*)\1', re.DOTALL)
PARAGRAPH = re.compile(r"\S(?:.|\n(?! *\n))*")


@dataclass(frozen=True)
class Unit:
    """A unit: the characters `start` to `end` - 1 of the code, and what each of its lines but the first begins with."""

    start: int
    end: int
    text: str
    beginning: str


def extract(source: str) -> list[str]:
    """Return the comments and docstrings of the code in a source, in their order."""
    import jupytext

    found = list[Unit]()
    for cell in jupytext.reads(source, fmt="md:myst")["cells"]:
        if cell["cell_type"] == "code":
            found += units_of_cell(cell["source"])
        else:
            for match in FENCE.finditer(cell["source"]):
                found += units(match[3], match[2])
    return [unit.text for unit in found]


def apply_to_cell(code: str, translate: Callable[[str], str | None]) -> str:
    """Return a cell with its units translated; `translate` returns None for a text that stays as it is."""
    return with_translations(code, units_of_cell(code), translate)


def apply_to_fences(source: str, translate: Callable[[str], str | None]) -> str:
    """Return a source with the units translated of the code that it shows but does not run."""

    def fence(match: re.Match[str]) -> str:
        code = with_translations(match[3], units(match[3], match[2]), translate)
        return f"{match[1]}{match[2]}\n{code}{match[1]}"

    return FENCE.sub(fence, source)


def with_translations(code: str, found: Sequence[Unit], translate: Callable[[str], str | None]) -> str:
    for unit in reversed(found):
        translation = translate(unit.text)
        if translation is not None:
            code = code[: unit.start] + translation.replace("\n", "\n" + unit.beginning) + code[unit.end :]
    return code


def units_of_cell(code: str) -> list[Unit]:
    magic = FIRST_LINE.match(code)
    if magic is None:
        return units(MAGIC.sub(lambda line: f"{line[1]}0{' ' * (len(line[2]) - 1)}", code), "python")
    blank = " " * (magic.end() - 1) + "\n"  # so that what follows keeps its place
    return units(blank + code[magic.end() :], FILES.get(magic[1] or "", ""))


def units(code: str, language: str) -> list[Unit]:
    """Return the units of code in Python, C or a shell's language, in their order; none of any other."""
    found = list[Unit]()
    if language == "python":
        found = [*together(code, python_comments(code), "# "), *docstrings(code)]
    elif language == "c":
        spans = [match.span("comment") for match in IN_C.finditer(code) if match["comment"]]
        found = list(together(code, spans, "// "))
    elif language in ("sh", "bash"):
        found = list(together(code, [match.span("comment") for match in IN_SHELL.finditer(code)], "# "))
    return sorted((unit for unit in found if WORD.search(unit.text)), key=lambda unit: unit.start)


def python_comments(code: str) -> list[tuple[int, int]]:
    starts = line_starts(code)
    tokens = [token for token in generate_tokens(StringIO(code).readline) if token.type == COMMENT]
    return [(starts[token.start[0]] + token.start[1], starts[token.end[0]] + token.end[1]) for token in tokens]


def together(code: str, comments: Sequence[tuple[int, int]], mark: str) -> Iterator[Unit]:
    """Yield a unit for each comment, one for those that stand alone in their lines below each other."""
    waiting = list(comments)
    while waiting:
        start, end = waiting.pop(0)
        before = code[code.rfind("\n", 0, start) + 1 : start]
        indentation = " " * len(before)
        while before == indentation and waiting and code[end : waiting[0][0]] == "\n" + indentation:
            end = waiting.pop(0)[1]
        rows = [row.strip().removeprefix(mark.strip()).strip() for row in code[start:end].split("\n")]
        yield Unit(start + len(mark), end, " ".join(rows), indentation + mark)


def docstrings(code: str) -> Iterator[Unit]:
    """Yield the paragraphs of docstrings that are no doctests."""
    starts, rows = line_starts(code), code.split("\n")
    for node in ast.walk(ast.parse(code)):
        if not isinstance(node, DOCUMENTED) or ast.get_docstring(node) is None:
            continue
        string = node.body[0]
        assert string.end_lineno is not None
        last_row = rows[string.end_lineno - 1].encode()[: string.end_col_offset].decode()  # which counts bytes
        first, last = starts[string.lineno] + string.col_offset, starts[string.end_lineno] + len(last_row)
        inside = DOCSTRING.fullmatch(code, first, last)
        assert inside, "a docstring is one string"
        for found in PARAGRAPH.finditer(code, inside.start(2), inside.end(2)):
            paragraph = found[0].rstrip()
            if not paragraph.startswith(">>>"):
                end = found.start() + len(paragraph)
                yield Unit(found.start(), end, " ".join(paragraph.split()), " " * string.col_offset)


def line_starts(code: str) -> list[int]:
    """Return where each line begins, counted from 1 as Python does."""
    return [0, 0, *(match.end() for match in re.finditer("\n", code))]
