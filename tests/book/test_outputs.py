"""What cells print: the state of a terminal, the order of outputs, and how much of them a page shows."""

import signal

import pytest
from tiny_book import code, said, shown

from book.outputs import LONGEST, clean, presentable, scrub
from book.terminal import settled, uncoloured


@pytest.mark.parametrize(
    ("printed", "seen"),
    [
        ("a\r\nb\r\r\nc", "a\nb\nc"),
        ("\r 1%\r 2%\r 3%\nnext", " 3%\nnext"),
        ("100%\r7%", "7%0%"),
        ("abc\b\bX", "aXc"),
        ("\b\bab", "ab"),
        ("long\r\x1b[Kx", "x"),
        ("abc\x1b[2K\rx\x1b[1Ky", " y"),
        ("page\x0cnext\vlast", "page\nnext\nlast"),
        ("\x00a\x07b\x7fc\x9bd", "abcd"),
        ("\ufeffa\ufffeb\ud800c", "a\ufffdb\ufffdc"),
        ("\x1b]0;title\x07a\x1b(Bb\x1b[?25lc\x1b", "abc"),
        ("\x1b[31mr\x1b[0m", "\x1b[31mr\x1b[0m"),
        ("\x1b[91;1mr\x1b[m \x1b[42mg", "\x1b[1;31mr\x1b[0m \x1b[42mg\x1b[0m"),
        ("\x1b[38;5;34mKeras\x1b[0m", "\x1b[32mKeras\x1b[0m"),
        ("\x1b[38;2;250;10;20mr\x1b[39md", "\x1b[31mr\x1b[0md"),
        ("\x1b[38;5;244mgrey\x1b[48;5mx", "greyx"),
        ("\x1b[34mtwo\nlines", "\x1b[34mtwo\x1b[0m\n\x1b[34mlines\x1b[0m"),
        ("\x1b[31mred\rb\x1b[0m", "\x1b[31mbed\x1b[0m"),
        ("é e\u0301 😀 עברית 中文 \u202e", "é e\u0301 😀 עברית 中文 \u202e"),
    ],
)
def test_text_is_shown_as_a_terminal_shows_it(printed, seen):
    assert settled(printed) == seen
    assert settled(seen) == seen
    assert "\x1b" not in uncoloured(seen)


def test_outputs_stay_in_the_order_of_their_arrival():
    arrived = [said("a\n1%"), said("\r2%\n"), shown({"text/plain": "3"}), said("b\n"), said("w", "stderr"), said("c")]
    kept = clean(arrived, {})
    assert [output.get("text", "displayed") for output in kept] == ["a\n2%\n", "displayed", "b\n", "w", "c"]


def test_a_long_line_of_slashes_is_searched_for_paths_at_once():
    """It stands for a picture's data, which took minutes."""

    def too_long(*_):
        pytest.fail("the search takes as long as the square of the line's length")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(20)
    try:
        assert scrub("abcd/efgh" * 100_000, {"/home": "~"}) == "abcd/efgh" * 100_000
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    assert scrub("x=/tmp/ipykernel_1/2.py, " + "a/" * 10, {}) == "x=cell.py, " + "a/" * 10


def outputs(*found):
    return presentable(code("", outputs=found)["outputs"])


def test_a_page_says_how_much_of_a_long_text_is_left_out():
    line = "x" * 79 + "\n"
    first, last = outputs(line * 125_000)
    assert first["text"] == line * (LONGEST // 80)
    assert last["text"] == "… 9,980,000 more characters are left out here: the notebook shows them.\n"
    first, last = outputs("y" * 10**6)
    assert len(first["text"]) == LONGEST
    assert "980,000 more" in last["text"]
    many = outputs(*[shown({"text/plain": f"{number}"}) for number in range(100_000)])
    assert sum(len(output.get("data", {}).get("text/plain", "")) for output in many) <= LONGEST
    assert "more characters" in many[-1]["text"]
    (last,) = outputs(shown({"text/html": "<p>" * 10**6, "text/plain": "HTML"}))
    assert "3,000,000 more characters" in last["text"]
    assert outputs(line) == code("", outputs=[line])["outputs"]


def test_a_page_shows_nothing_that_html_refuses():
    seen = outputs(
        shown({"text/html": "<b>\x1ba\r\nb\x00\ufffe", "text/plain": "\x1b[31mr\x1b[7m"}),
        shown({"application/json": {}, "text/plain": "\x08a"}),
        shown({"application/json": {}}),
        "\x07",
        {"output_type": "error", "ename": "E", "evalue": "", "traceback": ["\x1b[31mE\x07\x1b[0m"]},
    )
    assert [output.get("data") or output["traceback"] for output in seen] == [
        {"text/html": "<b>a\nb\ufffd", "text/plain": "\x1b[31mr\x1b[0m"},
        {"text/plain": "a"},
        ["E"],
    ]


@pytest.mark.parametrize("kind", ["svg+xml", "png", "jpeg", "gif"])
def test_a_page_shows_each_kind_of_picture(kind):
    (picture,) = outputs(shown({f"image/{kind}": "<svg/>", "text/plain": "?"}))
    assert f"image/{kind}" in picture["data"]
