"""D2L's other names, for MXNet: what its training loops and networks share."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mxnet import autograd, np
from mxnet.gluon import nn

from d2l_utils.d2l_names import *  # noqa: F403 - its __all__ is the explicit list
from d2l_utils.d2l_names import Accumulator, fashion_mnist
from d2l_utils.mxnet.networks import iterators


def accuracy(y_hat: Any, y: Any) -> float:
    """Return the number of correct predictions, of logits of shape (n, classes) or classes (n,), for labels y (n,)."""
    classes = y_hat.argmax(axis=1) if y_hat.ndim > 1 else y_hat
    return float((classes.astype(y.dtype) == y).sum())


def sgd(params: Any, lr: float, batch_size: int, grads: Any = None) -> Any:
    """Take a step of minibatch stochastic gradient descent and return the parameters.

    `grads` are the gradients of the sum of `batch_size` losses. Arrays change in place. Without
    `grads`, the gradients stored with the parameters count.
    """
    params = list(params)
    for param, grad in zip(params, grads or [param.grad for param in params], strict=True):
        param -= lr * grad / batch_size
    return params


def split_batch(X: Any, y: Any, devices: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Split X and y over the devices, in parts that differ by at most one example; ValueError for different lengths."""
    if len(X) != len(y):
        raise ValueError(f"{len(X)} examples have {len(y)} labels")
    X_parts, y_parts = np.array_split(X, len(devices)), np.array_split(y, len(devices))
    X_shards = [part.as_in_ctx(device) for part, device in zip(X_parts, devices, strict=True)]
    y_shards = [part.as_in_ctx(device) for part, device in zip(y_parts, devices, strict=True)]
    return X_shards, y_shards


def evaluate_accuracy_gpu(net: Any, data_iter: Iterable[Any], device: Any = None) -> float:
    """Return the accuracy of a network on a data set, between 0 and 1.

    Parameters
    ----------
    net
        A block, whose dropout is off meanwhile, or a function of X, which needs `device`.
    data_iter
        Minibatches (X, y).
    device
        Where the parameters lie; looked up if None.
    """
    device = device or _devices(net)[0]
    counts = Accumulator(2)  # correct predictions, predictions
    with autograd.pause(train_mode=False):
        for X, y in data_iter:
            counts.add(accuracy(net(X.as_in_ctx(device)), y.as_in_ctx(device)), len(y))
    return counts[0] / counts[1]


def evaluate_accuracy_gpus(net: Any, data_iter: Iterable[Any], split_f: Callable[..., Any] = split_batch) -> float:
    """Return the accuracy of a network on a data set, each minibatch split over its replicas.

    Parameters
    ----------
    net
        A list of replicas, one on each device, or one network initialised on several devices. All compute before the
        first result is waited for.
    data_iter
        Minibatches (X, y).
    split_f
        A function like `split_batch`.
    """
    if isinstance(net, (list, tuple)):
        replicas, devices = net, [_devices(replica)[0] for replica in net]
    else:
        replicas, devices = [net] * len(_devices(net)), _devices(net)
    counts = Accumulator(2)  # correct predictions, predictions
    with autograd.pause(train_mode=False):
        for X, y in data_iter:
            X_shards, y_shards = split_f(X, y, devices)
            shards = zip(replicas, X_shards, y_shards, strict=True)
            logits = [
                (replica(part), labels) for replica, part, labels in shards if len(labels)
            ]  # MXNet takes no empty X
            counts.add(sum(accuracy(y_hat, labels) for y_hat, labels in logits), len(y))
    return counts[0] / counts[1]


def load_data_fashion_mnist(batch_size: int, resize: int | None = None) -> tuple[Any, Any]:
    """Return iterators over the training and the test minibatches of Fashion-MNIST.

    There are 60,000 and 10,000 images, downloaded once. X is float32 in [0, 1] of shape (n, 1, side, side), where side
    is 28 or `resize`, and y is int32 of shape (n,). Each epoch of training has a new order, the same in every call.

    Raises
    ------
    RuntimeError
        If the images cannot be downloaded.
    """
    return iterators(fashion_mnist(resize), batch_size)


def _devices(net: Any) -> list[Any]:
    """Return the devices that a network is initialised on."""
    return next(iter(net.collect_params().values())).list_ctx()


class Residual(nn.HybridBlock):
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

    Returns
    -------
    mxnet.gluon.HybridBlock
        Not yet initialised; takes X of shape (n, in_channels, h, w) and returns logits of shape (n, num_classes).
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
