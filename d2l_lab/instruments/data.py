"""The digits as NumPy arrays and as images that are read one by one, and minibatches of arrays."""

from collections.abc import Callable, Iterator
from time import sleep
from typing import Any

import numpy as np


def digits(resize: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return X_train, y_train, X_test, y_test: the 1437 and 360 handwritten digits that come with scikit-learn.

    X is float32 in [0, 1] of shape (n, side, side), where side is 8 or `resize`; y is int64 of shape (n,).
    """
    from sklearn.datasets import load_digits

    found = load_digits()
    order = np.random.RandomState(0).permutation(len(found.target))  # the same in every version of NumPy
    X, y = resized(found.images[order] / 16, resize), found.target[order].astype("int64")
    return X[:1437], y[:1437], X[1437:], y[1437:]


def resized(images: np.ndarray, side: int | None) -> np.ndarray:
    """Return images of shape (n, old, old) as float32 of shape (n, side, side), interpolated linearly.

    The corner pixels stay in the corners. With None for `side` the images keep their size.
    """
    images = images.astype("float32")
    if side is None:
        return images
    from scipy.ndimage import zoom

    factor = side / images.shape[1]
    return zoom(images, (1, factor, factor), order=1, mode="nearest")  # else the last row may be black, by rounding


class DigitImages:
    """The 1437 training digits as a loader meets images in files: each is enlarged when it is read.

    `[i]` is an image, float32 in [0, 1] of the given shape, 28 × 28 pixels in all, and its label, int64. A spline
    enlarges the image, which keeps Python's thread busy for some 0.1 ms. With `number` there are only so many digits.
    With `wait`, each image first waits for so many seconds without using a core, as if it came from another machine.

    Raises
    ------
    ValueError
        If there are fewer digits than `number`.
    """

    def __init__(self, shape: tuple[int, ...] = (1, 28, 28), number: int | None = None, wait: float = 0):
        X, y, _, _ = digits()
        if number is not None and not 0 < number <= len(y):
            raise ValueError(f"there are 1 to {len(y)} digits, not {number}")
        self._X, self._y, self.shape, self._wait = X[:number], y[:number], shape, wait

    def __len__(self) -> int:
        return len(self._y)

    def __getitem__(self, i: int) -> tuple[np.ndarray, np.int64]:
        from scipy.ndimage import zoom

        if not 0 <= i < len(self):
            raise IndexError(f"the {len(self)} images are numbered from 0; there is no image {i}")
        if self._wait:
            sleep(self._wait)
        image = zoom(self._X[i], 28 / self._X.shape[1]).clip(0, 1)
        return image.reshape(self.shape), self._y[i]


class InMemory:
    """Images that have been read once: `[i]`, `len` and `shape` are those of the images, and no image is read again."""

    def __init__(self, images: DigitImages):
        self._read, self.shape = [images[i] for i in range(len(images))], images.shape

    def __len__(self) -> int:
        return len(self._read)

    def __getitem__(self, i: int) -> tuple[np.ndarray, np.int64]:
        return self._read[i]


class Minibatches:
    """Iterate over (X, y) in minibatches, the last of which may be smaller.

    With `shuffle` every epoch has a new order; the orders are the same for every object. `convert` turns a NumPy array
    into one of the framework. ValueError if X and y differ in length.
    """

    def __init__(self, X: Any, y: Any, batch_size: int, shuffle: bool, convert: Callable[[Any], Any] = np.asarray):
        if len(X) != len(y):
            raise ValueError(f"{len(X)} examples have {len(y)} labels")
        self.X, self.y, self.batch_size, self.convert = X, y, batch_size, convert
        self._random = np.random.RandomState(0) if shuffle else None

    def __len__(self) -> int:
        return -(-len(self.y) // self.batch_size)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        order = np.arange(len(self.y)) if self._random is None else self._random.permutation(len(self.y))
        for start in range(0, len(order), self.batch_size):
            chosen = order[start : start + self.batch_size]
            yield self.convert(self.X[chosen]), self.convert(self.y[chosen])
