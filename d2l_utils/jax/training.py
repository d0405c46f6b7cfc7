"""What training loops share, for JAX; re-exported by `d2l_utils.jax`."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import numpy as np

from d2l_lab.instruments.data import Accumulator, Minibatches, digits, fashion_mnist


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


def load_data_digits(batch_size: int, resize: int | None = None) -> tuple[Any, Any]:
    """Return iterators over the training and the test minibatches of scikit-learn's handwritten digits.

    There are 1437 and 360 images, and nothing is downloaded. X is a NumPy array of float32 in [0, 1] of shape
    (n, side, side, 1), where side is 8 or `resize`, and y one of int32 of shape (n,). Each epoch of training has a new
    order, the same in every call.
    """
    return _iterators(digits(resize), batch_size)


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
    return _iterators(fashion_mnist(resize), batch_size)


def _iterators(arrays: Sequence[Any], batch_size: int) -> tuple[Any, Any]:
    X_train, y_train, X_test, y_test = arrays
    train = Minibatches(X_train[..., None], y_train.astype("int32"), batch_size, shuffle=True)
    return train, Minibatches(X_test[..., None], y_test.astype("int32"), batch_size, shuffle=False)


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
