"""What training loops share, for MXNet; readers get it from `d2l_utils.mxnet`."""

from mxnet import autograd, np

from d2l_utils.data import Accumulator, Minibatches, digits, fashion_mnist


def accuracy(y_hat, y):
    """Return the number of correct predictions.

    `y_hat` holds logits of shape (n, classes) or classes of shape (n,), `y` the labels of shape (n,).
    """
    classes = y_hat.argmax(axis=1) if y_hat.ndim > 1 else y_hat
    return float((classes.astype(y.dtype) == y).sum())


def sgd(params, lr, batch_size, grads=None):
    """Take a step of minibatch stochastic gradient descent and return the parameters.

    The arrays change in place. Without `grads` the gradients are those stored with them, which the next backward
    overwrites. `grads` are of the sum of the losses of `batch_size` examples.
    """
    for param, grad in zip(params, grads or [param.grad for param in params], strict=True):
        param -= lr * grad / batch_size
    return params


def split_batch(X, y, devices):
    """Split X and y over the devices, in parts that differ by one example at most.

    Return two lists, the parts of X and those of y, each on its device; ValueError if X and y differ in length.
    """
    if len(X) != len(y):
        raise ValueError(f"{len(X)} examples have {len(y)} labels")
    X_parts, y_parts = np.array_split(X, len(devices)), np.array_split(y, len(devices))
    X_shards = [part.as_in_ctx(device) for part, device in zip(X_parts, devices, strict=True)]
    y_shards = [part.as_in_ctx(device) for part, device in zip(y_parts, devices, strict=True)]
    return X_shards, y_shards


def evaluate_accuracy_gpu(net, data_iter, device=None):
    """Return the accuracy of a network on a data set.

    `device` is where its parameters lie if None; a function needs it. Dropout and the like are off meanwhile.
    """
    device = device or _devices(net)[0]
    counts = Accumulator(2)  # correct predictions, predictions
    with autograd.pause(train_mode=False):
        for X, y in data_iter:
            counts.add(accuracy(net(X.as_in_ctx(device)), y.as_in_ctx(device)), len(y))
    return counts[0] / counts[1]


def evaluate_accuracy_gpus(net, data_iter, split_f=split_batch):
    """Return the accuracy of a network on a data set, each minibatch split over its replicas.

    `net` is a list of replicas, one on each device, or one network initialised on several devices. All compute before
    the first result is waited for.
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
            scored = [(replica(part), labels) for replica, part, labels in shards if len(labels)]  # none may be empty
            counts.add(sum(accuracy(*pair) for pair in scored), len(y))
    return counts[0] / counts[1]


def load_data_digits(batch_size, resize=None):
    """Return iterators over the training and the test minibatches of scikit-learn's handwritten digits.

    1437 and 360 images, no download. X is float32 in [0, 1] of shape (n, 1, side, side) with side 8 or `resize`, y
    int32 of shape (n,). Each epoch of training has a new order, the same in every call.
    """
    return _iterators(digits(resize), batch_size)


def load_data_fashion_mnist(batch_size, resize=None):
    """Return iterators over the training and the test minibatches of Fashion-MNIST.

    60,000 and 10,000 images, downloaded once; RuntimeError if that fails. X is float32 in [0, 1] of shape
    (n, 1, side, side) with side 28 or `resize`, y int32 of shape (n,). Each epoch of training has a new order, the
    same in every call.
    """
    return _iterators(fashion_mnist(resize), batch_size)


def _iterators(arrays, batch_size):
    X_train, y_train, X_test, y_test = arrays
    train = Minibatches(X_train[:, None], y_train.astype("int32"), batch_size, shuffle=True, convert=_array)
    return train, Minibatches(X_test[:, None], y_test.astype("int32"), batch_size, shuffle=False, convert=_array)


def _array(values):
    return np.array(values, dtype=values.dtype)


def _devices(net):
    """Return the devices that a network is initialised on."""
    return next(iter(net.collect_params().values())).list_ctx()
