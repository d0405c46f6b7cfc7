"""Data sets as NumPy arrays, minibatches of them, and the downloads behind them."""

import gzip
import hashlib
import os
import sys
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np

FASHION_MNIST = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"
FILES = {  # of Fashion-MNIST, with their MD5 sums
    "train-images-idx3-ubyte.gz": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
    "train-labels-idx1-ubyte.gz": "25c81989df183df01b3e8a0aad5dffbe",
    "t10k-images-idx3-ubyte.gz": "bef4ecab320f06d8554ea6380940ec79",
    "t10k-labels-idx1-ubyte.gz": "bb300cfdad3c16e7a12a480ee83cd310",
}


def digits(resize=None):
    """Return X_train, y_train, X_test, y_test: 1437 and 360 handwritten digits, which scikit-learn brings along.

    X is float32 in [0, 1] of shape (n, side, side), side is 8 or `resize`; y is int64 of shape (n,).
    """
    from sklearn.datasets import load_digits

    found = load_digits()
    order = np.random.RandomState(0).permutation(len(found.target))  # the same in every version of NumPy
    X, y = resized(found.images[order] / 16, resize), found.target[order].astype("int64")
    return X[:1437], y[:1437], X[1437:], y[1437:]


def fashion_mnist(resize=None):
    """Return X_train, y_train, X_test, y_test: 60,000 and 10,000 images of clothes, downloaded once (30 MB).

    X is float32 in [0, 1] of shape (n, side, side), side is 28 or `resize`; y is int64 of shape (n,).
    RuntimeError if the files can neither be found nor downloaded.
    """
    cure = "or use d2l.load_data_digits, which needs no download"
    paths = [download(FASHION_MNIST + name, md5, cure=cure) for name, md5 in FILES.items()]
    X_train, y_train, X_test, y_test = map(idx_array, paths)
    X_train, X_test = (resized(X / np.float32(255), resize) for X in (X_train, X_test))
    return X_train, y_train.astype("int64"), X_test, y_test.astype("int64")


def idx_array(path):
    """Return the array of bytes that a packed IDX file holds: four bytes (the last: how many axes), sizes, numbers."""
    content = gzip.decompress(path.read_bytes())
    axes = content[3]
    shape = np.frombuffer(content, ">i4", axes, offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * axes).reshape(shape)


def resized(images, side):
    """Return images of shape (n, old, old) as float32 of shape (n, side, side), interpolated linearly.

    The corners of old and new lie on each other. None for `side` keeps the old one.
    """
    images = images.astype("float32")
    if side is None:
        return images
    old = images.shape[1]
    places = np.linspace(0, old - 1, side)[:, None]
    weights = np.maximum(0, 1 - np.abs(places - np.arange(old))).astype("float32")
    return weights @ images @ weights.T


class DigitImages:
    """The 1437 training digits as a loader meets images in files: each is enlarged when it is asked for.

    `[i]` is a pair of float32 in [0, 1] of the given shape, 28 × 28 pixels in all, and a label of int32. A spline
    enlarges it, some 0.1 ms of work in Python's thread.
    """

    def __init__(self, shape=(1, 28, 28)):
        X, y, _, _ = digits()
        self._X, self._y, self.shape = X, y.astype("int32"), shape

    def __len__(self):
        return len(self._y)

    def __getitem__(self, i):
        from scipy.ndimage import zoom

        if not 0 <= i < len(self):
            raise IndexError(f"there are {len(self)} images, from 0 on; {i} is none of them")
        image = zoom(self._X[i], 28 / self._X.shape[1]).clip(0, 1)
        return image.reshape(self.shape), self._y[i]


class Minibatches:
    """Iterate over (X, y) in minibatches, the last of which may be smaller.

    With `shuffle` every epoch has an order of its own; two objects go through the same orders. `convert` turns each
    NumPy array into the framework's.
    """

    def __init__(self, X, y, batch_size, shuffle, convert=np.asarray):
        if len(X) != len(y):
            raise ValueError(f"{len(X)} examples have {len(y)} labels")
        self.X, self.y, self.batch_size, self.convert = X, y, batch_size, convert
        self._random = np.random.RandomState(0) if shuffle else None

    def __len__(self):
        return -(-len(self.y) // self.batch_size)

    def __iter__(self):
        order = np.arange(len(self.y)) if self._random is None else self._random.permutation(len(self.y))
        for start in range(0, len(order), self.batch_size):
            chosen = order[start : start + self.batch_size]
            yield self.convert(self.X[chosen]), self.convert(self.y[chosen])


class Accumulator:
    """Sum n quantities over the minibatches of an epoch: `[i]` is the sum of quantity i."""

    def __init__(self, n):
        self.data = [0.0] * n

    def add(self, *args):
        """Add one number to each of the n sums; ValueError if there are not n."""
        self.data = [total + float(value) for total, value in zip(self.data, args, strict=True)]

    def reset(self):
        """Set all sums to zero."""
        self.data = [0.0] * len(self.data)

    def __getitem__(self, i):
        return self.data[i]


TIMEOUT = 20  # seconds without a byte
CHUNK = 1 << 16  # bytes
NOT_SATISFIABLE = 416  # the server has no byte from there on


def download(url, md5, folder=None, cure="or call again once the network is back"):
    """Return the path of the file at `url`, which is downloaded unless a whole one is there already.

    It lies in `folder`: $D2L_DATA or ~/.cache/d2l. What a broken transfer left is kept beside it as `.part` and
    continued by the next call. RuntimeError with a `cure` if there is no network or if the MD5 sum differs.
    """
    folder = Path(folder or os.environ.get("D2L_DATA") or Path.home() / ".cache" / "d2l")
    path = folder / url.rpartition("/")[2]
    part = path.with_name(path.name + ".part")
    help_ = f"put the file {path.name} into {folder}, {cure}"
    if checksum(path) == md5:
        return path
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if checksum(part) != md5:
            _transfer(url, part)
    except (OSError, HTTPException) as error:
        raise RuntimeError(f"cannot download {url} ({error}): {help_}") from error
    if checksum(part) != md5:
        part.unlink()
        raise RuntimeError(f"the download of {url} has a wrong MD5 sum and was removed: call again, or {help_}")
    os.replace(part, path)
    return path


def checksum(path):
    """Return the MD5 sum of a file in hexadecimal digits, or None if there is no such file."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _transfer(url, part):
    """Append to the file `part` what it lacks, or write it afresh where the server gives the whole file only."""
    done = part.stat().st_size if part.exists() else 0
    try:
        response = urlopen(Request(url, headers={"Range": f"bytes={done}-"} if done else {}), timeout=TIMEOUT)
    except HTTPError as error:
        if error.code != NOT_SATISFIABLE or not done:
            raise
        part.unlink()
        _transfer(url, part)
        return
    with response:
        done = done if response.status == 206 else 0
        length = response.headers["Content-Length"]
        total = done + int(length) if length else None
        with part.open("ab" if done else "wb") as file:
            for chunk in iter(lambda: response.read(CHUNK), b""):
                file.write(chunk)
                _progress(part.stem, done, done := done + len(chunk), total)
    if total and done < total:
        raise OSError(f"the connection ended after {done} of {total} bytes")


def _progress(name, before, done, total):
    """Write the percentage over the last one on the standard error stream, where it has changed."""
    if not total:
        return
    percent = 100 * done // total
    if percent > 100 * before // total:
        end = "\n" if done == total else ""
        print(f"\r{name}: {percent:3d} % of {total / 1e6:.1f} MB", end=end, file=sys.stderr, flush=True)
