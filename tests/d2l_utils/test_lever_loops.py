"""The running total: which levers are kept, what the table says, and that all loops are closed."""

import json

import pytest
from matplotlib import pyplot as plt

from d2l_utils import levers as module
from d2l_utils.levers import LEVERS, RunningTotal, running_total, try_lever

SAVED = {"tuned layers": 2.0, "compiled step": -1.0, "deferred loss read": 0.0, "background loading": 3.0}


class Clock:
    """A clock that only loops move on."""

    now = 0.0

    def __call__(self):
        return self.now


class FakeLoop:
    """A loop whose step takes 10 s less what its levers save."""

    def __init__(self, levers, clock, broken=""):
        self.levers, self.clock, self.broken = levers, clock, broken
        self.steps, self.closed = 0, False

    def restart(self):
        self.steps = 0

    def begin(self, seed):
        self.seed = seed

    def end(self):
        pass

    def epoch(self, steps):
        if self.broken in self.levers:
            raise RuntimeError("broken")
        self.steps += steps
        self.clock.now += steps * (10 - sum(SAVED.get(lever, 0) for lever in self.levers))

    def accuracy(self):
        return self.steps / 100

    def close(self):
        self.closed = True


@pytest.fixture
def total(monkeypatch):
    """A function that shows the running total of fake loops and returns its data and the loops."""
    clock, shown = Clock(), []
    monkeypatch.setattr(module, "perf_counter", clock)
    monkeypatch.setattr(module, "show", shown.append)
    monkeypatch.setattr(module, "picture", lambda rows: None)

    def run(levers, steps=4, broken="none"):
        loops = []

        def build(kept):
            loops.append(FakeLoop(kept, clock, broken))
            return loops[-1]

        monkeypatch.setattr(module, "_builder", lambda steps: build)
        try:
            running_total(levers, steps)
        finally:
            run.loops = loops
        return next(each for each in shown if isinstance(each, RunningTotal))

    return run


def test_a_lever_is_kept_if_it_gains_and_the_rows_below_leave_a_loser_out(total):
    found = total(dict.fromkeys(SAVED))
    rows = {row.lever: (row.time.median, row.obtained, row.kept) for row in found.rows}
    assert rows == {
        "the loop as written": (10, None, True),
        "tuned layers": (8, 2, True),
        "compiled step": (9, -1, False),
        "deferred loss read": (8, 0, False),
        "background loading": (5, 3, True),
    }


def test_each_row_trains_from_the_start_for_three_epochs_and_every_loop_is_closed(total):
    found = total({"tuned layers": 1.25, "background loading": None})
    assert [row.accuracy for row in found.rows] == [0.12] * 3
    assert [row.promised for row in found.rows] == [None, 1.25, None]
    assert [loop.closed for loop in total.loops] == [True] * 3


def test_the_levers_are_added_in_the_order_of_the_chapter(total):
    found = total({"background loading": None, "tuned layers": None})
    assert [row.lever for row in found.rows[1:]] == ["tuned layers", "background loading"]


def test_a_loop_that_fails_leaves_none_open(total):
    with pytest.raises(RuntimeError, match="broken"):
        total(dict.fromkeys(LEVERS), broken="deferred loss read")
    assert len(total.loops) == 4
    assert all(loop.closed for loop in total.loops)


@pytest.mark.parametrize(
    ("levers", "steps", "words"),
    [
        ({"more coffee": None}, 4, "unknown lever 'more coffee'; known: 'tuned layers', "),
        ({"tuned layers": float("nan")}, 4, "'tuned layers' promises to save seconds of a step, not nan"),
        ({}, 4, "at least one lever"),
        ({"tuned layers": None}, 0, "at least one step"),
    ],
)
def test_what_cannot_be_timed_is_refused(total, levers, steps, words):
    with pytest.raises(ValueError, match=words):
        total(levers, steps)


def test_the_table_the_savings_and_the_picture_say_the_same(monkeypatch, capsys):
    clock = Clock()
    monkeypatch.setattr(module, "perf_counter", clock)
    promises = {"tuned layers": 1.25, "compiled step": 2.0}
    monkeypatch.setattr(module, "_builder", lambda steps: lambda kept: FakeLoop(kept, clock))
    running_total(promises, 4)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["ms", "a", "step", "low–high", "gain", "promised", "obtained", "accuracy"]
    assert lines[2].split() == ["tuned", "layers", "8000.0", "8000.0–8000.0", "1.25", "×", "1250.0", "2000.0", "0.12"]
    assert lines[3].endswith("left out")
    assert " ".join(lines[4].split()).startswith("tuned layers promised 1.25 s obtained 2.00 s 1.60 ×")
    assert lines[5].startswith("  off by 1.60 ×")
    assert " ".join(lines[6].split()).startswith("compiled step promised 2.00 s obtained −1.00 s -0.500 ×")
    assert lines[7].startswith("  no such effect")
    described = plt.gcf().axes[0].get_label()
    plt.close("all")
    assert "tuned layers 8000 ms, promised 8750 ms; compiled step 9000 ms, promised 6000 ms, left out." in described


@pytest.mark.parametrize(
    ("lever", "promised", "last"),
    [
        ("background loading", 2.5, "background loading promised 2.50 s obtained 3.00 s 1.20 × "),
        ("background loading", None, "background loading: no saving promised"),
        ("compiled step", -1.0, "compiled step: no saving promised"),
    ],
)
def test_a_lever_by_itself_is_tried_on_the_loop_as_written(monkeypatch, capsys, lever, promised, last):
    clock, loops = Clock(), []
    monkeypatch.setattr(module, "perf_counter", clock)

    def build(levers):
        loops.append(FakeLoop(levers, clock))
        return loops[-1]

    monkeypatch.setattr(module, "_builder", lambda steps: build)
    try_lever(lever, promised, 4)
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[0].startswith("the loop as written 10.0 s")
    assert lines[-1].startswith(last)
    assert [(loop.levers, loop.closed) for loop in loops] == [((), True), ((lever,), True)]


def test_the_record_is_json_with_the_loop_as_written_first(total):
    found = total({"tuned layers": 1.25})
    bundle = found._repr_mimebundle_()
    record = json.loads(json.dumps(bundle["application/vnd.d2l.running-total+json"]))
    assert record["steps"] == 4
    assert record["rows"][0]["lever"] == "the loop as written"
    assert record["rows"][1] == {
        "lever": "tuned layers",
        "seconds": 8,
        "low": 8,
        "high": 8,
        "promised": 1.25,
        "accuracy": 0.12,
        "kept": True,
    }
    assert bundle["text/plain"] == str(RunningTotal(found.rows, 4))
