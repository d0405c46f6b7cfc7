"""Networks and the training step that sections build, for TensorFlow, imported on demand by `d2l_utils.tensorflow`."""

from collections.abc import Iterator
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from d2l_lab.instruments import levers
from d2l_lab.instruments.data import DigitImages


def build_lenet() -> Any:
    """Return LeNet, the network of the chapter's training loop, with the same first weights in every call.

    Returns
    -------
    keras.Model
        Takes X of shape (n, 28, 28, 1) and returns logits of shape (n, 10); it has 129,068 parameters.
    """
    keras.utils.set_random_seed(0)
    return keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Conv2D(20, 3, activation="relu"),
            layers.AveragePooling2D(2),
            layers.Conv2D(50, 5, activation="relu"),
            layers.AveragePooling2D(2),
            layers.Flatten(),
            layers.Dense(128, "relu"),
            layers.Dense(10),
        ]
    )


def tuned_lenet() -> Any:
    """Return LeNet with layers that suit this framework: the same first weights, and the same logits but for rounding.

    Its layers of Keras hold the weights, and TensorFlow's operations use them.
    """
    return DirectLeNet([keras.Input((28, 28, 1)), *build_lenet().layers])


class DirectLeNet(keras.Sequential):
    """LeNet whose weights are used by TensorFlow's operations, without a call of each Keras layer."""

    def call(self, X: Any) -> Any:
        conv1, _, conv2, _, _, dense1, dense2 = self.layers
        for conv in (conv1, conv2):
            X = tf.nn.conv2d(X, conv.kernel, 1, "VALID")
            X = tf.nn.relu(tf.nn.bias_add(X, conv.bias))
            X = tf.nn.avg_pool2d(X, 2, 2, "VALID")
        X = tf.reshape(X, (-1, 800)) @ dense1.kernel
        X = tf.nn.relu(tf.nn.bias_add(X, dense1.bias))
        return tf.nn.bias_add(X @ dense2.kernel, dense2.bias)


def in_bfloat16(net: Any) -> Any:
    """Return a network that computes as `net` does, but in bfloat16: its own weights and its logits stay float32.

    Its layers take the policy "mixed_bfloat16" of Keras, also in `net`.
    """
    for layer in net.layers:
        layer.dtype_policy = keras.DTypePolicy("mixed_bfloat16")
    return keras.Sequential(
        [keras.Input(net.input_shape[1:]), *net.layers, layers.Activation("linear", dtype="float32")]
    )


def train_step(net: Any, optimizer: Any, X: Any, y: Any) -> Any:
    """Update a network by one minibatch and return its mean loss, which has not been read yet.

    Parameters
    ----------
    net
        A Keras model that returns logits of shape (n, classes).
    optimizer
        An optimizer of Keras.
    X
        A minibatch of n inputs.
    y
        Its labels, of shape (n,).
    """
    with tf.GradientTape() as tape:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, net(X))
        loss = tf.reduce_mean(losses)
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables, strict=True))
    return loss


def load_images(images: Any, batch_size: int) -> Any:
    """Return an iterator over whole minibatches of `DigitImages`, in a new order each time.

    Each image is enlarged in Python while the caller waits. X is float32 of shape (batch_size, *images.shape), y int64
    of shape (batch_size,).
    """

    def draw() -> Iterator[Any]:
        order = np.random.permutation(len(images))
        for start in range(0, len(order) - batch_size + 1, batch_size):
            chosen = [images[i] for i in order[start : start + batch_size]]
            yield tuple(np.stack(part) for part in zip(*chosen, strict=True))

    shape = (batch_size, *images.shape)
    minibatches = tf.data.Dataset.from_generator(
        draw,
        output_signature=(
            tf.TensorSpec(shape),
            tf.TensorSpec(batch_size, tf.int64),
        ),
    )
    options = tf.data.Options()  # by default a thread would load ahead
    options.experimental_optimization.inject_prefetch = False
    return minibatches.with_options(options)


class Residual(keras.Layer):
    """The residual block of ResNet: two 3 × 3 convolutions, added to their input.

    Parameters
    ----------
    num_channels
        Channels of the output.
    use_1x1conv
        Whether a 1 × 1 convolution brings the input to the shape of the output.
    strides
        Strides of the first convolution, which divide height and width.
    """

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

    Returns
    -------
    keras.Model
        Takes X of shape (n, h, w, in_channels) and returns logits of shape (n, num_classes).
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


class Loop(levers.Loop):
    """The chapter's loop with some levers, for TensorFlow."""

    def make(self, tuned: bool, compiled: bool, bfloat16: bool) -> tuple[Any, Any, Any, Any]:
        self.net = self.network(tuned, bfloat16)
        self.optimizer = keras.optimizers.SGD(0.05, momentum=0.9)
        self.optimizer.build(self.net.trainable_variables)
        return self.net, self.optimizer, tf.function(train_step) if compiled else train_step, self.save()

    def _state(self) -> list[Any]:
        return [*self.net.trainable_variables, *self.optimizer.variables]

    def load(self, state: Any) -> None:
        for variable, value in zip(self._state(), state, strict=True):
            variable.assign(value)

    def save(self) -> Any:
        return [variable.numpy() for variable in self._state()]

    def background(self, images: DigitImages) -> Any:
        return load_images(images, levers.BATCH).prefetch(1)  # as the section on automatic parallelism does
