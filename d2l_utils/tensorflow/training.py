"""What training loops share, for TensorFlow; readers get it from `d2l_utils.tensorflow`."""

from contextlib import nullcontext

import tensorflow as tf

from d2l_utils.data import Accumulator, digits, fashion_mnist


def accuracy(y_hat, y):
    """Return the number of correct predictions.

    `y_hat` holds logits of shape (n, classes) or classes of shape (n,), `y` the labels of shape (n,).
    """
    classes = tf.argmax(y_hat, axis=1) if len(y_hat.shape) > 1 else y_hat
    return float(tf.reduce_sum(tf.cast(tf.cast(classes, y.dtype) == y, tf.int32)))


def sgd(params, lr, batch_size, grads=None):
    """Take a step of minibatch stochastic gradient descent and return the parameters.

    The variables change in place. `grads` are of the sum of the losses of `batch_size` examples; ValueError without
    them, since TensorFlow stores none with the variables.
    """
    if grads is None:
        raise ValueError("TensorFlow stores no gradients with the parameters: give grads=tape.gradient(loss, params)")
    for param, grad in zip(params, grads, strict=True):
        param.assign_sub(lr * grad / batch_size)
    return params


def split_batch(X, y, devices):
    """Split X and y over the devices, in parts that differ by one example at most.

    Return two lists, the parts of X and those of y, each on its device; ValueError if X and y differ in length.
    """
    if len(X) != len(y):
        raise ValueError(f"{len(X)} examples have {len(y)} labels")
    n, k = len(X), len(devices)
    sizes = [n // k + (i < n % k) for i in range(k)]
    X_shards, y_shards = [], []
    for device, X_part, y_part in zip(devices, tf.split(X, sizes), tf.split(y, sizes), strict=True):
        with device:
            X_shards.append(tf.identity(X_part))
            y_shards.append(tf.identity(y_part))
    return X_shards, y_shards


def evaluate_accuracy_gpu(net, data_iter, device=None):
    """Return the accuracy of a network on a data set.

    `device` is where its parameters lie if None. A Keras layer or model is called with `training=False`.
    """
    counts = Accumulator(2)  # correct predictions, predictions
    with device or _device(net) or nullcontext():
        for X, y in data_iter:
            counts.add(accuracy(_logits(net, X), y), len(y))
    return counts[0] / counts[1]


def evaluate_accuracy_gpus(net, data_iter, split_f=split_batch):
    """Return the accuracy of a network on a data set, each minibatch split over its replicas.

    `net` is a list of replicas, one on each device. All compute before the first result is waited for.
    """
    devices = [_device(replica) for replica in net]
    counts = Accumulator(2)  # correct predictions, predictions
    for X, y in data_iter:
        logits = []
        X_shards, y_shards = split_f(X, y, devices)
        for replica, part, device in zip(net, X_shards, devices, strict=True):
            with device:
                logits.append(_logits(replica, part))
        counts.add(sum(map(accuracy, logits, y_shards)), len(y))
    return counts[0] / counts[1]


def load_data_digits(batch_size, resize=None):
    """Return iterators over the training and the test minibatches of scikit-learn's handwritten digits.

    1437 and 360 images, no download. X is float32 in [0, 1] of shape (n, side, side, 1) with side 8 or `resize`, y
    int32 of shape (n,). Each epoch of training has a new order, the same in every call.
    """
    return _iterators(digits(resize), batch_size)


def load_data_fashion_mnist(batch_size, resize=None):
    """Return iterators over the training and the test minibatches of Fashion-MNIST.

    60,000 and 10,000 images, downloaded once; RuntimeError if that fails. X is float32 in [0, 1] of shape
    (n, side, side, 1) with side 28 or `resize`, y int32 of shape (n,). Each epoch of training has a new order, the
    same in every call.
    """
    return _iterators(fashion_mnist(resize), batch_size)


def _iterators(arrays, batch_size):
    X_train, y_train, X_test, y_test = arrays
    train, test = (
        tf.data.Dataset.from_tensor_slices((X[..., None], y.astype("int32")))
        for X, y in ((X_train, y_train), (X_test, y_test))
    )
    train = train.shuffle(len(y_train), seed=0)
    return tuple(part.batch(batch_size).prefetch(tf.data.AUTOTUNE) for part in (train, test))


def _device(net):
    """Return the device of a network's first parameter; None for a function."""
    variables = getattr(net, "variables", None)
    return tf.device(tf.convert_to_tensor(variables[0]).device) if variables else None


def _logits(net, X):
    return net(X, training=False) if isinstance(net, tf.keras.layers.Layer) else net(X)
