"""What TensorFlow's folder alone does."""

import pytest
import tensorflow as tf


@pytest.mark.usefixtures("asynchronous")
def test_an_error_of_queued_work_comes_out_of_synchronize(d2l):
    wide = tf.ones((2, 3))
    failing = tf.raw_ops.MatMul(a=wide, b=wide)
    with pytest.raises(tf.errors.InvalidArgumentError):
        d2l.synchronize(failing)
    tf.experimental.async_clear_error()
