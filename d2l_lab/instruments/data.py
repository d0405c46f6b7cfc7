"""Data sets as NumPy arrays, minibatches of them, and the downloads behind them."""

import gzip
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np

from d2l_lab.files import cache_folder

FASHION_MNIST = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"
FILES = {  # of Fashion-MNIST, with their MD5 sums
    "train-images-idx3-ubyte.gz": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
    "train-labels-idx1-ubyte.gz": "25c81989df183df01b3e8a0aad5dffbe",
    "t10k-images-idx3-ubyte.gz": "bef4ecab320f06d8554ea6380940ec79",
    "t10k-labels-idx1-ubyte.gz": "bb300cfdad3c16e7a12a480ee83cd310",
}


def digits(resize: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return X_train, y_train, X_test, y_test: the 1437 and 360 handwritten digits that come with scikit-learn.

    X is float32 in [0, 1] of shape (n, side, side), where side is 8 or `resize`; y is int64 of shape (n,).
    """
    from sklearn.datasets import load_digits

    found = load_digits()
    order = np.random.RandomState(0).permutation(len(found.target))  # the same in every version of NumPy
    X, y = resized(found.images[order] / 16, resize), found.target[order].astype("int64")
    return X[:1437], y[:1437], X[1437:], y[1437:]


def fashion_mnist(resize: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return X_train, y_train, X_test, y_test: 60,000 and 10,000 images of clothes, downloaded once (30 MB).

    X is float32 in [0, 1] of shape (n, side, side), where side is 28 or `resize`; y is int64 of shape (n,).

    Raises
    ------
    RuntimeError
        If the files are neither there nor to be downloaded.
    """
    cure = "or use d2l.load_data_digits, which needs no download"
    paths = [download(FASHION_MNIST + name, md5, cure=cure) for name, md5 in FILES.items()]
    X_train, y_train, X_test, y_test = map(idx_array, paths)
    X_train, X_test = (resized(X / np.float32(255), resize) for X in (X_train, X_test))
    return X_train, y_train.astype("int64"), X_test, y_test.astype("int64")


def download(url: str, md5: str, folder: str | Path | None = None, cure: str = "or call again") -> Path:
    """Return the path of the file at `url`, which is downloaded unless it is there already.

    It is kept in `folder`: $D2L_DATA or `d2l_lab.files.cache_folder()` if None. A transfer that breaks off is repeated
    from the start, which is no matter for 26 MB, the largest file. Several processes may download the same file at
    once.

    Raises
    ------
    RuntimeError
        If the transfer fails or the MD5 sum differs; the message ends with `cure`.
    """
    import pooch

    cache = Path(folder or os.environ.get("D2L_DATA") or cache_folder())
    name = url.rpartition("/")[2]
    try:
        cache.mkdir(parents=True, exist_ok=True)
        return Path(pooch.retrieve(url, f"md5:{md5}", fname=name, path=cache, progressbar=False))
    except (OSError, ValueError) as error:  # pooch raises ValueError for a wrong sum; no bad file is kept
        raise RuntimeError(f"cannot download {url} ({error}): put the file {name} into {cache}, {cure}") from error


def idx_array(path: Path) -> np.ndarray:
    """Return the array of bytes in a gzipped IDX file: four bytes (the last: how many axes), sizes, numbers."""
    content = gzip.decompress(path.read_bytes())
    axes = content[3]
    shape = np.frombuffer(content, ">i4", axes, offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * axes).reshape(shape)


def resized(images: np.ndarray, side: int | None) -> np.ndarray:
    """Return images of shape (n, old, old) as float32 of shape (n, side, side), interpolated linearly.

    The corner pixels stay in the corners. With None for `side` the images keep their size.
    """
    images = images.astype("float32")
    if side is None:
        return images
    old = images.shape[1]
    places = np.linspace(0, old - 1, side)[:, None]
    weights = np.maximum(0, 1 - np.abs(places - np.arange(old))).astype("float32")
    return weights @ images @ weights.T


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
