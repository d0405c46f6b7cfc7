"""What a program printed, as a terminal shows it: the last state of each line, with its colours. Touches no file.

Colours are those of eight hues, bold or not, which a page can set so that they are read on light and on dark; what else
a terminal is told, such as to ring, shows nothing.
"""

import re
from collections.abc import Iterator

from d2l_lab.processes.screen import Screen, plain

PLAIN = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f-\x9f]*")
STYLED = re.compile(r"((?:\x1b\[[0-?]*m)+)([^\x1b]*)\x1b\[0m")  # as `Screen` writes a run of letters
NEW_LINES = re.compile(r"\r+\n|[\f\v]")
NO_CHARACTERS = re.compile("[\ud800-\udfff\ufffe\uffff]")  # which neither UTF-8 nor XML can hold
UNSTYLED = (False, 0, 0)
Style = tuple[bool, int, int]  # bold; the codes of the letters' and of the ground's colour, 0 for none


def settled(text: str) -> str:
    """Return `text` with what was overwritten or erased gone, and no control characters but those of colours."""
    lines, screen = [], Screen()
    for line in NEW_LINES.sub("\n", legal(text)).split("\n"):
        if screen.colours or not PLAIN.fullmatch(line):
            screen.feed(line)
            line = STYLED.sub(styled, "".join(shown for shown, stays in screen.end() if stays))
        lines.append(line)
    return "\n".join(lines)


def legal(text: str) -> str:
    """Return `text` without the marks of its byte order, and with U+FFFD for what is no character."""
    return NO_CHARACTERS.sub("\ufffd", text).replace("\ufeff", "")


def uncoloured(text: str) -> str:
    """Return `text` as a terminal without colours shows it."""
    return plain(settled(text))


def styled(run: re.Match[str]) -> str:
    """Return a run of letters in the style that its codes make, with no code where that is none."""
    style = UNSTYLED
    for codes in re.findall(r"[\d;]+(?=m)|(?<=\[)(?=m)", run[1]):
        style = restyled(style, codes)
    codes = ";".join(str(int(code)) for code in style if code)
    return f"\x1b[{codes}m{run[2]}\x1b[0m" if codes else run[2]


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
