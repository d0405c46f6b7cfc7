"""The chapter's training loop for MXNet, as its first section builds it; readers get it from `d2l_utils.mxnet`."""

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn


def build_lenet():
    """Return LeNet, initialised, for X of shape (n, 1, 28, 28), a Gluon block that returns logits of shape (n, 10)."""
    mx.npx.random.seed(0)
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(20, 3, activation="relu"),
        nn.AvgPool2D(),
        nn.Conv2D(50, 5, activation="relu"),
        nn.AvgPool2D(),
        nn.Dense(128, activation="relu"),
        nn.Dense(10),
    )
    net.initialize(mx.init.Xavier())
    return net


cross_entropy = gluon.loss.SoftmaxCrossEntropyLoss()


def train_step(net, optimizer, X, y):
    """Update the network by one minibatch and return its mean loss, an array."""
    with autograd.record():
        losses = cross_entropy(net(X), y)
    losses.backward()
    optimizer.step(len(y))
    return losses.mean()


def load_images(images, batch_size):
    """Return an iterator over whole minibatches of the images, in a new order each time."""
    return gluon.data.DataLoader(images, batch_size, shuffle=True, last_batch="discard")
