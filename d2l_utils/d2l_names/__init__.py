"""Names of D2L that no section teaches: its readers' cells run with the import line changed.

`d2l.` finds them when one is first used. Here stand those that are the same in all frameworks; a module for each
framework adds its own.
"""

from types import TracebackType
from typing import Any

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
