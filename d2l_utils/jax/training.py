"""What training loops share, for JAX; readers get it from `d2l_utils.jax`."""

import jax
import numpy as np

from d2l_utils.data import Accumulator, Minibatches, digits, fashion_mnist


def accuracy(y_hat, y):
    """Return the number of correct predictions.

    `y_hat` holds logits of shape (n, classes) or classes of shape (n,), `y` the labels of shape (n,).
    """
    classes = y_hat.argmax(axis=1) if y_hat.ndim > 1 else y_hat
    return float((classes == y).sum())


def sgd(params, lr, batch_size, grads=None):
    """Take a step of minibatch stochastic gradient descent and return the parameters.

    `params` is any tree of arrays and `grads` one of the same form, of the sum of the losses of `batch_size` examples;
    ValueError without it, since JAX stores no gradients. The arrays returned are new.
    """
    if grads is None:
        raise ValueError("JAX stores no gradients with the parameters: give grads=jax.grad(loss)(params, …)")
    return jax.tree.map(lambda param, grad: param - lr * grad / batch_size, params, grads)


def split_batch(X, y, devices):
    """Split X and y over the devices, in parts that differ by one example at most.

    Return two lists, the parts of X and those of y, each on its device; ValueError if X and y differ in length.
    """
    if len(X) != len(y):
        raise ValueError(f"{len(X)} examples have {len(y)} labels")
    X_shards = jax.device_put(np.array_split(X, len(devices)), list(devices))
    y_shards = jax.device_put(np.array_split(y, len(devices)), list(devices))
    return X_shards, y_shards


def evaluate_accuracy_gpu(net, data_iter, device=None):
    """Return the accuracy of a network on a data set.

    `device` is where its parameters lie if None. A flax.nnx module is in evaluation mode meanwhile and compiled.
    """
    net, place = _evaluation(net), device or _sharding(net)
    counts = Accumulator(2)  # correct predictions, predictions
    for X, y in data_iter:
        X, y = jax.device_put((X, y), place)
        counts.add(accuracy(net(X), y), len(y))
    return counts[0] / counts[1]


def evaluate_accuracy_gpus(net, data_iter, split_f=split_batch):
    """Return the accuracy of a network on a data set, each minibatch split over its replicas.

    `net` is a list of replicas, one on each device. All compute before the first result is waited for.
    """
    devices = [min(_sharding(replica).device_set, key=lambda device: device.id) for replica in net]
    net = [_evaluation(replica) for replica in net]
    counts = Accumulator(2)  # correct predictions, predictions
    for X, y in data_iter:
        X_shards, y_shards = split_f(X, y, devices)
        logits = [replica(part) for replica, part in zip(net, X_shards, strict=True)]
        counts.add(sum(map(accuracy, logits, y_shards)), len(y))
    return counts[0] / counts[1]


def load_data_digits(batch_size, resize=None):
    """Return iterators over the training and the test minibatches of scikit-learn's handwritten digits.

    1437 and 360 images, no download. X is a NumPy array of float32 in [0, 1] of shape (n, side, side, 1) with side 8
    or `resize`, y one of int32 of shape (n,). Each epoch of training has a new order, the same in every call.
    """
    return _iterators(digits(resize), batch_size)


def load_data_fashion_mnist(batch_size, resize=None):
    """Return iterators over the training and the test minibatches of Fashion-MNIST.

    60,000 and 10,000 images, downloaded once; RuntimeError if that fails. X is a NumPy array of float32 in [0, 1] of
    shape (n, side, side, 1) with side 28 or `resize`, y one of int32 of shape (n,). Each epoch of training has a new
    order, the same in every call.
    """
    return _iterators(fashion_mnist(resize), batch_size)


def _iterators(arrays, batch_size):
    X_train, y_train, X_test, y_test = arrays
    train = Minibatches(X_train[..., None], y_train.astype("int32"), batch_size, shuffle=True)
    return train, Minibatches(X_test[..., None], y_test.astype("int32"), batch_size, shuffle=False)


def _sharding(net):
    """Return where the first array of a network lies; None where it is a function, which shows none."""
    arrays = [leaf for leaf in jax.tree.leaves(net) if isinstance(leaf, jax.Array)]
    return arrays[0].sharding if arrays else None


def _evaluation(net):
    """Return a function of X: a copy of an nnx module in evaluation mode, compiled; another network as it is."""
    if not hasattr(net, "eval"):
        return net
    copy = jax.tree.map(lambda array: array, net)
    copy.eval()
    return lambda X: _logits(copy, X)


@jax.jit
def _logits(net, X):
    return net(X)
