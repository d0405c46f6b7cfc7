"""What a cell has printed, by our packages or by itself, in another language: a page shows the English run."""

import re
from collections.abc import Callable
from itertools import groupby

from book.translations.units import HAN
from d2l_lab.instruments.display import WIDTH, aligned, columns, row_in_place
from d2l_lab.instruments.words import Translate, filling, pieces

BREAK = r"(?: |\n  )"  # where a long sentence may have been wrapped
CODE = ("exercise", "call", "result", "kind", "message")  # fields that are names or values of code
LONG = 60  # characters of a sentence that may have been
WORD = re.compile(r"[a-z]{3}")
ROW = re.compile(r"(?P<name>\S.*?) {2,}(?P<time>\S+ \S+ \(.*?; )(?P<runs>.*?)\) +(?P<ratio>\S+ ×)")  # of `report`


# Of a step: the table, and the sentences below it behind an arrow.
BILL = re.compile(r"^(operation +calls +[^→]*?)^→ ([^\n]*(?:\n  [^\n]*)*)", re.MULTILINE)
ENDING = r"rank \d+ (?:still runs|was ended by (?:SIG\w+|signal \d+)|ended with status \d+)"  # of a job's
ENDINGS = re.compile(f"{ENDING}(?:, {ENDING})*")
PIECE = re.compile(rf"[（“]*(?:[{HAN}]|[^\s\u2e80-\u9fff\uff00-\uff60“”]+)?[，。；：、！？）”]*\s*|\S")
SENTENCES = re.compile(r"(?<=\.) (?=[A-Z])")


def translation_of_printed(
    lines: dict[str, str],
    cells: dict[str, str],
    fixed: dict[str, str],
    record: Translate,
    own: dict[str, str] | None = None,
) -> Callable[[str], str]:
    """Return a function that translates what cells have printed, as far as our packages or they themselves say it.

    Parameters
    ----------
    lines, cells, fixed
        The translations of texts that fill lines, or cells of a bill, and of all texts, by their English, with fields.
    record
        What translates the text of a record, such as a name.
    own
        As `lines`, those of the cells, which none of our packages has wrapped.
    """
    own = own or {}
    inside = {text: words for text, words in fixed.items() if text not in cells and WORD.search(literal(text))}
    phrase = filling(lambda text: fixed.get(text) or record(text), inside)
    verdict = filling(fixed.get, inside)
    cell = filling(cells.get, cells)
    most_literal_first = sorted([*lines, *own], key=lambda text: len(literal(text)), reverse=True)
    forms = [(form(text, text in lines), lines.get(text) or own[text]) for text in most_literal_first]

    def translate(text: str) -> str:
        result, start = "", 0
        for found in BILL.finditer(text):
            result += lines_and_tables(text[start : found.start()]) + bill(found)
            start = found.end()
        return result + lines_and_tables(text[start:])

    def lines_and_tables(text: str) -> str:
        for pattern, words in forms:
            text = pattern.sub(lambda found, words=words: filled(found, words), text)  # type: ignore[misc]
        return ENDINGS.sub(endings, with_tables(text, phrase))

    def endings(found: re.Match[str]) -> str:
        return "，".join(verdict(each) or each for each in found[0].split(", "))

    def bill(found: re.Match[str]) -> str:
        table = [
            fixed.get(line) or (row_in_place(line, cell) if "  " in line else line) for line in found[1].split("\n")
        ]
        return "\n".join(table) + in_lines(sentences(causes(joined(found[2]))), "→")

    def sentences(text: str) -> str:
        """Return the sentences below a bill, the most at once that one text has."""
        ends = [found.start() for found in SENTENCES.finditer(text)] + [len(text)]
        for end in reversed(ends):
            words = verdict(text[:end]) or verdict(f" {text[:end]}")
            if words:
                return words.strip() + sentences(text[end + 1 :])
        return text

    def causes(text: str) -> str:
        """Translate the causes with their shares, of which the text behind the colon is no part."""
        for each, words in inside.items():
            name, alone = each.partition(":")[0], words.partition("：")[0]
            text = re.sub(rf"{re.escape(name)} \(([\d% …]+)\)", rf"{alone}（\1）", text) if name in text else text
        return text

    def in_place(value: str) -> str:
        words = ENDINGS.sub(endings, value) if ENDINGS.fullmatch(value) else phrase(value.strip())
        gap = " " * (columns(value) - columns(words or ""))
        return value if not words else words + gap if value.endswith(" ") else words

    def filled(found: re.Match[str], words: str) -> str:
        fields = {name: joined(value) for name, value in found.groupdict().items()}
        fields = {name: value if name in CODE else in_place(value) for name, value in fields.items()}
        line = "".join(part + fields.get(name or "", "") for part, name in pieces(words))
        return in_lines(line) if "\n" in found[0] else found[1] + line

    return translate


def literal(text: str) -> str:
    return "".join(part for part, _ in pieces(text))


def joined(text: str) -> str:
    return " ".join(text.split("\n  ")) if "\n" in text else text


def in_lines(text: str, mark: str = " ") -> str:
    """Return a sentence in lines, the first behind a mark, the others as far in.

    Chinese breaks between any two characters, but not before a mark that closes or behind one that opens.
    """
    lines, line = list[str](), f"{mark} "
    for piece in PIECE.findall(re.sub(rf"(?<=[{HAN}]) (?=[{HAN}])", "", text)):
        if columns(line + piece.rstrip()) > WIDTH and len(line) > len(mark) + 1:
            lines.append(line.rstrip())
            line = "  "
        line += piece
    return "\n".join([*lines, line.rstrip()])


def form(text: str, wraps: bool = True) -> re.Pattern[str]:
    """Return a pattern of the lines that a text with fields can become; a long one may have been wrapped."""
    names, result = set[str](), ""
    may_break = wraps and len(literal(text)) > LONG
    for part, name in pieces(text):
        result += re.escape(part).replace(r"\ ", BREAK if may_break else " ")
        if name is not None:
            any_text = r"[^\n]*?(?:\n  [^\n]*?)??" if may_break else r"[^\n]*?"
            any_text = r"[^\n,]*?" if name == "figure" else any_text  # a number with its unit
            result += f"(?P={name})" if name in names else f"(?P<{name}>{any_text})"
            names.add(name)
    return re.compile(f"^( *){result}$", re.MULTILINE)


def with_tables(text: str, phrase: Translate) -> str:
    """Return a text with the names in the tables of `report` translated, its columns aligned again."""
    result = []
    for is_table, lines in groupby(text.split("\n"), lambda line: bool(ROW.fullmatch(line))):
        if is_table:
            rows = []
            for found in filter(None, map(ROW.fullmatch, lines)):
                runs = phrase(found["runs"]) or found["runs"]
                rows.append([phrase(found["name"]) or found["name"], f"{found['time']}{runs})", found["ratio"]])
            result += aligned(rows, (0, 1, 2)).split("\n")
        else:
            result += lines
    return "\n".join(result)
