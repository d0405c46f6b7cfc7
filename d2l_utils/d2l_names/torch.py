"""D2L's other names, for PyTorch: what its training loops and networks share."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from d2l_utils.d2l_names import *  # noqa: F403 - its __all__ is the explicit list
from d2l_utils.d2l_names import fashion_mnist, mean_accuracy
from d2l_utils.torch.networks import iterators


def accuracy(y_hat: Any, y: Any) -> float:
    """Return how many predictions are right: logits of shape (n, classes) or classes (n,), for labels y (n,)."""
    classes = y_hat.argmax(dim=1) if y_hat.ndim > 1 else y_hat
    return float((classes == y).sum())


def sgd(params: Any, lr: float, batch_size: int, grads: Any = None) -> Any:
    """Take a step of minibatch stochastic gradient descent and return the parameters.

    Tensors change in place. Without `grads`, the gradients stored with the parameters count, and become zero.
    """
    params = list(params)
    with torch.no_grad():
        for param, grad in zip(params, grads or [param.grad for param in params], strict=True):
            param -= lr * grad / batch_size
            if grads is None:
                grad.zero_()
    return params


def split_batch(X: Any, y: Any, devices: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Split X and y over the devices, in parts that differ by at most one example."""
    if len(X) != len(y):
        raise ValueError(f"{len(X)} examples have {len(y)} labels")
    X_shards = [part.to(device) for part, device in zip(X.tensor_split(len(devices)), devices, strict=True)]
    y_shards = [part.to(device) for part, device in zip(y.tensor_split(len(devices)), devices, strict=True)]
    return X_shards, y_shards


def evaluate_accuracy_gpu(net: Any, data_iter: Iterable[Any], device: Any = None) -> float:
    """Return the accuracy of a network on a data set, between 0 and 1.

    A module is in evaluation mode meanwhile. A function needs `device`.
    """
    device = device or next(net.parameters()).device
    shards = (split_batch(X, y, [device]) for X, y in data_iter)
    with _evaluation([net]):
        return mean_accuracy([net], shards, accuracy)


def evaluate_accuracy_gpus(net: Any, data_iter: Iterable[Any], split_f: Callable[..., Any] = split_batch) -> float:
    """Return the accuracy of a network on a data set, each minibatch split over its replicas."""
    devices = [next(replica.parameters()).device for replica in net]
    shards = (split_f(X, y, devices) for X, y in data_iter)
    with _evaluation(net):
        return mean_accuracy(net, shards, accuracy)


def load_data_fashion_mnist(batch_size: int, resize: int | None = None) -> tuple[Any, Any]:
    """Return iterators over the training and the test minibatches of Fashion-MNIST.

    X has shape (n, 1, side, side), where side is 28 or `resize`, and y is int64.
    """
    return iterators(fashion_mnist(resize), batch_size)


@contextmanager
def _evaluation(nets: Iterable[Any]) -> Iterator[None]:
    """Put modules into evaluation mode, without gradients, and each submodule back into its mode at the end."""
    modules = [module for net in nets if isinstance(net, torch.nn.Module) for module in net.modules()]
    modes = [module.training for module in modules]
    try:
        for module in modules:
            module.training = False
        with torch.no_grad():
            yield
    finally:
        for module, mode in zip(modules, modes, strict=True):
            module.training = mode


class Residual(nn.Module):
    """The residual block of ResNet: two 3 × 3 convolutions, added to their input."""

    def __init__(self, num_channels: int, use_1x1conv: bool = False, strides: int = 1):
        super().__init__()
        conv = partial(nn.LazyConv2d, num_channels, bias=False)
        norm = partial(nn.LazyBatchNorm2d, momentum=0.3)  # small data sets have few steps an epoch
        self.body = nn.Sequential(
            conv(3, strides, padding=1),
            norm(),
            nn.ReLU(),
            conv(3, padding=1),
            norm(),
        )
        self.skip = conv(1, strides) if use_1x1conv else nn.Identity()

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        return F.relu(self.body(X) + self.skip(X))


def resnet18(num_classes: int, in_channels: int = 1, width: int = 64) -> Any:
    """Return a ResNet-18 for small images, with `width` channels in its first stage.

    It is a `torch.nn.Module` and takes X of shape (n, in_channels, h, w).
    """
    layers = [nn.LazyConv2d(width, 3, padding=1, bias=False), nn.LazyBatchNorm2d(momentum=0.3), nn.ReLU()]
    for stage in range(4):
        channels, halve = width * 2**stage, stage > 0
        layers += [Residual(channels, halve, 2 if halve else 1), Residual(channels)]
    net = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.LazyLinear(num_classes))
    net.eval()(torch.zeros(1, in_channels, 8, 8))  # lazy layers take their shapes from the first input
    return net.train()
