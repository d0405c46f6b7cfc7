"""synchronize waits, for all that it is given, and says so when there is nothing to wait for."""

from time import perf_counter

import numpy as np
import pytest


def clock(issue, wait, finish):
    """Return the seconds after issuing, after waiting and after finishing."""
    start = perf_counter()
    y = issue()
    issued = perf_counter() - start
    wait(y)
    waited = perf_counter() - start
    finish(y)
    return issued, waited, perf_counter() - start


def share_of_issuing(d2l, work, numpy):
    """Return the part of the time of the work that it takes to issue it, the least of three."""
    d2l.synchronize()
    return min(issued / finished for issued, _, finished in (clock(work, lambda y: None, numpy) for _ in range(3)))


FORMS = {
    "alone": lambda y: [y],
    "list": lambda y: [[1, y]],
    "dictionary": lambda y: [{"loss": 0.5, "nested": (None, [y])}],
    "nothing": lambda y: [],
}


@pytest.mark.usefixtures("asynchronous")
@pytest.mark.parametrize("form", FORMS)
def test_after_synchronize_nothing_is_left_to_wait_for(form, d2l, work, numpy):
    d2l.synchronize()
    clocks = [clock(work, lambda y: d2l.synchronize(*FORMS[form](y)), numpy) for _ in range(3)]
    assert max(waited / finished for _, waited, finished in clocks) > 0.8  # the least disturbed one


@pytest.mark.usefixtures("asynchronous")
def test_without_arguments_work_whose_result_was_dropped_is_waited_for(d2l, work):
    d2l.synchronize()
    start = perf_counter()
    d2l.synchronize(work())
    once = perf_counter() - start
    start = perf_counter()
    work()
    d2l.synchronize()
    assert perf_counter() - start > 0.3 * once


def test_synchronize_changes_no_value_and_returns_nothing(array, d2l, numpy):
    x = array(np.arange(6.0, dtype="float32").reshape(2, 3))
    y = x + 1
    assert d2l.synchronize(x, [y]) is None
    assert d2l.synchronize() is None
    np.testing.assert_array_equal(numpy(y), np.arange(1.0, 7.0, dtype="float32").reshape(2, 3))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64", "uint8", "bool"])
@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_arrays_of_any_type_and_shape_can_be_waited_for(dtype, shape, array, d2l, numpy):
    x = array(np.ones(shape, dtype))
    d2l.synchronize(x)
    np.testing.assert_array_equal(numpy(x), np.ones(shape, dtype))


@pytest.mark.parametrize("thing", [3, None, "x", [], {}, [1, "a"], np.ones(3), lambda: 0])
def test_a_thing_that_holds_no_array_is_an_error(thing, array, d2l):
    for arguments in ([thing], [array(np.ones(2, "float32")), thing]):
        with pytest.raises(TypeError, match="no array of this framework"):
            d2l.synchronize(*arguments)
