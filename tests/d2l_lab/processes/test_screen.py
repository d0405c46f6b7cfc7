"""What a terminal would show of what a program writes."""

import pytest

from d2l_lab.processes import screen
from d2l_lab.processes.screen import Screen, plain

UP, ERASE = "\x1b[A", "\x1b[J"


def seen(*chunks):
    """Return the lines that stay, and the frames."""
    it = Screen()
    found = [line for chunk in chunks for line in it.feed(chunk)] + it.end()
    return [line for line, stays in found if stays], [line for line, stays in found if not stays]


def bar(before="", after=""):
    return "".join(f"{before}{i}%{after}" for i in range(101))


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (bar(before="\r") + "\n", ["100%"]),
        (bar(after="\r"), ["100%"]),
        (bar(after="\r") + "done\n", ["done"]),
        (bar(before="\r\x1b[K"), ["100%"]),
        (bar(before="\x1b[2K\x1b[1G"), ["100%"]),
        ("at " + "".join(f"{i}{chr(8) * len(str(i))}" for i in range(101)), ["at 100"]),
        ("one\r\ntwo\r\n\r\n", ["one", "two", ""]),
        ("longer frame\rshort\n", ["short" + "r frame"]),
        ("longer frame\rshort\x1b[K\n", ["short"]),
        ("longer\x1b[2D\x1b[1Kr\n", ["    rr"]),
        ("gone when it is done\r" + 20 * " " + "\r", []),
        ("a  \n\n b", ["a  ", "", " b"]),
        ("\x1b]0;title\x07\x1b[?25l\atext\x1b[?25h\n", ["text"]),
        ("\x1b(Bchar\x1b\x1b)0set\x9b\n", ["charset"]),
        # The line above was shown before it changed, so it comes again.
        (f"outer 0%{bar(chr(10), UP)}\router 1%\n\n", ["outer 0%", "100%", "outer 1%"]),
        (f"{bar('one', chr(10) + 'two' + chr(10) + UP + UP + ERASE)}end\n", ["one0%", "two", "end"]),
        ("a\x1b[" + 50 * "9" + "Cb\n", ["a" + 499 * " " + "b"]),
        # 23 lines above can be written over, and no line before them.
        ("first" + 23 * "\n" + 23 * UP + "b", ["first", *22 * [""], "birst"]),
        ("first" + 24 * "\n" + 24 * UP + "b", ["first", *23 * [""], "b"]),
        (20 * "\x1b[1m" + "x", [8 * "\x1b[1m" + "x\x1b[0m"]),
    ],
)
def test_what_is_written_over_is_a_frame_and_what_stays_a_line_however_it_arrives(written, shown):
    for chunks in ([written], list(written)):
        lines, frames = seen(*chunks)
        assert sorted(lines) == sorted(shown)
        assert set(frames).isdisjoint({""})


def test_every_frame_can_be_found_once_the_next_begins():
    lines, frames = seen("\r1 %", "\r2 %\r", "3 %\n")
    assert (lines, frames) == (["3 %"], ["1 %", "2 %"])


def test_colours_stay_with_their_characters_and_a_line_has_none_of_another():
    (first, second, third), _ = seen(
        "\x1b[31mred\x1b[0m, \x1b[1;32mgreen\n", "on\x1b[", "m off\n\x1b[31mold\r\x1b[0mnew"
    )
    assert first == "\x1b[31mred\x1b[0m, \x1b[1;32mgreen\x1b[0m"
    assert (second, third) == ("\x1b[1;32mon\x1b[0m off", "new")
    assert plain(first) == "red, green"


def test_a_line_without_end_is_cut_and_nothing_of_it_is_lost(monkeypatch):
    monkeypatch.setattr(screen, "LONGEST", 10)
    lines, _ = seen(*(25 * "abcd"))
    assert "".join(lines) == 25 * "abcd"
    assert len(lines) > 5
