"""Data, networks and the training step of the chapter's loop, for JAX, imported on demand."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import jax
import numpy as np
import optax
from flax import nnx
from jax import numpy as jnp

from d2l_lab.instruments import loops
from d2l_lab.instruments.data import Minibatches, digits


def build_lenet() -> Any:
    """Return LeNet, the network of the chapter's training loop, with the same first weights in every call.

    It is a `flax.nnx.Module` and takes X of shape (n, 28, 28, 1).
    """
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


def tuned_lenet() -> Any:
    """Return a LeNet whose layers suit the framework: the same first weights, the same logits but for rounding.

    Its convolutions are products of matrices, whose gradients are products too.
    """
    return nnx.Sequential(
        *(ByProduct(layer) if isinstance(layer, nnx.Conv) else layer for layer in build_lenet().layers)
    )


class ByProduct(nnx.Module):
    """A convolution computed as a product, with the weights of an `nnx.Conv`."""

    def __init__(self, conv: Any):
        self.conv = conv

    def __call__(self, X: Any) -> Any:
        return convolve(X, self.conv.kernel[...], self.conv.bias[...])


@jax.jit
def convolve(X: Any, kernel: Any, bias: Any) -> Any:
    """Return the convolution of X without padding, as a product of its patches and the kernel."""
    h, w = kernel.shape[:2]
    rows, columns = X.shape[1] - h + 1, X.shape[2] - w + 1
    patches = [X[:, i : i + rows, j : j + columns] for i in range(h) for j in range(w)]
    flat = kernel.reshape(-1, kernel.shape[-1])
    return jnp.concatenate(patches, axis=-1) @ flat + bias


def in_bfloat16(net: Any) -> Any:
    """Return a network that computes as `net` does, but in bfloat16: its own weights and its logits stay float32.

    All of its weights and its input are rounded, and so are the gradients that come back to the weights.
    """
    return _InBfloat16(net)


class _InBfloat16(nnx.Module):
    def __init__(self, net: Any):
        self.net = net

    def __call__(self, X: Any) -> Any:
        graph, params, rest = nnx.split(self.net, nnx.Param, ...)
        rounded = jax.tree.map(lambda weights: weights.astype(jnp.bfloat16), params)
        return nnx.merge(graph, rounded, rest)(X.astype(jnp.bfloat16)).astype(jnp.float32)


def train_step(net: Any, optimizer: Any, X: Any, y: Any) -> Any:
    """Update a network by one minibatch and return its mean loss, which has not been read yet.

    `net` is a `flax.nnx.Module`, and `optimizer` an `nnx.Optimizer`.
    """

    def mean_loss(net: Any) -> Any:
        return optax.softmax_cross_entropy_with_integer_labels(net(X), y).mean()

    loss, grads = nnx.value_and_grad(mean_loss)(net)
    optimizer.update(net, grads)
    return loss


def load_images(images: Any, batch_size: int) -> Any:
    """Return an iterator over whole minibatches of `DigitImages`, in a new order each time."""
    order = np.random.permutation(len(images))
    for start in range(0, len(order) - batch_size + 1, batch_size):
        chosen = [images[i] for i in order[start : start + batch_size]]
        yield tuple(np.stack(part) for part in zip(*chosen, strict=True))


def load_data_digits(batch_size: int, resize: int | None = None) -> tuple[Any, Any]:
    """Return iterators over the training and the test minibatches of scikit-learn's handwritten digits.

    X and y are arrays of NumPy: X has shape (n, side, side, 1), where side is 8 or `resize`, and y is int32.
    """
    return iterators(digits(resize), batch_size)


def iterators(arrays: Sequence[Any], batch_size: int) -> tuple[Any, Any]:
    """Return iterators over minibatches of X_train, y_train, X_test and y_test, as `load_data_digits` does."""
    X_train, y_train, X_test, y_test = arrays
    train = Minibatches(X_train[..., None], y_train.astype("int32"), batch_size, shuffle=True)
    return train, Minibatches(X_test[..., None], y_test.astype("int32"), batch_size, shuffle=False)


class Loop(loops.Loop):
    """The chapter's loop with some levers, for JAX."""

    def make(self, tuned: bool, compiled: bool, bfloat16: bool) -> tuple[Any, Any, Any, Any]:
        self.net = self.network(tuned, bfloat16)
        self.optimizer = nnx.Optimizer(self.net, optax.sgd(0.05, momentum=0.9), wrt=nnx.Param)
        step = nnx.jit(train_step, donate_argnums=(0, 1)) if compiled else train_step
        return self.net, self.optimizer, step, self.save()

    def load(self, state: Any) -> None:
        nnx.update((self.net, self.optimizer), jax.tree.map(jnp.array, state))

    def save(self) -> Any:
        return jax.tree.map(np.array, nnx.state((self.net, self.optimizer)))

    def background(self, images: Any) -> Any:
        """Return minibatches of which a thread loads the next one."""
        with ThreadPoolExecutor(1) as loader:
            minibatches = load_images(images, loops.BATCH)
            ahead = loader.submit(next, minibatches, None)
            while minibatch := ahead.result():
                ahead = loader.submit(next, minibatches, None)
                yield minibatch

    def draw(self) -> Any:
        return self.loader()  # the iterator of the last epoch is used up
