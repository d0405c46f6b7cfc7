"""What the tests need of TensorFlow itself."""

from contextlib import contextmanager

import keras
import tensorflow as tf
from devices import FakeGPU

DEVICES_AT_ANY_TIME = False
ISSUES_AHEAD = True
CHANNELS_FIRST = False
LABELS = "int32"

array = tf.constant


def numpy(x):
    return x.numpy()


def put(device, x):
    with device:
        return tf.constant(x) + 0


def place(x):
    return x.device[-5:]


@contextmanager
def asynchronous():
    """Let TensorFlow queue eager operations, as the asynchronous frameworks do by themselves."""
    tf.config.experimental.set_synchronous_execution(False)
    yield
    tf.config.experimental.set_synchronous_execution(True)


def pretend_gpus(n, monkeypatch):
    found = {"GPU": [FakeGPU(i) for i in range(n)], "CPU": tf.config.list_physical_devices("CPU")}
    monkeypatch.setattr(tf.config, "list_physical_devices", found.get)


def sgd_step(d2l, x, weights):
    w = tf.Variable(weights)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.linalg.matvec(tf.constant(x), w))
    (new,) = d2l.sgd((param for param in [w]), 0.5, 2, tape.gradient(loss, [w]))
    assert new is w
    return new


def network(device, dropout=0.5):
    with device:
        dense = keras.layers.Dense(2, use_bias=False, kernel_initializer="identity")
        return keras.Sequential([keras.Input((2,)), keras.layers.Dropout(dropout), dense])


def optimizer(net):
    return keras.optimizers.SGD(0.05)


def parameters(net):
    return net.trainable_variables
