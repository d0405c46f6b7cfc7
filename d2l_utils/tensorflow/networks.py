"""Networks and loop that sections build, for TensorFlow, imported when first asked for; see `d2l_utils.tensorflow`."""


def resnet18(num_classes, in_channels=1, width=64):
    """Return a ResNet-18 for small images, with `width` channels in its first stage.

    A Keras model that takes X of shape (n, h, w, in_channels) and returns logits of shape (n, num_classes).
    """
    from d2l_utils.tensorflow.resnet import resnet18 as build

    return build(num_classes, in_channels, width)


def build_lenet():
    """Return LeNet, the network of the chapter's training loop, with the same first weights in every call.

    A Keras model with 129,068 parameters that takes X of shape (n, 28, 28, 1) and returns logits of shape (n, 10).
    """
    from d2l_utils.tensorflow.loop import build_lenet as build

    return build()


def train_step(net, optimizer, X, y):
    """Update a network by one minibatch and return its mean loss, which has not been read yet.

    `optimizer` is an optimizer of Keras; `X` is a minibatch as `net` takes it, `y` its labels of shape (n,).
    """
    from d2l_utils.tensorflow.loop import train_step as step

    return step(net, optimizer, X, y)


def load_images(images, batch_size):
    """Return an iterator over minibatches of `DigitImages`, each enlarged while Python waits, in a new order.

    X is float32 of shape (batch_size, *images.shape), y int32 of shape (batch_size,). What is left over is dropped.
    """
    from d2l_utils.tensorflow.loop import load_images as load

    return load(images, batch_size)
