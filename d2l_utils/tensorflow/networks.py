"""Data, networks and the training step of the chapter's loop, for TensorFlow, imported on demand."""

from collections.abc import Iterator, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from d2l_lab.instruments import loops
from d2l_lab.instruments.data import digits


def build_lenet() -> Any:
    """Return LeNet, the network of the chapter's training loop, with the same first weights in every call.

    It is a `keras.Model` and takes X of shape (n, 28, 28, 1).
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
    """Return a LeNet whose layers suit the framework: the same first weights, the same logits but for rounding.

    Its layers of Keras hold the weights, and TensorFlow's operations use them.
    """
    return DirectLeNet([keras.Input((28, 28, 1)), *build_lenet().layers])


class DirectLeNet(keras.Sequential):
    """LeNet whose weights are used by TensorFlow's operations, without a call of each Keras layer."""

    def call(self, X: Any) -> Any:
        for layer in self.layers:
            X = direct(layer, X)
        return X


def direct(layer: Any, h: Any) -> Any:
    """Return what a layer of this LeNet computes, by TensorFlow's own operations."""
    if isinstance(layer, layers.AveragePooling2D):
        return tf.nn.avg_pool2d(h, 2, 2, "VALID")
    if isinstance(layer, layers.Flatten):
        return tf.reshape(h, (-1, 800))
    if isinstance(layer, layers.Conv2D):
        h = tf.nn.conv2d(h, layer.kernel, 1, "VALID")
    if isinstance(layer, layers.Dense):
        h = h @ layer.kernel
    return layer.activation(tf.nn.bias_add(h, layer.bias))


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

    `net` is a model of Keras, and `optimizer` one of its optimizers.
    """
    with tf.GradientTape() as tape:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, net(X))
        loss = tf.reduce_mean(losses)
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables, strict=True))
    return loss


def load_images(images: Any, batch_size: int) -> Any:
    """Return an iterator over whole minibatches of `DigitImages`, in a new order each time."""

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


def load_data_digits(batch_size: int, resize: int | None = None) -> tuple[Any, Any]:
    """Return iterators over the training and the test minibatches of scikit-learn's handwritten digits.

    X has shape (n, side, side, 1), where side is 8 or `resize`, and y is int32.
    """
    return iterators(digits(resize), batch_size)


def iterators(arrays: Sequence[Any], batch_size: int) -> tuple[Any, Any]:
    """Return iterators over minibatches of X_train, y_train, X_test and y_test, as `load_data_digits` does."""
    X_train, y_train, X_test, y_test = arrays
    train, test = (
        tf.data.Dataset.from_tensor_slices((X[..., None], y.astype("int32")))
        for X, y in ((X_train, y_train), (X_test, y_test))
    )
    train = train.shuffle(len(y_train), seed=0)
    return tuple(_without_autotuner(part.batch(batch_size).prefetch(1)) for part in (train, test))


def _without_autotuner(minibatches: Any) -> Any:
    """Return minibatches whose iterators end at once: with the autotuner they wait until its thread wakes."""
    options = tf.data.Options()
    options.autotune.enabled = False
    return minibatches.with_options(options)


class Loop(loops.Loop):
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

    def loader(self) -> Any:
        return _without_autotuner(super().loader())

    def background(self, images: Any) -> Any:
        return load_images(images, loops.BATCH).prefetch(1)
