"""What the sections share, for MXNet: `from d2l_utils import mxnet as d2l`."""

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import mxnet as mx

from d2l_lab.instruments.framework import register
from d2l_lab.instruments.memory import process_counters
from d2l_lab.instruments.words import say, say_line
from d2l_lab.protocol import Counters
from d2l_utils import common
from d2l_utils.common import *  # noqa: F403 - common.__all__ is the explicit list
from d2l_utils.common import arrays_in

if TYPE_CHECKING:  # imported by __getattr__ when a program runs
    from d2l_utils.mxnet.collect import recorder  # noqa: F401
    from d2l_utils.mxnet.networks import *  # noqa: F403

    evaluate_accuracy_gpu: Callable[..., float]  # of d2l_names
else:  # mypy would take a list that it cannot read for an empty one
    __all__ = common.NAMES
__getattr__ = common.on_demand(__name__)
register(sys.modules[__name__])


def synchronize(*arrays: Any) -> None:
    """Wait until the given arrays are computed; without arguments, until every device of the framework is idle.

    This waits for the operations that write to an array, and on a CPU for those too that were ready to run before: a
    wait takes its turn in the queue of `cpu(0)`.
    """
    for argument in arrays:
        for array in arrays_in(argument, mx.nd.NDArray):
            array.wait_to_read()
    if not arrays:
        mx.nd.waitall()


def try_gpu(i: int = 0) -> Any:
    """Return GPU i if it exists, otherwise the CPU."""
    return mx.gpu(i) if 0 <= i < mx.context.num_gpus() else cpu()


def try_all_gpus() -> list[Any]:
    """Return all GPUs, or a list of the CPU alone if there is none."""
    return [mx.gpu(i) for i in range(mx.context.num_gpus())] or [cpu()]


def devices(n: int = 2) -> list[Any]:
    """Return n devices: GPUs if there are n, otherwise stand-ins on the CPU, and print which.

    The stand-ins are the contexts cpu(0), cpu(1), …, each with a worker thread of its own. MXNet lets an operation use
    several threads unless the environment variable OMP_NUM_THREADS is 1 when MXNet is imported.
    """
    if n < 1:
        raise ValueError(f"devices takes a number of at least 1, not {n}")
    if mx.context.num_gpus() >= n:
        print(f"{n} GPUs: gpu(0) to gpu({n - 1})")
        return [mx.gpu(i) for i in range(n)]
    one = os.environ.get("OMP_NUM_THREADS") == "1"
    threads = say("each operation computes in one thread") if one else say("set OMP_NUM_THREADS=1 for one thread each")
    print(say_line("{n} stand-ins: cpu(0) to cpu({last}) of MXNet; {threads}", n=n, last=n - 1, threads=threads))
    return [mx.cpu(i) for i in range(n)]


def cpu() -> Any:
    """Return the CPU, also where there are GPUs."""
    return mx.cpu()


def gpu_names() -> list[str]:
    """Return the name of each GPU.

    These are `gpu(0)` and so on, because MXNet does not know what the driver calls them.
    """
    return [str(mx.gpu(i)) for i in range(mx.context.num_gpus())]


def memory_counters() -> Counters:
    """Return what counts the bytes in use on the first GPU, or on the CPU if there is none."""
    if not mx.context.num_gpus():
        return process_counters()
    mx.gpu().empty_cache()

    def taken() -> int:
        free, total = mx.context.gpu_memory_info()
        return int(total - free)

    return Counters(taken)


def tiny_sum(device: Any) -> Callable[[], Any]:
    """Return a function that issues x + x of one number on a device and returns the sum without waiting for it."""
    x = mx.np.ones(1, ctx=device)
    return lambda: x + x


def product(device: Any, n: int, kind: str) -> Callable[[], None]:
    """Return a function that computes a product of two n × n arrays on a device and waits for it."""
    if kind == "bfloat16":
        raise NotImplementedError("MXNet has no product of bfloat16 arrays")
    x = mx.np.random.uniform(size=(n, n), dtype=kind, ctx=device)
    return lambda: synchronize(mx.npx.fully_connected(x, x, num_hidden=n, no_bias=True))


def memory_passes(device: Any, size: int) -> dict[str, tuple[Callable[[], object], int]]:
    """Return functions that pass over arrays of `size` bytes, and how many such arrays each reads and writes."""
    x = mx.np.ones(size // 4, ctx=device)
    y = mx.np.ones(size // 4, ctx=device)
    return {
        "copy": (lambda: synchronize(x.copyto(y)), 2),
        "in place": (lambda: synchronize(mx.np.multiply(y, -1, out=y)), 2),
    }
