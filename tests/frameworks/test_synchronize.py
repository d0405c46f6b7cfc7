"""synchronize waits, for all that it is given, and says so when there is nothing to wait for."""

from time import perf_counter

import numpy as np
import pytest

FORMS = {
    "alone": lambda y: [y],
    "list": lambda y: [[1, y]],
    "dictionary": lambda y: [{"loss": 0.5, "nested": (None, [y])}],
    "nothing": lambda y: [],
}


@pytest.fixture
def shares(asynchronous, d2l, work, numpy):
    """A function that returns, for three runs of the work, the parts of its time after issuing it and after a wait."""

    def clock(wait):
        d2l.synchronize()
        start = perf_counter()
        y = work()
        issued = perf_counter() - start
        wait(y)
        waited = perf_counter() - start
        numpy(y)
        finished = perf_counter() - start
        return issued / finished, waited / finished

    return lambda wait: [clock(wait) for _ in range(3)]


@pytest.mark.parametrize("form", FORMS)
def test_after_synchronize_nothing_is_left_to_wait_for(form, d2l, shares):
    found = shares(lambda y: d2l.synchronize(*FORMS[form](y)))
    assert max(waited for _, waited in found) > 0.8  # the least disturbed one


def test_work_is_issued_long_before_it_is_done_except_by_a_framework_that_waits(native, shares):
    least = min(issued for issued, _ in shares(lambda y: None))
    assert (least < 0.5) is native.ISSUES_AHEAD


@pytest.mark.usefixtures("asynchronous")
def test_without_arguments_work_whose_result_was_dropped_is_waited_for(d2l, work):
    d2l.synchronize()
    start = perf_counter()
    d2l.synchronize(work())
    middle = perf_counter()
    work()
    d2l.synchronize()
    assert perf_counter() - middle > 0.3 * (middle - start)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64", "uint8", "bool"])
@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_arrays_of_any_type_and_shape_can_be_waited_for_and_keep_their_values(dtype, shape, array, d2l, numpy):
    x = array(np.ones(shape, dtype))
    assert d2l.synchronize(x, [x]) is None
    assert d2l.synchronize() is None
    np.testing.assert_array_equal(numpy(x), np.ones(shape, dtype))


@pytest.mark.parametrize("thing", [3, None, "x", [], {}, [1, "a"], np.ones(3), lambda: 0])
def test_a_thing_that_holds_no_array_is_an_error(thing, array, d2l):
    for arguments in ([thing], [array(np.ones(2, "float32")), thing]):
        with pytest.raises(TypeError, match="no array of this framework"):
            d2l.synchronize(*arguments)
