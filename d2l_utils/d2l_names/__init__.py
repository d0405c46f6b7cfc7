"""Names of D2L that no section teaches: its readers' cells run with the import line changed.

`d2l.` finds them when one is first used. Here stand those that are the same in all frameworks; a module for each
framework adds its own.
"""

import os
from collections.abc import Callable, Iterable
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from d2l_lab.files import cache_folder, write_atomically
from d2l_lab.instruments.data import resized
from d2l_lab.instruments.timing import Timer
from d2l_lab.plots.curves import set_axes, set_figsize, use_svg_display
from d2l_utils.d2l_names.animator import Animator

__all__ = ["Benchmark", "Accumulator", "Animator", "use_svg_display", "set_figsize", "set_axes"]


class Benchmark:
    """Time a block once and print its seconds: `with Benchmark("product"): …`. Waits for no device.

    A block that raises an exception prints nothing. The attribute `timer` is the Timer that was used.

    Parameters
    ----------
    description : str
        What stands before the seconds.
    """

    def __init__(self, description: str = "Done") -> None:
        self.description = description

    def __enter__(self) -> "Benchmark":
        self.timer = Timer()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        seconds = self.timer.stop()
        if kind is None:
            print(f"{self.description}: {seconds:.4f} sec")


class Accumulator:
    """Sum n quantities over the minibatches of an epoch: `[i]` is the sum of quantity i."""

    def __init__(self, n: int):
        self.data = [0.0] * n

    def add(self, *args: Any) -> None:
        """Add one number to each of the n sums; ValueError if there are not n."""
        self.data = [total + float(value) for total, value in zip(self.data, args, strict=True)]

    def reset(self) -> None:
        """Set all sums to zero."""
        self.data = [0.0] * len(self.data)

    def __getitem__(self, i: int) -> float:
        return self.data[i]


def mean_accuracy(
    replicas: Iterable[Callable[[Any], Any]], shards: Iterable[Any], accuracy: Callable[[Any, Any], float]
) -> float:
    """Return the accuracy of functions of X on minibatches, each a list of X's parts and one of y's: a part for each.

    All compute before the first result is waited for. None gets an empty part, which MXNet could not compute.
    """
    replicas, counts = list(replicas), Accumulator(2)  # correct predictions, predictions
    for X_shards, y_shards in shards:
        parts = zip(replicas, X_shards, y_shards, strict=True)
        predicted = [(replica(X), y) for replica, X, y in parts if len(y)]
        counts.add(sum(accuracy(y_hat, y) for y_hat, y in predicted), sum(map(len, y_shards)))
    return counts[0] / counts[1]


def fashion_mnist(resize: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return X_train, y_train, X_test, y_test: 60,000 and 10,000 images of clothes, downloaded once from OpenML.

    X is float32 in [0, 1] of shape (n, side, side), where side is 28 or `resize`; y is int64 of shape (n,). What is
    downloaded is text, which takes half a minute to read, so the arrays are kept in $D2L_DATA, or in
    `d2l_lab.files.cache_folder()`.

    Raises
    ------
    RuntimeError
        If the images are neither there nor to be downloaded.
    """
    kept = Path(os.environ.get("D2L_DATA") or cache_folder(), "fashion-mnist.npz")
    if not kept.exists():
        write_atomically(kept, _downloaded())
    with np.load(kept) as arrays:
        X, y = arrays["X"] / np.float32(255), arrays["y"]
    return resized(X[:60000], resize), y[:60000], resized(X[60000:], resize), y[60000:]


def _downloaded() -> bytes:
    """Return a file of NumPy with the 70,000 images and labels of Fashion-MNIST, those for training first."""
    from sklearn.datasets import fetch_openml

    try:
        pixels, labels = fetch_openml(data_id=40996, cache=False, return_X_y=True, as_frame=False, parser="liac-arff")
    except (OSError, ValueError) as error:  # ValueError for a wrong checksum
        cure = "try again, or use d2l.load_data_digits, which needs no download"
        raise RuntimeError(f"cannot download Fashion-MNIST from OpenML ({error}): {cure}") from error
    file = BytesIO()
    np.savez_compressed(file, X=pixels.reshape(-1, 28, 28).astype("uint8"), y=labels.astype("int64"))
    return file.getvalue()
