"""The cells of "Ten Minutes with Your Own Loop" find what is slow in a loop, and need nothing but the framework."""

import re
from time import sleep

import pytest

from book import ROOT

TEXT = (ROOT / "notebooks" / "ten-minutes.md").read_text(encoding="utf-8")
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(---\n.*?^---\n|(?::[^\n]*\n)+)(.*?)^```$", re.MULTILINE | re.DOTALL)
SLOW = 0.05  # seconds


@pytest.fixture
def cells(framework):
    """The stand-in for the reader's loop, and the three cells to paste."""
    found = [cell[2] for cell in CELL.finditer(TEXT) if framework in cell[1]]
    assert len(found) == 4
    return found


@pytest.fixture
def loop(cells):
    """The names of a tiny loop, which is the stand-in."""
    space = {}
    exec(cells[0], space)
    return space


def slowed(work, seconds=SLOW):
    """Return a function that does the work, and takes these seconds more."""

    def slow(*arguments):
        sleep(seconds)
        return work(*arguments)

    return slow


def printed(cells, loop, capsys):
    """Return the bar of a step, in milliseconds, and the last line that the cells print."""
    for cell in cells[1:]:
        exec(cell, loop)
    lines = capsys.readouterr().out.splitlines()
    return {line.split()[0]: float(line.split()[1]) for line in lines if " ms " in line and "%" in line}, lines[-1]


def test_the_cells_need_nothing_but_the_framework(framework, cells, loop, capsys):
    assert "d2l" not in "".join(cells)
    bar, _ = printed(cells, loop, capsys)
    upkeep = ["upkeep"] if framework == "pytorch" else []  # gradients are cleared in a call of their own
    assert list(bar) == ["loading", "forward", "backward", "update", *upkeep, "rest"]
    assert min(list(bar.values())[:-1]) > 0


@pytest.mark.parametrize(("name", "piece"), [("load", "loading"), ("step", "rest")])
def test_what_is_slow_in_a_loop_is_the_longest_piece(cells, loop, capsys, name, piece):
    loop[name] = slowed(loop[name])
    bar, _ = printed(cells, loop, capsys)
    assert max(bar, key=bar.get) == piece
    assert 0.8e3 * SLOW < bar[piece] < 3e3 * SLOW


def fixed_share(cells, loop, capsys):
    """Return the per cent of a step that does not grow with the minibatch, as the cells print it."""
    _, last = printed(cells, loop, capsys)
    return int(re.search(r"so (\d+)%", last)[1])


def test_a_step_that_waits_the_same_for_every_minibatch_is_fixed(cells, loop, capsys):
    loop["step"] = slowed(loop["step"])
    assert fixed_share(cells, loop, capsys) >= 60


def test_a_step_that_waits_for_each_example_is_not(cells, loop, capsys):
    step = loop["step"]
    loop["step"] = lambda X, y: slowed(step, len(X) * SLOW / 64)(X, y)
    assert fixed_share(cells, loop, capsys) <= 40
