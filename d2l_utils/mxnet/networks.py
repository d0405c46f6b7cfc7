"""Data, networks and the training step of the chapter's loop, for MXNet, imported on demand."""

from collections.abc import Sequence
from typing import Any

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn

from d2l_lab.instruments import loops
from d2l_lab.instruments.data import Minibatches, digits

cross_entropy = gluon.loss.SoftmaxCrossEntropyLoss()


def build_lenet() -> Any:
    """Return LeNet, the network of the chapter's training loop, with the same first weights in every call.

    It is an initialised `gluon.HybridBlock` and takes X of shape (n, 1, 28, 28).
    """
    mx.npx.random.seed(0)
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(20, 3, activation="relu"),
        nn.AvgPool2D(),
        nn.Conv2D(50, 5, activation="relu"),
        nn.AvgPool2D(),
        nn.Dense(128, activation="relu"),
        nn.Dense(10),
    )
    net.initialize(mx.init.Xavier())
    return net


def tuned_lenet() -> Any:
    """Return a LeNet whose layers suit the framework: the same first weights, the same logits but for rounding.

    Its pooling is a convolution of each channel, whose weights do not change.
    """
    conv1, _, conv2, _, *dense = build_lenet()
    net = nn.HybridSequential()
    net.add(conv1, mean_pool(20), conv2, mean_pool(50), *dense)
    return net


def mean_pool(channels: int) -> Any:
    """Return a convolution that takes the mean over 2 × 2 pixels of each channel; its weights do not change."""
    pool = nn.Conv2D(channels, 2, 2, groups=channels, use_bias=False)
    pool.initialize(mx.init.Constant(0.25))
    pool.collect_params().setattr("grad_req", "null")
    return pool


def in_bfloat16(net: Any) -> Any:
    """Return a network that computes as `net` does, but in bfloat16: its own weights and its logits stay float32.

    Layers of MXNet 1.9 cannot be cast to bfloat16 under its NumPy interface.
    """
    raise NotImplementedError("layers of MXNet 1.9 cannot be cast to bfloat16 under its NumPy interface; keep float32")


def train_step(net: Any, optimizer: Any, X: Any, y: Any) -> Any:
    """Update a network by one minibatch and return its mean loss, which has not been read yet.

    `net` is a Gluon block, and `optimizer` a `gluon.Trainer`.
    """
    with autograd.record():
        losses = cross_entropy(net(X), y)
    losses.backward()
    optimizer.step(len(y))
    return losses.mean()


def load_images(images: Any, batch_size: int) -> Any:
    """Return an iterator over whole minibatches of `DigitImages`, in a new order each time."""
    return gluon.data.DataLoader(images, batch_size, shuffle=True, last_batch="discard")


def load_data_digits(batch_size: int, resize: int | None = None) -> tuple[Any, Any]:
    """Return iterators over the training and the test minibatches of scikit-learn's handwritten digits.

    X has shape (n, 1, side, side), where side is 8 or `resize`, and y is int32.
    """
    return iterators(digits(resize), batch_size)


def iterators(arrays: Sequence[Any], batch_size: int) -> tuple[Any, Any]:
    """Return iterators over minibatches of X_train, y_train, X_test and y_test, as `load_data_digits` does."""
    X_train, y_train, X_test, y_test = arrays
    train = Minibatches(X_train[:, None], y_train.astype("int32"), batch_size, shuffle=True, convert=_array)
    return train, Minibatches(X_test[:, None], y_test.astype("int32"), batch_size, shuffle=False, convert=_array)


def _array(values: Any) -> Any:
    return mx.np.array(values, dtype=values.dtype)


class Loop(loops.Loop):
    """The chapter's loop with some levers, for MXNet: each has a network of its own."""

    SHAPE = (1, 28, 28)
    SHARING = set(loops.Lever)

    def make(self, tuned: bool, compiled: bool, bfloat16: bool) -> tuple[Any, Any, Any, Any]:
        net = self.network(tuned, bfloat16)
        net.collect_params().reset_ctx(self.device)
        net(mx.np.zeros((1, 1, 28, 28), ctx=self.device))  # parameters get their shapes
        first = [param.data().asnumpy() for param in net.collect_params().values()]
        if compiled:
            net.hybridize(static_alloc=True, static_shape=True)
        return net, None, train_step, first

    def restart(self) -> None:
        params = self.net.collect_params()
        for param, first in zip(params.values(), self.first, strict=True):
            param.set_data(mx.np.array(first, ctx=self.device))
        self.optimizer = gluon.Trainer(params, "sgd", {"learning_rate": 0.05, "momentum": 0.9})
        super().restart()

    def background(self, images: Any) -> Any:
        settings = {"shuffle": True, "last_batch": "discard", "num_workers": 1, "thread_pool": True}
        return gluon.data.DataLoader(images, loops.BATCH, **settings)

    def place(self, X: Any, y: Any) -> tuple[Any, Any]:
        return X.as_in_ctx(self.device), y.as_in_ctx(self.device)
