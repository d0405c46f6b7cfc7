"""D2L's other names, for TensorFlow: what its training loops and networks share."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import keras
import tensorflow as tf
from keras import layers

from d2l_utils.d2l_names import *  # noqa: F403 - its __all__ is the explicit list
from d2l_utils.d2l_names import fashion_mnist, mean_accuracy
from d2l_utils.tensorflow.networks import iterators


def accuracy(y_hat: Any, y: Any) -> float:
    """Return how many predictions are right: logits of shape (n, classes) or classes (n,), for labels y (n,)."""
    classes = tf.argmax(y_hat, axis=1) if len(y_hat.shape) > 1 else y_hat
    return float(tf.reduce_sum(tf.cast(tf.cast(classes, y.dtype) == y, tf.int32)))


def sgd(params: Any, lr: float, batch_size: int, grads: Any = None) -> Any:
    """Take a step of minibatch stochastic gradient descent and return the parameters.

    Variables change in place. TensorFlow stores no gradients with them.
    """
    if grads is None:
        raise ValueError("TensorFlow stores no gradients with the parameters: give grads=tape.gradient(loss, params)")
    params = list(params)
    for param, grad in zip(params, grads, strict=True):
        param.assign_sub(lr * grad / batch_size)
    return params


def split_batch(X: Any, y: Any, devices: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Split X and y over the devices, in parts that differ by at most one example."""
    if len(X) != len(y):
        raise ValueError(f"{len(X)} examples have {len(y)} labels")
    n, k = len(X), len(devices)
    sizes = [n // k + (i < n % k) for i in range(k)]
    X_shards, y_shards = [], []
    for device, X_part, y_part in zip(devices, tf.split(X, sizes), tf.split(y, sizes), strict=True):
        with device:
            X_shards.append(tf.identity(X_part))
            y_shards.append(tf.identity(y_part))
    return X_shards, y_shards


def evaluate_accuracy_gpu(net: Any, data_iter: Iterable[Any], device: Any = None) -> float:
    """Return the accuracy of a network on a data set, between 0 and 1.

    A layer or model of Keras is called with `training=False`.
    """
    device = device or _device(net) or nullcontext()
    shards = (split_batch(X, y, [device]) for X, y in data_iter)
    return mean_accuracy([_evaluation(net, device)], shards, accuracy)


def evaluate_accuracy_gpus(net: Any, data_iter: Iterable[Any], split_f: Callable[..., Any] = split_batch) -> float:
    """Return the accuracy of a network on a data set, each minibatch split over its replicas."""
    devices = [_device(replica) for replica in net]
    shards = (split_f(X, y, devices) for X, y in data_iter)
    return mean_accuracy(map(_evaluation, net, devices), shards, accuracy)


def load_data_fashion_mnist(batch_size: int, resize: int | None = None) -> tuple[Any, Any]:
    """Return iterators over the training and the test minibatches of Fashion-MNIST.

    X has shape (n, side, side, 1), where side is 28 or `resize`, and y is int32.
    """
    return iterators(fashion_mnist(resize), batch_size)


def _device(net: Any) -> Any:
    """Return the device of a network's first parameter; None for a function."""
    variables = getattr(net, "variables", None)
    return tf.device(tf.convert_to_tensor(variables[0]).device) if variables else None


def _evaluation(net: Any, device: Any) -> Callable[[Any], Any]:
    """Return a function of X: what a network computes in evaluation, on its device."""
    compute = partial(net, training=False) if isinstance(net, tf.keras.layers.Layer) else net

    def on_device(X: Any) -> Any:
        with device:
            return compute(X)

    return on_device


class Residual(keras.Layer):
    """The residual block of ResNet: two 3 × 3 convolutions, added to their input."""

    def __init__(self, num_channels: int, use_1x1conv: bool = False, strides: int = 1):
        super().__init__()
        self.body = keras.Sequential(
            [
                layers.Conv2D(num_channels, 3, strides, "same", use_bias=False),
                layers.BatchNormalization(momentum=0.8),
                layers.ReLU(),
                layers.Conv2D(num_channels, 3, padding="same", use_bias=False),
                layers.BatchNormalization(momentum=0.8),
            ]
        )
        self.skip = layers.Identity()
        if use_1x1conv:
            self.skip = layers.Conv2D(num_channels, 1, strides)

    def call(self, X: Any) -> Any:
        return keras.ops.relu(self.body(X) + self.skip(X))


def resnet18(num_classes: int, in_channels: int = 1, width: int = 64) -> Any:
    """Return a ResNet-18 for small images, with `width` channels in its first stage.

    It is a `keras.Model` and takes X of shape (n, h, w, in_channels).
    """
    net = keras.Sequential(
        [
            keras.Input((None, None, in_channels)),
            layers.Conv2D(width, 3, padding="same", use_bias=False),
            layers.BatchNormalization(momentum=0.8),
            layers.ReLU(),
        ]
    )
    for stage in range(4):
        channels, halve = width * 2**stage, stage > 0
        net.add(Residual(channels, halve, 2 if halve else 1))
        net.add(Residual(channels))
    net.add(layers.GlobalAveragePooling2D())
    net.add(layers.Dense(num_classes))
    return net
