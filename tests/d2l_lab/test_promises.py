"""Figures that the text and other modules rely on: what is measured how often, kept in memory, and recorded."""

import random
from types import SimpleNamespace

import pytest

from d2l_lab.instruments import claims, display, levers, loops, predictions, timing


@pytest.fixture
def clock(monkeypatch):
    """A function that lets so many seconds pass, by the clocks of all that measures."""
    now = [0.0]
    for module in (loops, timing):
        monkeypatch.setattr(module, "perf_counter", lambda: now[0])
    return lambda seconds: now.append(now.pop() + seconds)


def test_records_in_notebooks_have_the_types_that_pages_read():
    assert claims.MIME == "application/vnd.d2l.claim+json"
    assert predictions.MIME == "application/vnd.d2l.prediction+json"
    assert display.RUNNING_TOTAL == "application/vnd.d2l.running-total+json"


@pytest.mark.parametrize(("measured", "missed"), [(1.5, False), (1.51, True), (1 / 1.5, False), (1 / 1.51, True)])
def test_a_prediction_misses_beyond_one_and_a_half_times(measured, missed):
    compared = predictions.Comparison("name", "model", "s", 1.0, measured, measured, measured)
    assert (compared.note() != "") is missed


def test_three_digits_are_read_back_as_a_number_that_is_near():
    generator = random.Random(0)
    for number in (generator.uniform(-1, 1) * 10 ** generator.randint(-9, 12) for _ in range(1000)):
        text = timing.three_digits(number)
        assert float(text.replace("−", "-")) == pytest.approx(number, rel=0.005)
        assert timing.three_digits(float(text.replace("−", "-"))) == text


def test_a_step_as_written_is_timed_fifteen_times(clock, capsys):
    assert len(levers.Levers(lambda: clock(0.01), 1).time.seconds) == 15


@pytest.mark.parametrize("chosen", [(), ("images in memory",)])
def test_a_loop_takes_minibatches_of_64_images_to_train_and_to_test(chosen, monkeypatch):
    sizes = []
    d2l = SimpleNamespace(
        try_gpu=lambda: None,
        load_images=lambda images, size: sizes.append(size),
        load_data_digits=lambda size, resize: sizes.append(size) or ((), ()),
        evaluate_accuracy_gpu=lambda net, minibatches: 0.5,
    )
    monkeypatch.setattr(loops, "framework", lambda: d2l)
    monkeypatch.setattr(loops.Loop, "make", lambda *_: [None] * 4)
    loop = loops.Loop(chosen, {})
    loop.prepare(3)
    loop.accuracy()
    assert len(loop.images) == 3 * 64
    assert sizes == [64, 64]
