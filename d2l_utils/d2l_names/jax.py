"""D2L's other names, for JAX: what its training loops and networks share."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import jax
import numpy as np
from flax import nnx

from d2l_utils.d2l_names import *  # noqa: F403 - its __all__ is the explicit list
from d2l_utils.d2l_names import Accumulator, fashion_mnist
from d2l_utils.jax.networks import iterators


def accuracy(y_hat: Any, y: Any) -> float:
    """Return the number of correct predictions, of logits of shape (n, classes) or classes (n,), for labels y (n,)."""
    classes = y_hat.argmax(axis=1) if y_hat.ndim > 1 else y_hat
    return float((classes == y).sum())


def sgd(params: Any, lr: float, batch_size: int, grads: Any = None) -> Any:
    """Take a step of minibatch stochastic gradient descent and return the parameters.

    `grads` are the gradients of the sum of `batch_size` losses. Both are trees of arrays; the result is
    a new one. ValueError without `grads`: JAX stores none with the parameters.
    """
    if grads is None:
        raise ValueError("JAX stores no gradients with the parameters: give grads=jax.grad(loss)(params, …)")
    return jax.tree.map(lambda param, grad: param - lr * grad / batch_size, params, grads)


def split_batch(X: Any, y: Any, devices: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Split X and y over the devices, in parts that differ by at most one example; ValueError for different lengths."""
    if len(X) != len(y):
        raise ValueError(f"{len(X)} examples have {len(y)} labels")
    X_shards = jax.device_put(np.array_split(X, len(devices)), list(devices))
    y_shards = jax.device_put(np.array_split(y, len(devices)), list(devices))
    return X_shards, y_shards


def evaluate_accuracy_gpu(net: Any, data_iter: Iterable[Any], device: Any = None) -> float:
    """Return the accuracy of a network on a data set, between 0 and 1.

    Parameters
    ----------
    net
        A flax.nnx module, of which a copy is compiled in evaluation mode, or a function of X.
    data_iter
        Minibatches (X, y).
    device
        Where the parameters lie; looked up if None.
    """
    net, place = _evaluation(net), device or _sharding(net)
    counts = Accumulator(2)  # correct predictions, predictions
    for X, y in data_iter:
        X, y = jax.device_put((X, y), place)
        counts.add(accuracy(net(X), y), len(y))
    return counts[0] / counts[1]


def evaluate_accuracy_gpus(net: Any, data_iter: Iterable[Any], split_f: Callable[..., Any] = split_batch) -> float:
    """Return the accuracy of a network on a data set, each minibatch split over its replicas.

    Parameters
    ----------
    net
        A list of replicas, one on each device. All compute before the first result is waited for.
    data_iter
        Minibatches (X, y).
    split_f
        A function like `split_batch`.
    """
    devices = [min(_sharding(replica).device_set, key=lambda device: device.id) for replica in net]
    net = [_evaluation(replica) for replica in net]
    counts = Accumulator(2)  # correct predictions, predictions
    for X, y in data_iter:
        X_shards, y_shards = split_f(X, y, devices)
        logits = [replica(part) for replica, part in zip(net, X_shards, strict=True)]
        counts.add(sum(map(accuracy, logits, y_shards)), len(y))
    return counts[0] / counts[1]


def load_data_fashion_mnist(batch_size: int, resize: int | None = None) -> tuple[Any, Any]:
    """Return iterators over the training and the test minibatches of Fashion-MNIST.

    There are 60,000 and 10,000 images, downloaded once. X is a NumPy array of float32 in [0, 1] of shape
    (n, side, side, 1), where side is 28 or `resize`, and y one of int32 of shape (n,). Each epoch of training has a new
    order, the same in every call.

    Raises
    ------
    RuntimeError
        If the images cannot be downloaded.
    """
    return iterators(fashion_mnist(resize), batch_size)


def _sharding(net: Any) -> Any:
    """Return where the first array of a network lies; None for a function."""
    arrays = [leaf for leaf in jax.tree.leaves(net) if isinstance(leaf, jax.Array)]
    return arrays[0].sharding if arrays else None


def _evaluation(net: Any) -> Callable[[Any], Any]:
    """Return a function of X: a copy of an nnx module in evaluation mode, compiled; another network as it is."""
    if not hasattr(net, "eval"):
        return net
    copy = jax.tree.map(lambda array: array, net)
    copy.eval()
    return lambda X: _logits(copy, X)


@jax.jit
def _logits(net: Any, X: Any) -> Any:
    return net(X)


class Residual(nnx.Module):
    """The residual block of ResNet: two 3 × 3 convolutions, added to their input.

    Parameters
    ----------
    num_channels
        Channels of the output.
    use_1x1conv
        Whether a 1 × 1 convolution brings the input to the shape of the output.
    strides
        Strides of the first convolution, which divide height and width.
    in_channels
        Channels of the input, which flax.nnx cannot infer; `num_channels` if None.
    rngs
        Random numbers for the first weights.
    """

    def __init__(
        self,
        num_channels: int,
        use_1x1conv: bool = False,
        strides: int = 1,
        *,
        in_channels: int | None = None,
        rngs: Any = None,
    ):
        in_channels, rngs = in_channels or num_channels, rngs or nnx.Rngs(0)
        conv = partial(nnx.Conv, out_features=num_channels, rngs=rngs)
        norm = partial(nnx.BatchNorm, num_channels, momentum=0.9, rngs=rngs)
        self.body = nnx.Sequential(
            conv(in_channels, kernel_size=(3, 3), strides=strides),
            norm(),
            nnx.relu,
            conv(num_channels, kernel_size=(3, 3)),
            norm(),
        )
        skip = partial(conv, in_channels, kernel_size=(1, 1), strides=strides)
        self.skip = skip() if use_1x1conv else nnx.identity

    def __call__(self, X: Any) -> Any:
        return nnx.relu(self.body(X) + self.skip(X))


def resnet18(num_classes: int, in_channels: int = 1, width: int = 64) -> Any:
    """Return a ResNet-18 for small images, with `width` channels in its first stage.

    Returns
    -------
    flax.nnx.Module
        Takes X of shape (n, h, w, in_channels) and returns logits of shape (n, num_classes).
    """
    rngs = nnx.Rngs(0)
    first = nnx.Conv(in_channels, width, (3, 3), rngs=rngs)
    layers = [first, nnx.BatchNorm(width, momentum=0.9, rngs=rngs), nnx.relu]
    before = width
    for stage in range(4):
        channels, halve = width * 2**stage, stage > 0
        block = partial(Residual, channels, rngs=rngs)
        layers += [block(halve, 2 if halve else 1, in_channels=before), block()]
        before = channels
    layers += [lambda X: X.mean((1, 2)), nnx.Linear(before, num_classes, rngs=rngs)]
    return nnx.Sequential(*layers)
