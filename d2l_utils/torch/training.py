"""What training loops share, for PyTorch; readers get it from `d2l_utils.torch`."""

from contextlib import contextmanager

import torch
from torch.utils.data import DataLoader, TensorDataset

from d2l_utils.data import Accumulator, digits, fashion_mnist


def accuracy(y_hat, y):
    """Return the number of correct predictions.

    `y_hat` holds logits of shape (n, classes) or classes of shape (n,), `y` the labels of shape (n,).
    """
    classes = y_hat.argmax(dim=1) if y_hat.ndim > 1 else y_hat
    return float((classes == y).sum())


def sgd(params, lr, batch_size, grads=None):
    """Take a step of minibatch stochastic gradient descent and return the parameters.

    The parameters change in place. Without `grads` the gradients are those stored with them, which become zero.
    `grads` are of the sum of the losses of `batch_size` examples.
    """
    params = list(params)
    with torch.no_grad():
        for param, grad in zip(params, grads or [param.grad for param in params], strict=True):
            param -= lr * grad / batch_size
            if grads is None:
                grad.zero_()
    return params


def split_batch(X, y, devices):
    """Split X and y over the devices, in parts that differ by one example at most.

    Return two lists, the parts of X and those of y, each on its device; ValueError if X and y differ in length.
    """
    if len(X) != len(y):
        raise ValueError(f"{len(X)} examples have {len(y)} labels")
    X_shards = [part.to(device) for part, device in zip(X.tensor_split(len(devices)), devices, strict=True)]
    y_shards = [part.to(device) for part, device in zip(y.tensor_split(len(devices)), devices, strict=True)]
    return X_shards, y_shards


def evaluate_accuracy_gpu(net, data_iter, device=None):
    """Return the accuracy of a network on a data set.

    `device` is where its parameters lie if None. A module is in evaluation mode meanwhile; a function needs `device`.
    """
    device = device or next(net.parameters()).device
    counts = Accumulator(2)  # correct predictions, predictions
    with _evaluation([net]):
        for X, y in data_iter:
            counts.add(accuracy(net(X.to(device)), y.to(device)), len(y))
    return counts[0] / counts[1]


def evaluate_accuracy_gpus(net, data_iter, split_f=split_batch):
    """Return the accuracy of a network on a data set, each minibatch split over its replicas.

    `net` is a list of replicas, one on each device. All compute before the first result is waited for.
    """
    devices = [next(replica.parameters()).device for replica in net]
    counts = Accumulator(2)  # correct predictions, predictions
    with _evaluation(net):
        for X, y in data_iter:
            X_shards, y_shards = split_f(X, y, devices)
            logits = [replica(part) for replica, part in zip(net, X_shards, strict=True)]
            counts.add(sum(map(accuracy, logits, y_shards)), len(y))
    return counts[0] / counts[1]


def load_data_digits(batch_size, resize=None):
    """Return iterators over the training and the test minibatches of scikit-learn's handwritten digits.

    1437 and 360 images, no download. X is float32 in [0, 1] of shape (n, 1, side, side) with side 8 or `resize`, y
    int64 of shape (n,). Each epoch of training has a new order, the same in every call.
    """
    return _iterators(digits(resize), batch_size)


def load_data_fashion_mnist(batch_size, resize=None):
    """Return iterators over the training and the test minibatches of Fashion-MNIST.

    60,000 and 10,000 images, downloaded once; RuntimeError if that fails. X is float32 in [0, 1] of shape
    (n, 1, side, side) with side 28 or `resize`, y int64 of shape (n,). Each epoch of training has a new order, the
    same in every call.
    """
    return _iterators(fashion_mnist(resize), batch_size)


def _iterators(arrays, batch_size):
    X_train, y_train, X_test, y_test = map(torch.from_numpy, arrays)
    order = torch.Generator().manual_seed(0)
    train = DataLoader(TensorDataset(X_train.unsqueeze(1), y_train), batch_size, shuffle=True, generator=order)
    return train, DataLoader(TensorDataset(X_test.unsqueeze(1), y_test), batch_size)


@contextmanager
def _evaluation(nets):
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
