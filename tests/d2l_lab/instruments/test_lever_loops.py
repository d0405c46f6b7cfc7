"""The running total: which levers are kept, what the table says, and that all loops are closed."""

import json

import pytest
from matplotlib import pyplot as plt

from book.outputs import RUNNING_TOTAL
from d2l_lab.instruments import levers as module
from d2l_lab.instruments.levers import Lever, RunningTotal, running_total, try_lever

SAVED = {"tuned layers": 2.0, "compiled step": -1.0, "deferred loss read": 0.0, "background loading": 3.0}


class FakeLoop:
    """A loop whose step takes 10 s less what its levers save, by a clock that only loops move on."""

    now, broken = 0.0, "none"

    def __init__(self, levers):
        self.levers, self.steps, self.closed = levers, 0, False

    def restart(self):
        self.steps = 0

    def begin(self, seed=0):
        """Its weights are its steps."""

    end = begin

    def epoch(self, steps):
        if self.broken in self.levers:
            raise RuntimeError("broken")
        self.steps += steps
        FakeLoop.now += steps * (10 - sum(SAVED.get(lever, 0) for lever in self.levers))

    def accuracy(self):
        return self.steps / 100

    def close(self):
        self.closed = True


@pytest.fixture(autouse=True)
def loops(monkeypatch):
    """The loops that are built, which are all closed in the end."""
    built = []
    monkeypatch.setattr(FakeLoop, "now", 0.0)
    monkeypatch.setattr(module, "perf_counter", lambda: FakeLoop.now)
    monkeypatch.setattr(module, "_builder", lambda steps: lambda levers: built.append(FakeLoop(levers)) or built[-1])
    yield built
    plt.close("all")
    assert all(loop.closed for loop in built)


@pytest.fixture
def total(monkeypatch):
    """A function that returns a running total in place of showing it."""
    shown = []
    monkeypatch.setattr(module, "show", shown.append)
    monkeypatch.setattr(module, "picture", lambda rows: None)

    def run(levers):
        running_total(levers, 4)
        return next(each for each in shown if isinstance(each, RunningTotal))

    return run


def test_a_lever_is_kept_if_it_gains_and_the_rows_below_leave_a_loser_out(total):
    assert {row.lever: (row.time.median, row.obtained, row.kept) for row in total(dict.fromkeys(SAVED)).rows} == {
        "the loop as written": (10, None, True),
        "tuned layers": (8, 2, True),
        "compiled step": (9, -1, False),
        "deferred loss read": (8, 0, False),
        "background loading": (5, 3, True),
    }


def test_levers_are_added_in_the_order_of_the_chapter_and_each_row_trains_from_the_start_for_three_epochs(total):
    found = total({"background loading": None, "tuned layers": 1.25})
    assert [row.lever for row in found.rows[1:]] == ["tuned layers", "background loading"]
    assert [row.accuracy for row in found.rows] == [0.12] * 3
    assert [row.promised for row in found.rows] == [None, 1.25, None]


def test_a_loop_that_fails_leaves_none_open(total, loops, monkeypatch):
    monkeypatch.setattr(FakeLoop, "broken", "deferred loss read")
    with pytest.raises(RuntimeError, match="broken"):
        total(dict.fromkeys(Lever))
    assert len(loops) == 4


@pytest.mark.parametrize(
    ("levers", "steps", "words"),
    [
        ({"more coffee": None}, 4, "unknown lever 'more coffee'; known: 'tuned layers', "),
        ({"tuned layers": float("nan")}, 4, "'tuned layers' promises to save seconds of a step, not nan"),
        ({}, 4, "at least one lever"),
        ({"tuned layers": None}, 0, "at least one step"),
    ],
)
def test_what_cannot_be_timed_is_refused(levers, steps, words):
    with pytest.raises(ValueError, match=words):
        running_total(levers, steps)


@pytest.mark.parametrize(
    ("lever", "promised", "last"),
    [
        ("background loading", 2.5, "background loading promised 2.50 s obtained 3.00 s 1.20 × "),
        ("background loading", None, "background loading: no saving promised"),
        ("compiled step", -1.0, "compiled step: no saving promised"),
    ],
)
def test_a_lever_by_itself_is_tried_on_the_loop_as_written(loops, capsys, lever, promised, last):
    try_lever(lever, promised, 4)
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[0].startswith("the loop as written 10.0 s")
    assert lines[-1].startswith(last)
    assert [loop.levers for loop in loops] == [(), (lever,)]


def test_the_record_that_pages_read_is_json_with_the_loop_as_written_first(total):
    record = json.loads(json.dumps(total({"tuned layers": 1.25})._repr_mimebundle_()[RUNNING_TOTAL]))
    assert (record["steps"], record["rows"][0]["lever"]) == (4, "the loop as written")
    tuned = {"lever": "tuned layers", "seconds": 8, "low": 8, "high": 8, "promised": 1.25, "accuracy": 0.12}
    assert record["rows"][1] == tuned | {"kept": True}
