"""D2L's other names, for JAX: what its training loops and networks share."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import jax
import numpy as np
from flax import nnx

from d2l_utils.d2l_names import *  # noqa: F403 - its __all__ is the explicit list
from d2l_utils.d2l_names import fashion_mnist, mean_accuracy
from d2l_utils.jax.networks import iterators


def accuracy(y_hat: Any, y: Any) -> float:
    """Return how many predictions are right: logits of shape (n, classes) or classes (n,), for labels y (n,)."""
    classes = y_hat.argmax(axis=1) if y_hat.ndim > 1 else y_hat
    return float((classes == y).sum())


def sgd(params: Any, lr: float, batch_size: int, grads: Any = None) -> Any:
    """Take a step of minibatch stochastic gradient descent and return the parameters.

    `params` and `grads` are trees of arrays; the result is a new one. JAX stores no gradients with the parameters.
    """
    if grads is None:
        raise ValueError("JAX stores no gradients with the parameters: give grads=jax.grad(loss)(params, …)")
    return jax.tree.map(lambda param, grad: param - lr * grad / batch_size, params, grads)


def split_batch(X: Any, y: Any, devices: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Split X and y over the devices, in parts that differ by at most one example."""
    if len(X) != len(y):
        raise ValueError(f"{len(X)} examples have {len(y)} labels")
    X_shards = jax.device_put(np.array_split(X, len(devices)), list(devices))
    y_shards = jax.device_put(np.array_split(y, len(devices)), list(devices))
    return X_shards, y_shards


def evaluate_accuracy_gpu(net: Any, data_iter: Iterable[Any], device: Any = None) -> float:
    """Return the accuracy of a network on a data set, between 0 and 1.

    Of a `flax.nnx.Module`, a copy in evaluation mode is compiled.
    """
    place = device or _sharding(net)
    shards = (jax.device_put(([X], [y]), place) for X, y in data_iter)
    return mean_accuracy([_evaluation(net)], shards, accuracy)


def evaluate_accuracy_gpus(net: Any, data_iter: Iterable[Any], split_f: Callable[..., Any] = split_batch) -> float:
    """Return the accuracy of a network on a data set, each minibatch split over its replicas."""
    devices = [min(_sharding(replica).device_set, key=lambda device: device.id) for replica in net]
    shards = (split_f(X, y, devices) for X, y in data_iter)
    return mean_accuracy(map(_evaluation, net), shards, accuracy)


def load_data_fashion_mnist(batch_size: int, resize: int | None = None) -> tuple[Any, Any]:
    """Return iterators over the training and the test minibatches of Fashion-MNIST.

    X and y are arrays of NumPy: X has shape (n, side, side, 1), where side is 28 or `resize`, and y is int32.
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

    It is a `flax.nnx.Module` and takes X of shape (n, h, w, in_channels).
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
