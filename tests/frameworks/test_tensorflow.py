"""What TensorFlow's folder alone does."""

import pytest
import tensorflow as tf

from d2l_utils.tensorflow.networks import Loop


@pytest.mark.usefixtures("asynchronous")
def test_an_error_of_queued_work_comes_out_of_synchronize(d2l):
    wide = tf.ones((2, 3))
    failing = tf.raw_ops.MatMul(a=wide, b=wide)
    with pytest.raises(tf.errors.InvalidArgumentError):
        d2l.synchronize(failing)
    tf.experimental.async_clear_error()


def test_no_epoch_ends_with_a_wait_for_the_autotuner(d2l):
    loop = Loop(("background loading",), {})
    loop.prepare(1)
    for minibatches in (*d2l.load_data_digits(64), loop.minibatches):
        assert minibatches.options().autotune.enabled is False
