"""What a program printed, as a terminal shows it: the last state of each line, with its colours. Touches no file.

Colours are those of eight hues, bold or not, which a page can set so that they are read on light and on dark; what else
a terminal is told, such as to ring, shows nothing. A style ends with its line.
"""

import re
from collections.abc import Iterator

PART = re.compile(
    r"\x1b\[(?P<style>[\d;]*)m|\x1b\[(?P<erase>[012]?)K|(?P<move>[\r\b])|(?P<run>[^\x00-\x08\x0b-\x1f\x7f-\x9f]+)"
    r"|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]|."
)
PLAIN = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f-\x9f]*")
COLOUR = re.compile(r"\x1b\[[\d;]*m")
NEW_LINES = re.compile(r"\r+\n|[\f\v]")
NO_CHARACTERS = re.compile("[\ud800-\udfff\ufffe\uffff]")  # which neither UTF-8 nor XML can hold
UNSTYLED = (False, 0, 0)
Style = tuple[bool, int, int]  # bold; the codes of the letters' and of the ground's colour, 0 for none


def settled(text: str) -> str:
    """Return `text` with what was overwritten or erased gone, and no control characters but those of colours."""
    lines, style = [], UNSTYLED
    for line in NEW_LINES.sub("\n", legal(text)).split("\n"):
        if style == UNSTYLED and PLAIN.fullmatch(line):
            lines.append(line)
        else:
            shown, style = settled_line(line, style)
            lines.append(shown)
    return "\n".join(lines)


def legal(text: str) -> str:
    """Return `text` without the marks of its byte order, and with U+FFFD for what is no character."""
    return NO_CHARACTERS.sub("\ufffd", text).replace("\ufeff", "")


def uncoloured(text: str) -> str:
    """Return `text` as a terminal without colours shows it."""
    return COLOUR.sub("", settled(text))


def settled_line(line: str, style: Style) -> tuple[str, Style]:
    """Return a line as it stands at its end, and the style that the next one begins with."""
    letters: list[str] = []
    styles: list[Style] = []
    column = 0
    for part in PART.finditer(line):
        if part["run"]:
            blank = column - len(letters)
            letters += " " * blank
            styles += [UNSTYLED] * blank
            end = column + len(part["run"])
            letters[column:end] = part["run"]
            styles[column:end] = [style] * len(part["run"])
            column = end
        elif part["move"]:
            column = max(0, column - 1) if part["move"] == "\b" else 0
        elif part["erase"] == "1":  # from the start to here
            letters[: column + 1] = " " * len(letters[: column + 1])
            styles[: column + 1] = [UNSTYLED] * len(styles[: column + 1])
        elif part["erase"] is not None:  # from here to the end, or all
            start = 0 if part["erase"] else column
            del letters[start:], styles[start:]
        elif part["style"] is not None:
            style = restyled(style, part["style"])
    return written(letters, styles), style


def written(letters: list[str], styles: list[Style]) -> str:
    """Return a line of letters in their styles, each of which ends with a reset."""
    found, start = [], 0
    for place in range(1, len(letters) + 1):
        if place == len(letters) or styles[place] != styles[start]:
            bold, ink, ground = styles[start]
            codes = ";".join(str(code) for code in (int(bold), ink, ground) if code)
            run = "".join(letters[start:place])
            found.append(f"\x1b[{codes}m{run}\x1b[0m" if codes else run)
            start = place
    return "".join(found)


def restyled(style: Style, codes: str) -> Style:
    """Return the style that these codes of ECMA-48, separated by semicolons, make of `style`."""
    bold, ink, ground = style
    numbers = iter([int(code or 0) for code in codes.split(";")])
    for number in numbers:
        if number == 0:
            bold, ink, ground = UNSTYLED
        elif number in (1, 22):
            bold = number == 1
        elif number in (38, 48):
            hue = basic(numbers)
            ink, ground = (hue and 30 + hue, ground) if number == 38 else (ink, hue and 40 + hue)
        elif number // 10 in (3, 9):
            ink = number % 10 < 8 and 30 + number % 10
        elif number // 10 in (4, 10):
            ground = number % 10 < 8 and 40 + number % 10
    return bold, int(ink), int(ground)


def basic(numbers: Iterator[int]) -> int:
    """Return the number of the hue, from 1 to 6, nearest to one of 256 colours or to red, green and blue; 0 is grey."""
    kind, shades = next(numbers, 0), [0, 0, 0]
    if kind == 2:
        shades = [next(numbers, 0) for _ in shades]
    elif kind == 5:
        colour = next(numbers, 0)
        if colour < 16:
            return colour % 8 % 7
        if colour < 232:  # of a cube, six to a side
            shades = [(colour - 16) // side % 6 for side in (36, 6, 1)]
    bits = sum(1 << place for place, shade in enumerate(shades) if 2 * shade > max(shades))
    return bits % 7
