"""The bill's sentence and table, from rows that are made up."""

import math
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from d2l_lab.instruments import bill as module
from d2l_lab.instruments.bill import OUTSIDE, Bill, Rates, Sample, Touched, add_seconds, pieces
from d2l_lab.machine.disturbance import Disturbance
from d2l_lab.protocol import Record, Row

RATES = Rates(issue=1e-6, levels=((1e6, 1e11), (math.inf, 1e10)), product=1e11)
B, HALF = 8, 4


def rows(share=1.0, **seconds):
    """Return rows of one step, as far as they go: each operation is limited by what its name says."""
    every = {
        "product": Row(10, 1e9 * share, {1e5: 1e5}, 10.2e-3 * share),  # 10 ms of arithmetic
        "table": Row(1, 0, {1e8: 1e8}, 10.2e-3),  # 10 ms of bytes, however large the minibatch
        "slow": Row(10, 1e7 * share, {1e5: 1e5 * share}, 10.2e-3 * share),
        "many": Row(1000, 0, {1e3: 1e6}, 10.2e-3),
    }
    return {name: every[name] for name in seconds} if seconds else every


def sample(*names, outside=0.0, quarter=None):
    """Return a sample of a step of these operations, of 10.2 ms each, and of some time outside."""
    records = []
    for share in (1.0, HALF / B):
        part = {name: rows(share)[name] for name in names}
        records.append(Record(sum(row.seconds for row in part.values()) + outside, part, issued=True))
    T, half = (record.whole for record in records)
    return Sample(*records, {B: T, HALF: half, 2: half - (T - half) / 2 if quarter is None else quarter})


@pytest.mark.parametrize(
    ("names", "cause", "operation"),
    [
        (["product", "product"], "arithmetic", "product"),
        (["table"], "bytes", "table"),
        (["slow"], "kernel", "slow"),
        (["many"], "calls", "many"),
    ],
)
def test_a_step_of_one_operation_is_limited_by_what_limits_that(names, cause, operation):
    bill = Bill([sample(*names)], [RATES])
    assert (bill.cause, bill.operation) == (cause, operation)
    assert 0.9 < bill.share <= 1
    assert f"× {operation}" in bill.sentence
    assert "Control: 4 of 8 rows take" in bill.sentence


def test_time_between_operations_is_calls_if_it_is_fixed_and_python_if_it_grows():
    fixed = sample("table", outside=40e-3)
    assert (Bill([fixed], [RATES]).cause, Bill([fixed], [RATES]).operation) == ("calls", OUTSIDE)
    half = fixed.half._replace(whole=fixed.half.whole - 20e-3)
    grows = Sample(fixed.full, half, {8: 50e-3, 4: 30e-3, 2: 20e-3})
    assert Bill([grows], [RATES]).cause == "python"


def test_two_causes_that_are_close_are_a_tie():
    bill = Bill([sample("table", "product")], [RATES])
    assert bill.cause == ""
    assert "a tie between" in bill.sentence
    assert "moving bytes (49%)" in bill.sentence


def test_two_rates_that_disagree_are_a_tie():
    """What is arithmetic at one rate is a slow kernel at ten times that rate."""
    bill = Bill([sample("product")], [RATES, RATES._replace(product=1e12)])
    assert bill.cause == ""
    assert "a tie between arithmetic (10% … 98%) and kernels far from their bounds (2% … 90%)" in bill.sentence


def test_rounds_that_disagree_are_a_tie():
    bill = Bill([sample("table", "table"), sample("table"), sample("slow")], [RATES])
    assert bill.cause == ""
    assert "a tie between moving bytes" in bill.sentence


def test_a_quarter_that_takes_another_time_than_expected_leaves_no_verdict_on_what_is_fixed():
    for uneven in (sample("many", quarter=5e-3), sample("product", "many", outside=40e-3, quarter=15e-3)):
        bill = Bill([uneven], [RATES])
        assert bill.cause == ""
        assert "does not fall evenly" in bill.sentence
    assert "so 2 should take 0.87; they take 0.25" in bill.sentence


def test_where_a_quarter_takes_another_time_a_cause_stands_if_it_is_the_same_without_what_is_fixed():
    bill = Bill([sample("product", quarter=5e-3)], [RATES])
    assert bill.cause == "arithmetic"
    assert "so 2 should take 0.25; they take 0.49. Whatever of it is fixed, the cause is the same." in bill.sentence
    full = Record(26.2e-3, rows(product=1) | {"other": Row(1000, 3e8, {}, 16e-3)}, issued=True)
    half = Record(17.6e-3, {"product": rows(0.5)["product"], "other": Row(1000, 1.5e8, {}, 12.5e-3)}, issued=True)
    even = Bill([Sample(full, half, {8: 26.2e-3, 4: 17.6e-3, 2: 13.3e-3})], [RATES])
    uneven = Bill([Sample(full, half, {8: 26.2e-3, 4: 17.6e-3, 2: 7e-3})], [RATES])
    assert (even.cause, uneven.cause) == ("arithmetic", "")  # what is fixed of "other" would be calls, or else a kernel


def test_calls_that_cost_more_than_what_is_fixed_leave_no_verdict():
    """Half of the minibatch halves the time, though what its operations take stays nearly the same."""
    full = sample("many")
    bill = Bill([full._replace(plain={8: 10.2e-3, 4: 5.2e-3, 2: 2.7e-3})], [RATES])
    assert bill.cause == ""
    assert "the cost of calls is more than what is fixed of the step" in " ".join(bill.sentence.split())


def test_a_call_that_takes_far_longer_than_calls_cost_is_a_slow_kernel_even_if_its_time_is_fixed():
    full = Record(10e-3, {"slow": Row(6, 1e4, {1e3: 1e3}, 10e-3)}, issued=True)
    assert Bill([Sample(full, full, dict.fromkeys((8, 4, 2), 10e-3))], [RATES]).cause == "kernel"


def test_what_a_profiler_adds_to_each_of_many_operations_is_no_reason_to_abstain():
    full = Record(1.3e-3, {"many": Row(1000, 0, {1e3: 1e6}, 1.3e-3)}, issued=True)
    assert Bill([Sample(full, full, dict.fromkeys((8, 4, 2), 1e-3))], [RATES]).cause == "calls"
    few = Record(1.3e-3, {"table": Row(10, 0, {1e8: 1e7}, 1.3e-3)}, issued=True)
    assert Bill([Sample(few, few, dict.fromkeys((8, 4, 2), 1e-3))], [RATES]).cause == ""


def test_an_operation_without_counts_has_a_mark_and_no_verdict():
    full = Record(10e-3, {"custom": Row(1, uncounted=1, seconds=10e-3)}, issued=True)
    bill = Bill([Sample(full, full, {8: 10e-3, 4: 10e-3, 2: 10e-3})], [RATES])
    assert bill.cause == ""
    assert "the largest part is custom, which is not counted" in " ".join(bill.sentence.split())
    assert "calls?" in str(bill)
    assert "?: some calls are not counted" in str(bill)


def test_operations_that_add_up_to_more_than_the_step_leave_no_verdict():
    full = Record(8e-3, rows(table=1), issued=True)
    bill = Bill([Sample(full, full, {8: 8e-3, 4: 8e-3, 2: 8e-3})], [RATES])
    assert "add up to more than the step" in bill.sentence
    assert "−2.20" in str(bill)  # between operations


def test_an_operation_below_its_bound_leaves_no_verdict_and_its_negative_waste_is_printed():
    full = Record(4e-3, {"table": Row(1, 0, {1e8: 1e8}, 4e-3)}, issued=True)
    bill = Bill([Sample(full, full, {8: 4e-3, 4: 4e-3, 2: 4e-3})], [RATES])
    assert "table takes less than its bound" in bill.sentence
    assert bill.waste["table"] == pytest.approx(-6e-3)
    assert "−6.00" in str(bill)


@pytest.mark.parametrize(("operations", "named"), [(9, True), (11, False)])
def test_a_cause_whose_parts_are_all_below_a_tenth_of_the_step_leaves_no_verdict(operations, named):
    part = {f"table {i}": Row(1, 0, {1e8: 1e8}, 10e-3) for i in range(operations)}
    full = Record(operations * 10e-3, part, issued=True)
    bill = Bill([Sample(full, full, dict.fromkeys((8, 4, 2), full.whole))], [RATES])
    assert bill.cause == ("bytes" if named else "")
    assert named or "the largest part, table 9, is less than a tenth of the step" in " ".join(bill.sentence.split())


def test_calls_are_named_however_many_kinds_of_them_there_are():
    part = {f"small {i}": Row(100, 0, {1e3: 1e3}, 1e-3) for i in range(20)}
    full = Record(20e-3, part, issued=True)
    assert Bill([Sample(full, full, dict.fromkeys((8, 4, 2), 20e-3))], [RATES]).cause == "calls"


def test_the_table_has_eight_rows_the_rest_and_a_sum_beside_the_step():
    part = {f"op {i}": Row(1, 1e6, {1e6: 1e6}, (i + 1) * 1e-3) for i in range(10)}
    lines = str(Bill([Sample(*[Record(60e-3, part, True)] * 2, {8: 60e-3, 4: 60e-3, 2: 60e-3})], [RATES])).split("\n")
    assert [line.split("  ")[0] for line in lines[1:12]] == [
        *(f"op {i}" for i in range(9, 1, -1)), "(2 more)", "sum, in ms", "the step beside it",
    ]  # fmt: skip
    assert lines[10].split()[-2:] == ["55.00", "54.90"]
    assert lines[11].split()[-1] == "60.00"
    assert lines[12].split()[-1] == "5.00"
    assert max(map(len, lines)) <= 80


def test_the_rows_shown_are_those_that_take_longest_whatever_they_waste():
    part = {f"small {i}": Row(1, 0, {}, 1e-3 + i * 1e-4) for i in range(8)}
    part |= {"long": Row(1, 1e9, {}, 9e-3), "idle": Row(1, 0, {}, 0.5e-3)}
    full = Record(30e-3, part, issued=False)
    lines = str(Bill([Sample(full, full, {8: 30e-3, 4: 30e-3, 2: 30e-3})], [RATES])).split("\n")
    assert [line.split("  ")[0] for line in lines[1:10]] == [
        "long",
        *(f"small {i}" for i in range(7, 0, -1)),
        "(2 more)",
    ]


def test_an_operation_s_time_is_cut_into_what_is_fixed_and_what_grows():
    found = pieces(sample("product", "table"), B, HALF, RATES)
    assert found["bytes", "table"] == pytest.approx(10e-3)
    assert found["arithmetic", "product"] == pytest.approx(10e-3)
    assert sum(found.values()) == pytest.approx(20.4e-3)


def test_half_of_an_odd_minibatch_counts_as_what_it_is():
    """7 and 3 rows: 2 ms a row and 1 ms fixed."""
    records = [Record(2e-3 * n + 1e-3, {"product": Row(1, 1e8, {}, 2e-3 * n + 1e-3)}, True) for n in (7, 3)]
    found = pieces(Sample(*records, {7: 15e-3, 3: 7e-3}), 7, 3, RATES)
    assert sum(found.values()) == pytest.approx(15e-3)
    bill = Bill([Sample(*records, {7: 15e-3, 3: 7e-3, 1: 3e-3})], [RATES])
    assert "3 of 7 rows take 0.47 of the step, so 1 should take 0.20; they take 0.20" in bill.sentence


def test_bytes_pass_at_the_best_rate_of_the_levels_that_have_room_for_their_reach():
    """A small level whose operations are slow to start is no slower than a larger one."""
    rates = Rates(1e-6, [(1e3, 1e9), (1e6, 1e10), (math.inf, 5e9)], 1e11)
    bounds = [rates.bounds(Row(1, 0, {reach: 1e6}))["bytes"] for reach in (512.0, 1e5, 1e7)]
    assert bounds == pytest.approx([1e-4, 1e-4, 2e-4])


def test_operations_at_the_same_time_share_it():
    found = {"a": Row(2)}
    add_seconds(found, [(0, 4, "a"), (1, 3, "b"), (5, 6, "a"), (7, 7, "c")])
    assert {name: (row.calls, row.seconds, row.uncounted) for name, row in found.items()} == {
        "a": (2, 4.0, 0), "b": (1, 1.0, 1),
    }  # fmt: skip


def test_the_reach_of_an_array_is_what_was_touched_since():
    touched = Touched()
    assert touched.reaches({"a": 512.0}) == {2.0**60: 512.0}
    touched.reaches({"b": 1024.0})
    assert touched.reaches({"a": 512.0}) == {2048.0: 512.0}
    assert touched.reaches({"a": 512.0}) == {512.0: 512.0}


class Fake:
    """A framework whose arrays are NumPy's and whose step is one slow operation."""

    __name__ = "fake"

    def synchronize(self):
        pass

    def product(self, device, n, kind):
        return lambda: None

    def memory_passes(self, device, size):
        return {"copy": (lambda: None, 2)}

    def cpu(self):
        pass

    def recorder(self, run):
        def record():
            run()
            return Record(1e-3, {"op": Row(1, 0, {8.0: 8.0}, 1e-3)}, True)

        return record


@pytest.fixture
def fake(monkeypatch):
    machine = {
        "gpus": [],
        "framework": {
            "dispatch": {"issue": 1e-6},
            "bandwidth": {"memory": {"bytes": 1e8, "copy": 1e10, "in place": 1e10}},
            "product": {"float32": 1e11},
        },
    }
    monkeypatch.setattr(module, "framework", Fake)
    monkeypatch.setattr(module, "your_machine", lambda: machine)
    monkeypatch.setenv("D2L_QUICK", "1")


def test_the_rows_of_all_arrays_of_a_minibatch_are_cut(fake):
    seen = set()
    X = {"nodes": np.zeros((9, 3)), "edges": [np.zeros((9, 2)), np.zeros(()), None, 5]}
    module.bill(lambda X, y: seen.add((len(X["nodes"]), *map(np.size, X["edges"]), len(y))), X, np.zeros(9))
    assert seen == {(9, 18, 1, 1, 1, 9), (4, 8, 1, 1, 1, 4), (2, 4, 1, 1, 1, 2)}


@pytest.mark.parametrize(("more", "rows"), [(12, 8), (8, 12)])
def test_arrays_of_different_lengths_are_not_cut_and_leave_no_verdict(fake, more, rows):
    """Edges refer to nodes: half of the edges have some of their nodes beyond the first half."""
    seen = set()
    bill = module.bill(
        lambda X, y: seen.add((len(X[0]), len(X[1]), len(y))), [np.zeros(8), np.zeros(more)], np.zeros(rows)
    )
    assert seen == {(8, more, rows)}
    assert bill.sentence == "No verdict: arrays of 8 and of 12 rows have no common half."
    assert list(bill.rows) == ["op"]


def test_a_step_that_fails_says_so_in_a_line(fake):
    def step(X, y):
        raise RuntimeError("shapes\ndiffer")

    with pytest.raises(ValueError, match="^the step fails: RuntimeError: shapes differ$"):
        module.bill(step, np.zeros((8, 2)), np.zeros(8))
    with pytest.raises(ValueError, match=r"^the step fails: TypeError: .* not callable$"):
        module.bill(None, np.zeros((8, 2)), np.zeros(8))


@pytest.mark.parametrize("X", [None, 3, np.zeros(()), np.zeros((0, 3)), []])
def test_a_minibatch_without_rows_is_refused(fake, X):
    with pytest.raises(ValueError, match="^bill takes a minibatch whose first array has rows"):
        module.bill(lambda X, y: None, X, np.zeros(8))


def test_a_step_that_takes_no_half_has_a_bill_without_a_verdict(fake):
    def step(X, y):
        if len(X) != 8:
            raise RuntimeError("always 8")

    bill = module.bill(step, np.zeros((8, 2)), np.zeros(8))
    assert bill.sentence == "No verdict: 4 of 8 rows fail: RuntimeError: always 8"
    assert list(bill.rows) == ["op"]


@pytest.mark.parametrize(("others", "busy"), [(0.3, False), (0.8, True)])
def test_a_busy_machine_leaves_no_verdict(fake, monkeypatch, others, busy):
    """Where a core is taken, a product that waits for its second thread looks like a slow kernel."""
    seen = SimpleNamespace(tick=lambda: None, disturbance=Disturbance(others, cores=2))
    monkeypatch.setattr(module, "observing", lambda: nullcontext(seen))
    bill = module.bill(lambda X, y: None, np.zeros((8, 2)), np.zeros(8))
    assert (bill.sentence == "No verdict: the machine was too busy.") is busy
    assert f"other programs took {others} of 2 cores" in str(bill)


def test_a_minibatch_too_small_to_halve_twice_has_a_bill_without_a_verdict(fake):
    assert module.bill(lambda X, y: None, np.zeros((3, 2)), np.zeros(3)).sentence.startswith("No verdict: 3 rows")
