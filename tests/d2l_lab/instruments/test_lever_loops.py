"""The running total: which levers are kept, what the table says, and that all loops are closed."""

import json
from types import SimpleNamespace

import pytest
from matplotlib import pyplot as plt

from book.outputs import RUNNING_TOTAL
from d2l_lab.instruments import levers as module
from d2l_lab.instruments import loops as loop_module
from d2l_lab.instruments import pairs, timing
from d2l_lab.instruments.levers import RunningTotal, running_total, try_lever
from d2l_lab.instruments.loops import Lever, Pieces

SAVED = {"tuned layers": 2.0, "compiled step": -1.0, "deferred loss read": 0.0, "background loading": 3.0}
GAINED = SAVED | {"images in memory": 1.0}


class FakeLoop:
    """A loop whose step takes 10 s less what its levers save, by a clock that only loops move on."""

    now, broken, spoilt, faults = 0.0, "none", "none", []

    def __init__(self, levers):
        self.levers, self.steps, self.closed = levers, 0, False

    def prepare(self, number):
        self.number = number

    def restart(self):
        self.steps = 0

    def begin(self, seed=0):
        """Its weights are its steps."""

    end = begin

    def epoch(self, steps):
        if self.broken in self.levers:
            raise RuntimeError("broken")
        assert steps == self.number
        self.steps += steps
        self.loss = (2.1 if self.spoilt in self.levers else 2.0) - self.steps / 100
        FakeLoop.now += steps * self.seconds

    @property
    def seconds(self):
        return 10 - sum(GAINED.get(lever, 0) for lever in self.levers)

    def pieces(self):
        return Pieces(4.0, self.seconds - 4, 0, 0, 100)

    def accuracy(self):
        return self.steps / 44

    def close(self):
        self.closed = True


@pytest.fixture(autouse=True)
def loops(monkeypatch):
    """The loops that are built, which are all closed in the end."""
    built = []
    monkeypatch.delenv("D2L_QUICK", raising=False)
    monkeypatch.setattr(FakeLoop, "now", 0.0)
    for each in (loop_module, pairs):
        monkeypatch.setattr(each, "perf_counter", lambda: FakeLoop.now)
    monkeypatch.setattr(module, "BUDGET", 1e6)
    monkeypatch.setattr(module, "pieces_beside", lambda loop, loader, steps, limit: loop.pieces()._replace(beside=7.0))
    monkeypatch.setattr(module, "seconds_to_draw", lambda loop, steps: 0.25)
    monkeypatch.setattr(module, "seconds_alone", lambda loop, steps: loop.seconds - 1)
    monkeypatch.setattr(module, "LIMIT", 1e6)
    monkeypatch.setattr(module, "_builder", lambda wait=0.0: lambda levers: built.append(FakeLoop(levers)) or built[-1])
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


def test_levers_are_added_in_the_order_of_the_chapter(total):
    found = total({"background loading": None, "tuned layers": 1.25})
    assert [row.lever for row in found.rows[1:]] == ["tuned layers", "background loading"]
    assert [row.promised for row in found.rows] == [None, 1.25, None]


def test_a_promise_can_follow_from_the_pieces_of_the_loop_just_above(total):
    found = total({"tuned layers": lambda p: p.compute / 3, "background loading": lambda p: p.load / 4})
    assert [row.promised for row in found.rows] == [None, 2, 1]


@pytest.mark.parametrize(
    ("lever", "alone", "beside"),
    [("background loading", 7.0, 7.5), ("background loading", 8.0, 8.25), ("deferred loss read", 7.0, 8.5)],
)
def test_at_best_a_lever_hides_what_comes_after_the_first_minibatch_behind_what_waits(lever, alone, beside):
    """Of four minibatches, which cost 2.75 s each and whose first one adds 0.25 s, three are loaded beside a step."""
    pieces = Pieces(load=2.75, compute=5.25, read=2.0, other=0.0, faults=0, first=0.25, alone=alone)
    assert module._at_best(pieces, Lever(lever), 4).beside == beside


def test_a_lever_whose_promise_from_pieces_is_below_a_tenth_of_a_step_is_not_tried(total, capsys):
    found = total({"tuned layers": lambda p: p.step / 11, "background loading": lambda p: p.step / 9})
    assert [(row.lever, row.promised) for row in found.rows[1:]] == [("background loading", pytest.approx(10 / 9))]
    try_lever("tuned layers", lambda p: None, 4)
    said = capsys.readouterr().out
    for saving in ("909.1", "0.00"):
        assert f"tuned layers: promises {saving} of 10000.0 ms, less than a tenth: not tried" in said


def test_what_a_lever_costs_is_measured_only_where_it_would_promise_enough_without(total, monkeypatch, capsys):
    monkeypatch.setattr(module, "pieces_beside", None)
    monkeypatch.setattr(FakeLoop, "pieces", lambda loop: Pieces(0.9, 9.1, 0, 0, 100))
    total({"background loading": lambda p: p.step - p.beside})
    assert "background loading: promises ≤ 900.0 of 10000.0 ms, less than a tenth" in capsys.readouterr().out


def test_what_is_loaded_beside_the_steps_promises_what_they_then_take_less(total):
    assert total({"background loading": lambda p: p.step - p.beside}).rows[1].promised == 3


def test_what_waits_for_a_worker_trains_for_longer_epochs(total):
    found = total(dict.fromkeys(["tuned layers", "background loading", "bfloat16"]))
    assert [row.time.number for row in found.rows] == [4, 4, 11, 11]


def test_with_images_in_memory_no_worker_is_left_to_wait_for(total):
    found = total(dict.fromkeys(["background loading", "images in memory", "bfloat16"]))
    assert [row.time.number for row in found.rows] == [4, 11, 11, 4]


def test_a_promise_knows_a_step_on_a_minibatch_that_is_there(total):
    found = total({"images in memory": lambda p: 2 * (p.step - p.alone - p.kept), "memory kept": None})
    assert found.rows[1].promised == 1.5


def test_a_promise_is_scaled_as_what_it_saves_if_the_machine_becomes_slower(total, monkeypatch):
    monkeypatch.setattr(FakeLoop, "pieces", lambda loop: Pieces(8.0, 2 * loop.seconds - 8, 0, 0, 100))
    assert total({"tuned layers": lambda p: p.load / 2}).rows[1].promised == 2


def test_a_loop_learns_as_the_first_one_does_if_its_loss_after_the_same_steps_is_the_same(total, monkeypatch):
    monkeypatch.setattr(FakeLoop, "spoilt", "tuned layers")
    found = total(dict.fromkeys(["tuned layers", "compiled step"]))
    assert [row.learns for row in found.rows] == [True, False, False]
    assert found.rows[1].losses == pytest.approx((2.04, 1.94))
    assert "✗ 2.0400, not 1.9400" in str(found)


@pytest.mark.parametrize(("levers", "learns"), [(["tuned layers", "compiled step"], False), (["bfloat16"], True)])
def test_losses_may_be_rounded_with_bfloat16_alone(total, monkeypatch, levers, learns):
    monkeypatch.setattr(FakeLoop, "spoilt", levers[0])
    assert total(dict.fromkeys(levers)).rows[1].learns is learns


def test_losses_may_be_rounded_in_the_rows_below_a_kept_bfloat16_too(total, monkeypatch):
    monkeypatch.setitem(GAINED, "bfloat16", 1.0)
    monkeypatch.setattr(FakeLoop, "spoilt", "bfloat16")
    monkeypatch.setattr(module, "can_keep_freed_memory", lambda: True)
    assert [row.learns for row in total(dict.fromkeys(["bfloat16", "memory kept"])).rows] == [True, True, True]


@pytest.mark.parametrize(("limit", "until"), [(1e6, (2 * 22 * 10, 2 * 22 * 8)), (200, (None, 2 * 22 * 8))])
def test_both_ends_train_until_nine_of_ten_digits_are_right_or_the_limit_is_over(total, monkeypatch, limit, until):
    monkeypatch.setattr(module, "LIMIT", limit)
    assert total({"tuned layers": None}).until == until


def test_the_pieces_add_up_and_the_sum_of_promises_stands_beside_the_total(total, capsys):
    total({"tuned layers": 2.5, "compiled step": 1.0, "background loading": lambda p: p.load})
    said = " ".join(capsys.readouterr().out.split())
    assert "load 4000.00 + compute 6000.00 + read 0.00 + the rest 0.00 = 10000.00 ms a step, 100 new pages" in said
    assert "the promises of the levers kept add up to 6.50 s; these levers saved 5.00 s" in said
    assert "right after: 440 s as written, 220 s with the levers kept" in said


def test_pairs_of_slow_epochs_stop_when_their_time_is_over(monkeypatch):
    """A pair of epochs of four steps takes 72 s."""
    monkeypatch.setattr(module, "perf_counter", lambda: FakeLoop.now)
    loops = [FakeLoop(levers) for levers in ((), ("tuned layers",))]
    for loop in loops:
        loop.prepare(4)
    assert module._pairs(*loops, 4, SimpleNamespace(tick=lambda: None), 6, 100.0) == [(10, 8)] * 2


@pytest.mark.parametrize(("haste", "epochs"), [(1000.0, 5), (50.0, 2), (1.0, 1)])
def test_pieces_are_those_of_eighteen_steps_or_of_fewer_that_take_long(monkeypatch, haste, epochs):
    """An epoch of four steps takes 40 s."""
    monkeypatch.setattr(module, "perf_counter", lambda: FakeLoop.now)
    monkeypatch.setattr(module, "HASTE", haste)
    loop = FakeLoop(())
    module._pieces(loop, 4)
    assert FakeLoop.now == 40 * epochs


def test_a_loop_as_written_that_was_disturbed_changes_nothing_in_the_sum_of_promises(total, capsys, monkeypatch):
    """Its pieces add up to 60 s, its median step takes 10 s."""
    calm = FakeLoop.pieces
    slow = Pieces(4.0, 56.0, 0, 0, 100)
    monkeypatch.setattr(FakeLoop, "pieces", lambda loop: calm(loop) if loop.levers else slow)
    found = total({"tuned layers": None, "images in memory": lambda p: 2 * (p.step - p.alone - p.kept)})
    said = " ".join(capsys.readouterr().out.split())
    assert found.rows[2].promised == 1.5
    assert "the promises of the levers kept add up to 1.50 s; these levers saved 1.00 s" in said


def test_the_steps_that_meet_kept_memory_first_fit_into_an_epoch_of_one_and_do_not_count(monkeypatch):
    d2l = SimpleNamespace(try_gpu=lambda: None, synchronize=lambda: None)
    d2l.load_images = lambda images, size: [(0, 0)] * (len(images) // size)
    monkeypatch.setattr(loop_module, "framework", lambda: d2l)
    monkeypatch.setattr(loop_module, "keep_freed_memory", lambda keep: keep)
    monkeypatch.setattr(loop_module.Loop, "make", lambda *_: (None, None, lambda *_: 1.5, None))
    loop = loop_module.Loop(("memory kept",), {})
    loop.prepare(1)
    loop.begin(0)
    assert (loop.loss, loop.seen) == (1.5, [])


@pytest.fixture
def loop(monkeypatch):
    """A loop whose step does nothing."""
    d2l = SimpleNamespace(try_gpu=lambda: None, synchronize=lambda: None)
    d2l.load_images = lambda images, size: [(0, 0)] * (len(images) // size)
    monkeypatch.setattr(loop_module, "framework", lambda: d2l)
    monkeypatch.setattr(loop_module.Loop, "make", lambda *_: (None, None, lambda *_: 1.5, None))
    return loop_module.Loop((), {})


def test_a_step_alone_takes_one_minibatch_again_and_leaves_no_trace_among_the_pieces(loop):
    loop.prepare(1)
    assert loop_module.seconds_alone(loop, 3) >= 0
    assert (loop.loss, loop.seen) == (1.5, [])


def test_steps_beside_a_loader_take_one_of_its_minibatches_each(loop, monkeypatch):
    """Here nothing overlaps: a loader takes 10 s to start, a minibatch 3 s and a step 2 s."""
    now, batches = [0.0], []

    def passing(seconds):
        now[0] += seconds
        return 1.5

    class Loader:
        def __init__(self, images, size):
            self.number = len(images) // size

        def __iter__(self):
            passing(10)  # starts at once, and the first minibatch has to wait for that
            return map(self.load, range(self.number))

        def load(self, _):
            passing(3)
            batches.append(len(batches))
            return batches[-1], 0

    loop.d2l.load_images = Loader
    loop.step = lambda net, optimizer, X, y: batches.append(X) or passing(2)
    monkeypatch.setattr(loop_module, "perf_counter", lambda: now[0])
    monkeypatch.setattr(loop, "draw", loop.loader)
    loop.prepare(22)
    found = loop_module.pieces_beside(loop, loop, 22, 1.0)
    assert now[0] == 13 + 20 + 2 * 120  # a minibatch, two steps, and one round, which takes longer than that
    assert (found.step, found.beside) == pytest.approx((5 + 10 / 22, 5 + 10 / 22))
    assert len(set(batches[-44::2])) == 22
    assert set(batches[-43::2]) == {0}


def test_drawing_is_timed_after_a_first_epoch(loop, monkeypatch):
    now, lasts = [0.0], iter([9.0, 1.0, 2.0, 3.0])

    def draw():
        now[0] += next(lasts)
        return [(0, 0)] * 4

    monkeypatch.setattr(timing, "perf_counter", lambda: now[0])
    monkeypatch.setattr(loop, "draw", draw)
    assert loop_module.seconds_to_draw(loop, 4) == 0.5


def test_each_image_of_a_slow_store_waits(loop):
    loop.wait = 1e-9
    loop.prepare(1)
    assert loop.images._wait == 1e-9


def test_memory_is_not_kept_where_the_c_library_has_no_such_setting(total, monkeypatch, capsys):
    monkeypatch.setattr(module, "can_keep_freed_memory", lambda: False)
    found = total(dict.fromkeys(["tuned layers", "memory kept"]))
    assert [row.lever for row in found.rows] == ["the loop as written", "tuned layers"]
    try_lever("memory kept", 1.0, 4)
    assert capsys.readouterr().out.count("memory kept: not tried") == 2


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
        ({"tuned layers": None}, 0, "1 to 22 steps, not 0"),
        ({"tuned layers": None}, 23, "1 to 22 steps, not 23"),
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
    assert (record["until"], record["limit"]) == ([440, 352], 1e6)
    tuned = {"lever": "tuned layers", "seconds": 8, "low": 8, "high": 8, "promised": 1.25}
    assert record["rows"][1] == tuned | {"kept": True, "verdict": "gains", "learns": True, "losses": [1.94, 1.94]}
