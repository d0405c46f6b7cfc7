"""What TensorFlow's folder alone does."""

import numpy as np
import pytest
import tensorflow as tf
from native_tensorflow import on
from test_synchronize import share_of_issuing


def test_more_devices_than_were_made_before_the_start_are_an_error_that_names_the_cure(d2l):
    on(d2l.try_gpu(), np.ones(2, "float32"))
    with pytest.raises(RuntimeError, match=r"restart the kernel and call devices\(77\)"):
        d2l.devices(77)


@pytest.mark.usefixtures("asynchronous")
def test_work_is_issued_long_before_it_is_done(d2l, work, numpy):
    assert share_of_issuing(d2l, work, numpy) < 0.5


@pytest.mark.usefixtures("asynchronous")
def test_an_error_of_queued_work_comes_out_of_synchronize(d2l):
    wide = tf.ones((2, 3))
    failing = tf.raw_ops.MatMul(a=wide, b=wide)
    with pytest.raises(tf.errors.InvalidArgumentError):
        d2l.synchronize(failing)
    tf.experimental.async_clear_error()


def test_sgd_needs_gradients(d2l):
    with pytest.raises(ValueError, match="stores no gradients"):
        d2l.sgd([], 0.1, 1)
