"""D2L's other names, for MXNet: what its training loops and networks share."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mxnet import autograd, np
from mxnet.gluon import nn

from d2l_utils.d2l_names import *  # noqa: F403 - its __all__ is the explicit list
from d2l_utils.d2l_names import fashion_mnist, mean_accuracy
from d2l_utils.mxnet.networks import iterators


def accuracy(y_hat: Any, y: Any) -> float:
    """Return how many predictions are right: logits of shape (n, classes) or classes (n,), for labels y (n,)."""
    classes = y_hat.argmax(axis=1) if y_hat.ndim > 1 else y_hat
    return float((classes.astype(y.dtype) == y).sum())


def sgd(params: Any, lr: float, batch_size: int, grads: Any = None) -> Any:
    """Take a step of minibatch stochastic gradient descent and return the parameters.

    Arrays change in place. Without `grads`, the gradients stored with the parameters count.
    """
    params = list(params)
    for param, grad in zip(params, grads or [param.grad for param in params], strict=True):
        param -= lr * grad / batch_size
    return params


def split_batch(X: Any, y: Any, devices: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Split X and y over the devices, in parts that differ by at most one example."""
    if len(X) != len(y):
        raise ValueError(f"{len(X)} examples have {len(y)} labels")
    X_parts, y_parts = np.array_split(X, len(devices)), np.array_split(y, len(devices))
    X_shards = [part.as_in_ctx(device) for part, device in zip(X_parts, devices, strict=True)]
    y_shards = [part.as_in_ctx(device) for part, device in zip(y_parts, devices, strict=True)]
    return X_shards, y_shards


def evaluate_accuracy_gpu(net: Any, data_iter: Iterable[Any], device: Any = None) -> float:
    """Return the accuracy of a network on a data set, between 0 and 1.

    The dropout of a block is off meanwhile. A function needs `device`.
    """
    device = device or _devices(net)[0]
    shards = (split_batch(X, y, [device]) for X, y in data_iter)
    with autograd.pause(train_mode=False):
        return mean_accuracy([net], shards, accuracy)


def evaluate_accuracy_gpus(net: Any, data_iter: Iterable[Any], split_f: Callable[..., Any] = split_batch) -> float:
    """Return the accuracy of a network on a data set, each minibatch split over its replicas.

    `net` may also be one network that is initialised on several devices.
    """
    if isinstance(net, (list, tuple)):
        replicas, devices = net, [_devices(replica)[0] for replica in net]
    else:
        devices = _devices(net)
        replicas = [net] * len(devices)
    shards = (split_f(X, y, devices) for X, y in data_iter)
    with autograd.pause(train_mode=False):
        return mean_accuracy(replicas, shards, accuracy)


def load_data_fashion_mnist(batch_size: int, resize: int | None = None) -> tuple[Any, Any]:
    """Return iterators over the training and the test minibatches of Fashion-MNIST.

    X has shape (n, 1, side, side), where side is 28 or `resize`, and y is int32.
    """
    return iterators(fashion_mnist(resize), batch_size)


def _devices(net: Any) -> list[Any]:
    """Return the devices that a network is initialised on."""
    return next(iter(net.collect_params().values())).list_ctx()


class Residual(nn.HybridBlock):
    """The residual block of ResNet: two 3 × 3 convolutions, added to their input."""

    def __init__(self, num_channels: int, use_1x1conv: bool = False, strides: int = 1):
        super().__init__()
        self.body, self.skip = nn.HybridSequential(), None
        self.body.add(
            nn.Conv2D(num_channels, 3, strides, 1, use_bias=False),
            nn.BatchNorm(),
            nn.Activation("relu"),
            nn.Conv2D(num_channels, 3, 1, 1, use_bias=False),
            nn.BatchNorm(),
        )
        if use_1x1conv:
            self.skip = nn.Conv2D(num_channels, 1, strides)

    def hybrid_forward(self, F: Any, X: Any) -> Any:
        skipped = self.skip(X) if self.skip else X
        return F.npx.relu(self.body(X) + skipped)


def resnet18(num_classes: int, in_channels: int = 1, width: int = 64) -> Any:
    """Return a ResNet-18 for small images, with `width` channels in its first stage.

    It is a `gluon.HybridBlock`, not yet initialised, and takes X of shape (n, in_channels, h, w).
    """
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(width, 3, 1, 1, in_channels=in_channels, use_bias=False),
        nn.BatchNorm(),
        nn.Activation("relu"),
    )
    for stage in range(4):
        channels, halve = width * 2**stage, stage > 0
        net.add(Residual(channels, halve, 2 if halve else 1), Residual(channels))
    net.add(nn.GlobalAvgPool2D(), nn.Dense(num_classes))
    return net
