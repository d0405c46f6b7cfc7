"""What training loops share, for JAX; re-exported by `d2l_utils.jax`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

import jax
import numpy as np

from d2l_utils.data import Accumulator, DigitImages, Minibatches, digits, fashion_mnist
from d2l_utils.totals import show_running_total


def accuracy(y_hat: Any, y: Any) -> float:
    """Return the number of correct predictions.

    Parameters
    ----------
    y_hat
        Logits of shape (n, classes), or classes of shape (n,).
    y
        Labels of shape (n,).
    """
    classes = y_hat.argmax(axis=1) if y_hat.ndim > 1 else y_hat
    return float((classes == y).sum())


def sgd(params: Any, lr: float, batch_size: int, grads: Any = None) -> Any:
    """Take a step of minibatch stochastic gradient descent and return the parameters.

    Parameters
    ----------
    params
        Any tree of arrays, which stay as they are.
    lr
        Learning rate.
    batch_size
        Number of examples whose losses were summed.
    grads
        Gradients of that sum, a tree of the same form.

    Returns
    -------
    tree
        New arrays, in a tree of the same form.

    Raises
    ------
    ValueError
        Without `grads`: JAX stores none with the parameters.
    """
    if grads is None:
        raise ValueError("JAX stores no gradients with the parameters: give grads=jax.grad(loss)(params, …)")
    return jax.tree.map(lambda param, grad: param - lr * grad / batch_size, params, grads)


def split_batch(X: Any, y: Any, devices: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Split X and y over the devices, in parts that differ by at most one example.

    Returns
    -------
    tuple
        The parts of X and those of y, each on its device.

    Raises
    ------
    ValueError
        If X and y differ in length.
    """
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


def running_total(levers: Mapping[str, float | None], steps: int = 11) -> None:
    """Time the chapter's training loop as it was written and with each lever in turn; show a table and a waterfall.

    A lever that gains less than 2 % here is marked, and left out of the rows below it. All rows train a LeNet
    from the same first weights for three epochs, which take turns.

    Parameters
    ----------
    levers
        The levers, and the seconds that each promises to save in a step, or None: "tuned layers", "compiled step",
        "loss read late", "loading beside", "images in memory", which is also the order in which they are added.
    steps
        The minibatches of 64 images in an epoch, 22 at most.

    Raises
    ------
    ValueError
        For an unknown lever, a promise that is not above 0, or a number of steps that the images do not fill.
    """
    show_running_total(lambda kept: _Loop(kept, steps), levers, steps)


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


class _Loop:
    """The chapter's loop with some levers; see `d2l_utils.totals.Loop`."""

    def __init__(self, levers: tuple[str, ...], steps: int):
        import optax
        from flax import nnx

        from d2l_utils import jax as d2l

        self.levers, self.load = levers, d2l.load_images
        self.net = d2l.tuned_lenet() if "tuned layers" in levers else d2l.build_lenet()
        self.optimizer = nnx.Optimizer(self.net, optax.sgd(0.05, momentum=0.9), wrt=nnx.Param)
        self.first = jax.tree.map(np.array, nnx.state((self.net, self.optimizer)))
        self.step = d2l.train_step
        if "compiled step" in levers:
            self.step = nnx.jit(d2l.train_step, donate_argnums=(0, 1))
        self.images = DigitImages((28, 28, 1), 64 * steps)
        self.in_memory = load_data_digits(64, resize=28)[0]

    def restart(self) -> None:
        from flax import nnx

        np.random.seed(0)
        nnx.update((self.net, self.optimizer), jax.tree.map(jax.numpy.array, self.first))

    def _minibatches(self) -> Any:
        if "images in memory" in self.levers:
            return iter(self.in_memory)
        minibatches = self.load(self.images, 64)
        return _prefetch(minibatches) if "loading beside" in self.levers else minibatches

    def epoch(self, steps: int) -> None:
        total, late = 0, "loss read late" in self.levers
        for X, y in islice(self._minibatches(), steps):
            loss = self.step(self.net, self.optimizer, X, y)
            total = total + (loss if late else float(loss))
        float(total)

    def accuracy(self) -> float:
        return evaluate_accuracy_gpu(self.net, load_data_digits(64, resize=28)[1])

    def close(self) -> None:
        """Do nothing: the thread that loads ends with its epoch."""


def _prefetch(minibatches: Iterator[Any]) -> Iterator[Any]:
    """Yield minibatches while a thread loads the next one, as the section on automatic parallelism does."""
    with ThreadPoolExecutor(1) as loader:
        ahead = loader.submit(next, minibatches, None)
        while minibatch := ahead.result():
            ahead = loader.submit(next, minibatches, None)
            yield minibatch
