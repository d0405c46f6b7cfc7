"""What a terminal would show of a program's output: a progress bar is one line, and its last frame is what stays.

A carriage return, a backspace or a sequence that moves the cursor lets a program write over what it has written.
"""

import re
from dataclasses import dataclass, field
from itertools import groupby

HEIGHT = 24  # the lines that a cursor can reach, upwards
WIDTH = 500  # the columns that it can skip, to the right
LONGEST = 100_000  # characters of a line; a longer one is cut into several
STYLES = 8  # sequences in a row that set colours; older ones are forgotten
RESET = "\x1b[0m"
TOKEN = re.compile(
    r"\x1b\[(?P<numbers>[0-?]*)[ -/]*(?P<code>[@-~])"  # moves the cursor, erases, or sets a colour
    r"|\x1b\].*?(?:\a|\x1b\\)|\x1b[ -/]*[0-Z\\^-~]"  # a title, a character set and the like, of which nothing is seen
    r"|(?P<control>[\b\n\r])"
    r"|(?P<text>[^\x00-\x08\x0a-\x1f\x7f-\x9f]+)"
)
UNFINISHED = re.compile(r"\x1b(\[[0-?]{0,99}[ -/]{0,9}|\][^\a\n\x1b]{0,999}\x1b?|[ -/]{1,9})?\Z")
COLOUR = re.compile(r"\x1b\[[0-?]*m")
Line = tuple[str, bool]  # its text, and whether it stays: False for a frame that is about to be written over


def plain(line: str) -> str:
    """Return a line without the sequences that set its colours."""
    return COLOUR.sub("", line) if "\x1b" in line else line


@dataclass
class Row:
    """A line of the screen: its characters, each behind its colours, and what has become of it."""

    cells: list[str] = field(default_factory=list)
    passed_on = False
    changed = False  # since it was passed on
    fresh = False  # since its last frame
    moved = False  # a cursor has moved back in it, so blanks at its end have erased something

    def text(self) -> str:
        text = "".join(self.cells)
        if "\x1b" in text:
            runs = groupby(self.cells, key=lambda cell: cell[:-1])
            parts = [(colours, "".join(cell[-1] for cell in cells)) for colours, cells in runs]
            text = "".join(f"{colours}{part}{RESET}" if colours else part for colours, part in parts)
        return text.rstrip(" ") if self.moved else text


class Screen:
    """The lines of a stream; one that changes after it was passed on is passed on again, once it can change no more."""

    def __init__(self) -> None:
        self.rest = ""  # a sequence whose end has not come yet
        self.colours: tuple[str, ...] = ()
        self.lines: list[Line] = []
        self.clear()

    def clear(self) -> None:
        self.rows, self.at, self.column = [Row()], 0, 0

    @property
    def row(self) -> Row:
        return self.rows[self.at]

    def feed(self, text: str) -> list[Line]:
        """Write what the program has printed next; return the lines that end with it, and the frames."""
        text = self.rest + text.replace("\r\n", "\n")
        unfinished = UNFINISHED.search(text)
        self.rest = unfinished[0] if unfinished else ""
        for token in TOKEN.finditer(text, 0, len(text) - len(self.rest)):
            if token["text"]:
                self.write(token["text"])
            elif token["control"]:
                self.control(token["control"])
            elif token["code"] == "m":
                self.colour(token[0], token["numbers"])
            elif token["code"]:
                self.obey(token["code"], token["numbers"])
        return self.taken()

    def end(self) -> list[Line]:
        """Return the lines that have no end, and those that were changed; what comes next begins a line."""
        for row in self.rows:
            if row.text() and (row.changed or not row.passed_on):
                self.pass_on(row)
        self.clear()
        return self.taken()

    def taken(self) -> list[Line]:
        lines, self.lines = self.lines, []
        return lines

    def pass_on(self, row: Row) -> None:
        self.lines.append((row.text(), True))
        row.passed_on, row.changed, row.fresh = True, False, False

    def write(self, text: str) -> None:
        row, end = self.row, self.column + len(text)
        row.cells += " " * (self.column - len(row.cells))
        colours = "".join(self.colours)
        row.cells[self.column : end] = [colours + character for character in text] if colours else text
        self.column, row.fresh, row.changed = end, True, row.passed_on
        if end > LONGEST:
            self.control("\n")

    def control(self, character: str) -> None:
        if character != "\n":
            self.back(self.column - 1 if character == "\b" else 0)
            return
        if not self.row.passed_on:
            self.pass_on(self.row)
        self.at, self.column = self.at + 1, 0
        if self.at == len(self.rows):
            self.rows.append(Row())
        if len(self.rows) > HEIGHT:
            top = self.rows.pop(0)
            self.at -= 1
            if top.changed and top.text():
                self.pass_on(top)

    def back(self, column: int) -> None:
        """Move the cursor to the left, which completes a frame."""
        row = self.row
        if row.fresh and row.text():
            self.lines.append((row.text(), False))
        row.fresh, row.moved = False, True
        self.column = max(0, column)

    def colour(self, sequence: str, numbers: str) -> None:
        before = () if numbers.split(";")[0].strip("0") == "" else self.colours
        self.colours = (*before, sequence)[-STYLES:] if numbers.strip("0;") else ()

    def obey(self, code: str, numbers: str) -> None:
        """Move the cursor or erase as a sequence says; the others change nothing here."""
        number = int(numbers[:9]) if numbers.isdecimal() else 0
        steps = max(1, number)
        if code in "AF":
            self.back(0 if code == "F" else self.column)
            self.at = max(0, self.at - steps)
        elif code in "BE":
            self.back(0 if code == "E" else self.column)
            self.at = min(len(self.rows) - 1, self.at + steps)
        elif code == "C":
            self.column = max(self.column, min(self.column + steps, WIDTH))
        elif code in "DG":
            self.back(self.column - steps if code == "D" else min(steps - 1, WIDTH))
        elif code in "KJ":
            self.erase(number, below=code == "J" and number == 0)

    def erase(self, number: int, below: bool) -> None:
        """Erase the line after the cursor (0), before it (1) or as a whole (2); and those below it, if asked to."""
        self.back(self.column)
        row = self.row
        if number == 1:
            row.cells[: self.column + 1] = " " * min(self.column + 1, len(row.cells))
        else:
            del row.cells[0 if number == 2 else self.column :]
        row.changed = row.passed_on
        for other in self.rows[self.at + 1 :] if below else ():
            other.cells.clear()
            other.changed = other.passed_on
