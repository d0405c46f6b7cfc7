"""synchronize waits, for all that it is given, and says so when there is nothing to wait for."""

from time import perf_counter

import numpy as np
import pytest


@pytest.fixture(scope="session")
def work(array, d2l):
    """A function that issues a chain of sums, which take much longer than issuing them, and returns its result.

    Sums, because TensorFlow's product looks at the shape of its operands, which waits for them.
    """
    x = array(np.ones((2000, 2000), "float32"))

    def issue():
        y = x
        for _ in range(20):
            y = y + x
        return y

    d2l.synchronize(issue())
    return issue


def clock(issue, wait, finish):
    """Return the seconds after issuing, after waiting and after finishing."""
    start = perf_counter()
    y = issue()
    issued = perf_counter() - start
    wait(y)
    waited = perf_counter() - start
    finish(y)
    return issued, waited, perf_counter() - start


def argument(y):
    return {"alone": y, "list": [1, y], "dictionary": {"loss": 0.5, "nested": (None, [y])}}


@pytest.mark.usefixtures("asynchronous")
@pytest.mark.parametrize("form", ["alone", "list", "dictionary", "nothing"])
def test_after_synchronize_nothing_is_left_to_wait_for(form, d2l, work, numpy):
    def wait(y):
        d2l.synchronize(*([] if form == "nothing" else [argument(y)[form]]))

    d2l.synchronize()
    clocks = [clock(work, wait, numpy) for _ in range(3)]
    assert max(waited / finished for _, waited, finished in clocks) > 0.8  # the least disturbed one


def share_of_issuing(d2l, work, numpy):
    """Return the part of the time of the work that it takes to issue it, the least of three."""
    d2l.synchronize()
    return min(issued / finished for issued, _, finished in (clock(work, lambda y: None, numpy) for _ in range(3)))


@pytest.mark.only("tensorflow", "jax", "mxnet")
@pytest.mark.usefixtures("asynchronous")
def test_the_work_of_these_tests_is_issued_long_before_it_is_done(d2l, work, numpy):
    assert share_of_issuing(d2l, work, numpy) < 0.5


@pytest.mark.only("pytorch")
def test_torch_has_done_the_work_when_it_is_issued(d2l, work, numpy):
    assert share_of_issuing(d2l, work, numpy) > 0.5


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
    with pytest.raises(TypeError, match="no array of this framework"):
        d2l.synchronize(thing)
    with pytest.raises(TypeError, match="no array of this framework"):
        d2l.synchronize(array(np.ones(2, "float32")), thing)


@pytest.mark.only("tensorflow")
@pytest.mark.usefixtures("asynchronous")
def test_an_error_of_work_that_tensorflow_queued_comes_out_of_synchronize(d2l):
    import tensorflow as tf

    wide = tf.ones((2, 3))
    failing = tf.raw_ops.MatMul(a=wide, b=wide)
    with pytest.raises(tf.errors.InvalidArgumentError):
        d2l.synchronize(failing)
    tf.experimental.async_clear_error()


@pytest.mark.only("mxnet")
def test_an_error_of_work_that_mxnet_queued_comes_out_of_synchronize(d2l):
    from mxnet import np

    failing = np.random.normal(0, -1, (2, 2))
    with pytest.raises(ValueError, match="scale"):
        d2l.synchronize(failing)
