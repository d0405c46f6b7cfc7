"""Networks and the training step that sections build, for TensorFlow, imported on demand by `d2l_utils.tensorflow`."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from d2l_utils.data import DigitImages
from d2l_utils.levers import show_lever, show_running_total
from d2l_utils.tensorflow.training import evaluate_accuracy_gpu, load_data_digits


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


def running_total(promises: Mapping[str, float | None], steps: int = 6) -> None:
    """Time the chapter's training loop as it was written and with each lever in turn; show a table and a waterfall.

    Each lever is tried on the loop with the levers kept so far: both train a LeNet from the same first weights for
    three epochs, which take turns. A lever that gains less than 2 % is marked, and left out of the rows below it.

    Parameters
    ----------
    promises
        The levers, each with the seconds of a step that it is to save, or None: "tuned layers", "compiled step",
        "deferred loss read", "background loading", "images in memory", "bfloat16", also the order of the rows.
    steps
        The minibatches of 64 images in an epoch, 22 at most.

    Raises
    ------
    ValueError
        For no or an unknown lever, a promise that is no time, or more steps than the images fill.
    """
    models: dict[Any, Any] = {}
    show_running_total(lambda levers: _Loop(levers, steps, models), promises, steps)


def try_lever(lever: str, promised: float | None = None, steps: int = 6) -> None:
    """Time the chapter's training loop as it was written and with one lever, and show promised beside obtained saving.

    Both train a LeNet from the same first weights for three epochs, which take turns.

    Parameters
    ----------
    lever
        One of those of `running_total`.
    promised
        The seconds of a step that it is to save, or None.
    steps
        The minibatches of 64 images in an epoch, 22 at most.

    Raises
    ------
    ValueError
        For an unknown lever, a promise that is no time, or more steps than the images fill.
    """
    models: dict[Any, Any] = {}
    show_lever(lambda levers: _Loop(levers, steps, models), lever, promised, steps)


class _Loop:
    """The chapter's loop with some levers; see `d2l_utils.levers.Loop`.

    Loops with the same layers and step share one network, so that it is compiled once, and each brings its own weights.
    """

    def __init__(self, levers: tuple[str, ...], steps: int, models: dict[Any, Any]):
        from d2l_utils import tensorflow as d2l

        self.device, self.late = d2l.try_gpu(), "deferred loss read" in levers
        kind = tuple(lever in levers for lever in ("tuned layers", "compiled step", "bfloat16"))
        if kind not in models:
            with self.device:
                net = d2l.tuned_lenet() if kind[0] else d2l.build_lenet()
                net = d2l.in_bfloat16(net) if kind[2] else net
                optimizer = keras.optimizers.SGD(0.05, momentum=0.9)
                optimizer.build(net.trainable_variables)
            variables = [*net.trainable_variables, *optimizer.variables]
            step = tf.function(d2l.train_step) if kind[1] else d2l.train_step
            models[kind] = net, optimizer, step, variables, [variable.numpy() for variable in variables]
        self.net, self.optimizer, self.step, self.variables, self.first = models[kind]
        self.state = self.first
        images = DigitImages((28, 28, 1), 64 * steps)
        if "images in memory" in levers:
            self.minibatches = load_data_digits(64, resize=28)[0]
        else:
            self.minibatches = d2l.load_images(images, 64)
            if "background loading" in levers:
                self.minibatches = self.minibatches.prefetch(1)  # as the section on automatic parallelism does

    def restart(self) -> None:
        self.state = self.first

    def begin(self, seed: int) -> None:
        np.random.seed(seed)
        for variable, value in zip(self.variables, self.state, strict=True):
            variable.assign(value)

    def epoch(self, steps: int) -> None:
        total: Any = 0
        with self.device:
            for X, y in islice(self.minibatches, steps):
                loss = self.step(self.net, self.optimizer, X, y)
                total = total + (loss if self.late else float(loss))
        float(total)

    def end(self) -> None:
        self.state = [variable.numpy() for variable in self.variables]

    def accuracy(self) -> float:
        self.begin(0)
        test = islice(load_data_digits(64, resize=28)[1], 5)  # those of 64 images: no new shape to compile
        return evaluate_accuracy_gpu(self.net, test)

    def close(self) -> None:
        self.minibatches = None
