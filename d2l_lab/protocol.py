"""What a framework's folder of d2l_utils provides: the contract, stated once.

The docstrings in the four folders say in a line what a name is for, and then what the framework alone does.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol


class Counters(NamedTuple):
    """How memory is counted: the bytes in use now and, where there is a record of the peak, its reset and itself."""

    current: Callable[[], int]
    reset: Callable[[], Any] | None = None
    peak: Callable[[], int] | None = None


@dataclass
class Row:
    """What an operation does in a step: calls, flops, seconds, and bytes by how far back their arrays were touched.

    Bytes touched since then, and those of the call itself, are the reach: a cache that has room for them has the array.
    """

    calls: float = 0.0
    flops: float = 0.0
    reaches: dict[float, float] = field(default_factory=dict)  # bytes by reach
    seconds: float = 0.0
    uncounted: float = 0.0  # calls whose flops or bytes are not known

    def add(self, flops: float | None, reaches: dict[float, float]) -> None:
        """Add a call of so many flops, None if they are not known, and of these bytes by reach."""
        self.calls += 1.0
        self.uncounted += 1.0 if flops is None else 0.0
        self.flops += flops or 0.0
        for reach, size in reaches.items():
            self.reaches[reach] = self.reaches.get(reach, 0.0) + size

    @property
    def bytes(self) -> float:
        """The bytes of all calls."""
        return sum(self.reaches.values())


class Record(NamedTuple):
    """A recorded step: its seconds under the same profiler as its rows', and whether Python issues its calls."""

    whole: float
    rows: dict[str, Row]
    issued: bool

    @property
    def calls(self) -> float:
        """The calls of all operations."""
        return sum(row.calls for row in self.rows.values())

    @property
    def seconds(self) -> float:
        """The seconds of all operations."""
        return sum(row.seconds for row in self.rows.values())


class Framework(Protocol):
    """A framework's folder, as a module; mypy compares each of the four with it.

    The first four names and those from `build_lenet` to `load_data_digits` are for readers, the others for the
    laboratory.
    """

    __name__: str

    def synchronize(self, *arrays: Any) -> None:
        """Wait until the given arrays are computed; without arguments, until every device of the framework is idle.

        Parameters
        ----------
        *arrays
            Arrays of the framework, or nested lists, tuples and dictionaries of them.

        Raises
        ------
        TypeError
            If an argument holds no array.
        """

    def try_gpu(self, i: int = 0) -> Any:
        """Return GPU i if it exists, otherwise the CPU."""

    def try_all_gpus(self) -> list[Any]:
        """Return all GPUs, or a list of the CPU alone if there is none."""

    def devices(self, n: int = 2) -> list[Any]:
        """Return n devices: GPUs if there are n, otherwise stand-ins on the CPU, and print which.

        Raises
        ------
        ValueError
            If n is less than 1.
        RuntimeError
            If the framework makes its stand-ins before it starts, and has started with fewer.
        """

    def cpu(self) -> Any:
        """Return the CPU, also where there are GPUs."""

    def gpu_names(self) -> list[str]:
        """Return the name of each GPU."""

    def memory_counters(self) -> Counters:
        """Return what counts the bytes in use on the first GPU, or on the CPU if there is none."""

    def tiny_sum(self, device: Any) -> Callable[[], Any]:
        """Return a function that issues x + x of one number on a device and returns the sum without waiting for it."""

    def product(self, device: Any, n: int, kind: str) -> Callable[[], None]:
        """Return a function that computes a product of two n × n arrays on a device and waits for it.

        Parameters
        ----------
        device
            Where both arrays lie.
        n
            Their rows and columns.
        kind
            The type of their numbers, such as "float32".

        Raises
        ------
        NotImplementedError
            If the framework has no product of this type.
        """

    def memory_passes(self, device: Any, size: int) -> dict[str, tuple[Callable[[], object], int]]:
        """Return functions that pass over arrays of `size` bytes, and how many such arrays each reads and writes.

        "copy" writes one array into another, "in place" changes one where it lies. Each function waits for its work.
        """

    def build_lenet(self) -> Any:
        """Return LeNet, the network of the chapter's training loop, with the same first weights in every call.

        It has 129,068 parameters and returns logits of shape (n, 10) for n images of 28 × 28 pixels.
        """

    def tuned_lenet(self) -> Any:
        """Return a LeNet whose layers suit the framework: the same first weights, the same logits but for rounding."""

    def in_bfloat16(self, net: Any) -> Any:
        """Return a network that computes as `net` does, but in bfloat16: its own weights and its logits stay float32.

        Raises
        ------
        NotImplementedError
            If the framework cannot.
        """

    def train_step(self, net: Any, optimizer: Any, X: Any, y: Any) -> Any:
        """Update a network by one minibatch and return its mean loss, which has not been read yet.

        Parameters
        ----------
        net
            A network that returns logits of shape (n, classes).
        optimizer
            An optimizer of its parameters.
        X
            A minibatch of n inputs.
        y
            Its labels, of shape (n,).
        """

    def load_images(self, images: Any, batch_size: int) -> Any:
        """Return an iterator over whole minibatches of `DigitImages`, in a new order each time.

        Each image is enlarged in Python while the caller waits. X is float32 of shape (batch_size, *images.shape), y
        int64 of shape (batch_size,).
        """

    def load_data_digits(self, batch_size: int, resize: int | None = None) -> tuple[Any, Any]:
        """Return iterators over the training and the test minibatches of scikit-learn's handwritten digits.

        There are 1437 and 360 images, and nothing is downloaded. X is float32 in [0, 1], and y has shape (n,). Each
        epoch of training has a new order, the same in every call.
        """

    def Loop(self, levers: tuple[str, ...], models: dict[Any, Any]) -> Any:
        """Return the chapter's training loop with some levers, a `d2l_lab.instruments.loops.Loop`."""

    def evaluate_accuracy_gpu(self, net: Any, data_iter: Iterable[Any], device: Any = None) -> float:
        """Return the accuracy of a network on a data set, between 0 and 1."""

    def recorder(self, run: Callable[[], object]) -> Callable[[], Record]:
        """Return a function that runs a step, which has run before, and returns what its operations did.

        Parameters
        ----------
        run
            Runs the step and waits for all that it computes.
        """
