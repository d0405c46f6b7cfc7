"""What is timed of a framework, and how figures follow from seconds."""

import pytest

from d2l_lab.machine import operations, rounds


class Clock:
    """A clock that goes on when a function is called that takes some seconds."""

    now = 100.0

    def __call__(self):
        return self.now

    def takes(self, seconds):
        def call():
            self.now += seconds

        return call


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(rounds.timeit, "default_timer", clock)
    monkeypatch.setattr(rounds.timeit.timeit, "__defaults__", ("pass", "pass", clock, 1, None))
    return clock


def test_of_many_tiny_operations_the_wait_is_for_the_last_and_of_one_it_is_for_that():
    added, waited = iter(range(5000)), []
    figures = operations.dispatch(lambda: next(added), waited.append)
    for figure in figures.values():
        figure.call()
    assert list(figures) == [("dispatch", "issue"), ("dispatch", "wait")]
    assert waited == [999, 1000]
    assert [figure.of(2.0) for figure in figures.values()] == [0.002, 2.0]


@pytest.mark.parametrize(
    ("seconds", "measured"),
    [
        ({"float32": {8: 0.01}, "bfloat16": {1: 0.0001, 8: 0.01}}, ["float32", "bfloat16"]),
        ({"float32": {8: 3.0}, "bfloat16": {1: 0.0001, 8: 3.0}}, ["float32"]),  # the product lasts too long
        ({"bfloat16": {1: 0.01, 8: 0.01}}, []),  # the small product says so
    ],
)
def test_float32_is_measured_always_and_other_kinds_of_number_if_they_are_there_and_fast(clock, seconds, measured):
    found, failed = operations.products(lambda n, kind: clock.takes(seconds[kind][n]), 8, seconds)
    assert ([kind for _, kind in found], failed) == (measured, {})
    assert all(figure.of(0.5) == 2 * 8**3 / 0.5 for figure in found.values())


def test_one_slow_run_makes_no_kind_of_number_slow(clock):
    taken = iter([9.0, 9.0, 9.0, 0.001, 9.0, 9.0, 9.0, 0.001])  # twice: the warm-up and two disturbed runs first
    found, _ = operations.products(lambda n, kind: lambda: clock.takes(next(taken, 0.001))(), 8, ["bfloat16"])
    assert list(found) == [("product", "bfloat16")]


def test_a_product_that_fails_is_recorded_with_its_error_in_a_line_unless_the_framework_has_none_such(clock):
    errors = {"bfloat16": MemoryError("no  room\nfor it"), "float16": NotImplementedError("none"), "int8": ValueError()}

    def prepare(n, kind):
        if kind in errors:
            raise errors[kind]
        return clock.takes(0.0001 * n)

    found, failed = operations.products(prepare, 8, ["float32", *errors, "float64"])
    assert list(found) == [("product", "float32"), ("product", "float64")]
    assert failed == {"bfloat16": "MemoryError: no room for it", "int8": "ValueError:"}
    errors["float32"] = MemoryError("no room")
    with pytest.raises(MemoryError):
        operations.products(prepare, 8, ["float32"])


def test_a_bandwidth_counts_each_pass_over_the_array_and_leaves_out_the_time_of_one_number(clock):
    def passes(size):
        return {"copy": (clock.takes(1 + size), 2), "in place": (clock.takes(3 + size), 3)}

    found = operations.bandwidths(passes, {"L2": 104, "memory": 1004})
    rates = {path[1:]: figure.round() for path, figure in found.items()}
    copied, scaled = pytest.approx(2 * 1004 / 1000), pytest.approx(3 * 1004 / 1000)
    assert (rates["memory", "copy"], rates["memory", "in place"]) == (copied, scaled)
    assert [level for level, _ in rates] == ["L2", "L2", "memory", "memory"]
    assert found["bandwidth", "L2", "copy"].of(1.0) == 2 * 104 / 0.1  # nine tenths at most are left out


@pytest.mark.parametrize(
    ("l2", "l3", "sizes"),
    [
        (None, None, (2**18, 2**23, 2**28)),
        (2**19, 2**25, (2**18, 2**23, 2**27)),
        (2**20, 2**29, (2**19, 2**25, 2**28)),  # a very large L3
        (2**21, 2**24, (2**20, 2**23, 2**26)),  # a large L2
        (2**22, None, (2**21, 2**23, 2**28)),
    ],
)
def test_the_arrays_fit_into_the_caches_that_the_system_reports(l2, l3, sizes):
    found = {1: 2**15, 2: l2, 3: l3}
    caches = [{"level": level, "kind": "unified", "bytes": size} for level, size in found.items() if size]
    assert tuple(operations.array_sizes(caches).values()) == sizes
