"""Levers: what is kept, what is promised and printed, and that a machine that slows down changes neither."""

import json
import re

import pytest
from matplotlib import pyplot as plt

from d2l_lab.instruments import levers, predictions, timing
from d2l_lab.instruments.levers import Levers
from d2l_lab.machine.disturbance import Disturbance


class Clock:
    """A clock that only steps move on; `pace` is how many seconds it takes for one of theirs."""

    now, pace = 0.0, 1.0

    def __call__(self):
        return self.now

    def step(self, seconds):
        def step():
            self.now += self.pace * seconds

        return step


@pytest.fixture
def clock(monkeypatch):
    monkeypatch.delenv("D2L_QUICK", raising=False)
    found = Clock()
    monkeypatch.setattr(timing, "perf_counter", found)
    yield found
    plt.close("all")


@pytest.fixture
def tried(clock):
    """Levers on a step of 100 ms, with those of these seconds tried."""
    found = Levers(clock.step(0.1), 1000)

    def run(**seconds):
        kept = []
        for lever, after in seconds.items():
            found.promise(lever, 0.05)
            kept.append(found.test(lever, clock.step(after)))
        return found, kept

    return run


def test_a_lever_that_gains_is_kept_and_the_next_is_tried_against_it_on_a_slower_machine_too(tried, clock):
    found, kept = tried(fused=0.08, slower=0.09, same=0.08, compiled=0.04)
    assert kept == [True, False, False, True]
    assert found.time.median == pytest.approx(0.04)
    clock.pace = 3
    found.promise("tiled", 0.01)
    assert found.test("tiled", clock.step(0.03))
    assert found.time.median == pytest.approx(0.03)


def test_a_step_is_timed_as_written_before_any_lever(clock, capsys):
    Levers(clock.step(0.1), 64, "images")
    assert capsys.readouterr().out == "the loop as written: 100.0 ms a step, 640 images/s\n"


def test_a_test_shows_the_promise_beside_the_step(tried, capsys):
    tried(fused=0.08)
    promised, compared, miss, *_, verdict = capsys.readouterr().out.splitlines()
    assert promised == "fused: promised to save 50.0 ms"
    assert re.search("fused .* promised +50.0 ms .* obtained 20.0 ms .* 0.400 ×", compared)
    assert miss.startswith("  off by 2.50 ×")
    assert verdict == "fused: it gains: kept (pairs: 6), 80.0 ms a step, 12,500 tokens/s"


def test_the_table_has_promises_in_milliseconds_saved_and_the_picture_its_losers(tried, capsys):
    found, _ = tried(fused=0.08, slower=0.1, same=0.08)
    capsys.readouterr()
    found.show()
    table = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert table == [
        "ms a step low–high gain promised obtained tokens/s",
        "the loop as written 100.0 100.0–100.0 1.00 × – – 10,000",
        "fused 80.0 80.0–80.0 1.25 × 50.0 20.0 12,500",
        "slower 100.0 100.0–100.0 1.00 × 50.0 −20.0 10,000 loses: left out",
        "same 80.0 80.0–80.0 1.25 × 50.0 0.00 12,500 within the noise: left out",
    ]
    assert plt.gca().get_label() == (
        "Waterfall of the milliseconds a step: the loop as written: 100 ms; "
        "fused: 80.0 ms, promised 50.0 ms; slower: 100 ms, promised 30.0 ms, left out; "
        "same: 80.0 ms, promised 30.0 ms, left out."
    )


def test_in_a_notebook_the_table_goes_to_the_page_as_data(tried, monkeypatch):
    shown = []
    monkeypatch.setattr(levers, "show", shown.append)
    found, _ = tried(fused=0.08, slower=0.1)
    found.show()
    record = json.loads(json.dumps(shown[-1]._repr_mimebundle_()[levers.RUNNING_TOTAL]))
    assert (record["items"], record["unit"]) == (1000, "tokens")
    assert [(row["lever"], round(row["seconds"], 6), row["promised"], row["verdict"]) for row in record["rows"]] == [
        ("the loop as written", 0.1, None, "gains"),
        ("fused", 0.08, 0.05, "gains"),
        ("slower", 0.1, 0.05, "loses"),
    ]
    assert [row["kept"] for row in record["rows"]] == [True, True, False]


def test_what_was_obtained_has_the_spread_of_the_differences_of_pairs():
    pairs = [(pace * 0.1, pace * after) for pace, after in ((1, 0.08), (3, 0.07), (2, 0.09))]
    row = levers.tried_row("fused", pairs, 1, 0.2, 0.03, Disturbance())
    assert row.time.seconds == pytest.approx((0.16, 0.14, 0.18))
    assert (row.obtained, row.time.number) == (pytest.approx(0.04), 1)


def test_what_disturbed_pairs_is_told_beside_the_saving(monkeypatch):
    shown = []
    monkeypatch.setattr(predictions, "show", shown.append)
    levers.tried_row("fused", [(0.1, 0.08)], 1, 0.1, 0.02, Disturbance(0.8, 2, 0.7)).compare()
    assert [compared.disturbance for compared in shown] == [Disturbance(0.8, 2, 0.7)]


def test_a_lever_that_promised_nothing_is_tried_all_the_same_and_compared_with_no_promise(tried, clock, capsys):
    found, _ = tried()
    fused = clock.step(0.08)
    assert found.test("fused", fused)
    assert found.step is fused
    found.show()
    verdict, _, _, row = capsys.readouterr().out.splitlines()
    assert verdict.startswith("fused: it gains: kept (pairs: 6), 80.0 ms a step")
    assert re.fullmatch(r"fused +80\.0 +80\.0–80\.0 +1\.25 × +– +20\.0 +12,500", row)


@pytest.mark.parametrize(("too_little", "said"), [(0.002, "2.00"), (-0.002, "−2.00")])
def test_what_is_too_little_for_a_clock_stands_in_the_table_and_is_compared_with_nothing(
    tried, clock, capsys, too_little, said
):
    found, _ = tried()
    assert found.test("fused", clock.step(0.08), too_little=too_little)
    found.show()
    verdict, _, _, row = capsys.readouterr().out.splitlines()
    assert verdict.startswith("fused: it gains: kept (pairs: 6), 80.0 ms a step")
    assert re.fullmatch(rf"fused +80\.0 +80\.0–80\.0 +1\.25 × +{said} +20\.0 +12,500", row)


def test_a_promise_is_a_saving_above_0_and_a_minibatch_holds_something(clock):
    found = Levers(clock.step(0.1), 1000)
    with pytest.raises(ValueError, match="above 0"):
        found.promise("recomputed", -0.03)
    with pytest.raises(ValueError, match="at least one of its images, not 0"):
        Levers(clock.step(0.1), 0, "images")
