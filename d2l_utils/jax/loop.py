"""The chapter's training loop for JAX, as its first section builds it; readers get it from `d2l_utils.jax`."""

from functools import partial

import numpy as np
import optax
from flax import nnx


def build_lenet():
    """Return LeNet for X of shape (n, 28, 28, 1), an nnx module that returns logits of shape (n, 10)."""
    rngs = nnx.Rngs(0)
    conv = partial(nnx.Conv, padding="VALID", rngs=rngs)
    pool = partial(nnx.avg_pool, window_shape=(2, 2), strides=(2, 2))
    return nnx.Sequential(
        conv(1, 20, (3, 3)),
        nnx.relu,
        pool,
        conv(20, 50, (5, 5)),
        nnx.relu,
        pool,
        lambda h: h.reshape(len(h), -1),
        nnx.Linear(800, 128, rngs=rngs),
        nnx.relu,
        nnx.Linear(128, 10, rngs=rngs),
    )


def train_step(net, optimizer, X, y):
    """Update the network by one minibatch and return its mean loss, an array."""

    def mean_loss(net):
        return optax.softmax_cross_entropy_with_integer_labels(net(X), y).mean()

    loss, grads = nnx.value_and_grad(mean_loss)(net)
    optimizer.update(net, grads)
    return loss


def load_images(images, batch_size):
    """Yield whole minibatches of the images, in a new order each time."""
    order = np.random.permutation(len(images))
    for start in range(0, len(order) - batch_size + 1, batch_size):
        chosen = [images[i] for i in order[start : start + batch_size]]
        yield tuple(np.stack(part) for part in zip(*chosen, strict=True))
