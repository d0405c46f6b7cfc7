"""What the sections share, for PyTorch: `from d2l_utils import torch as d2l`."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from d2l_lab.instruments.framework import register
from d2l_lab.instruments.memory import Counters, process_counters
from d2l_lab.machine.system import cores
from d2l_utils import common
from d2l_utils.common import *  # noqa: F403 - common.__all__ is the explicit list
from d2l_utils.common import arrays_in

if TYPE_CHECKING:  # imported by __getattr__ when a program runs
    from d2l_utils.torch.networks import *  # noqa: F403

__all__ = common.NAMES
__getattr__ = common.on_demand(__name__)
register(sys.modules[__name__])
_threads = min(torch.get_num_threads(), cores())  # PyTorch has counted without a quota when it was imported
torch.set_num_threads(_threads)


def synchronize(*arrays: Any) -> None:
    """Wait until the given arrays are computed; without arguments, until every device of the framework is idle.

    PyTorch computes on a CPU before it returns, so there is nothing to wait for. On a GPU this waits for all streams of
    every device that holds one of the tensors.

    Parameters
    ----------
    *arrays
        Tensors, or nested lists, tuples and dictionaries of them.

    Raises
    ------
    TypeError
        If an argument holds no tensor.
    """
    used = {tensor.device for argument in arrays for tensor in arrays_in(argument, torch.Tensor)}
    if not arrays and torch.accelerator.is_available():
        kind = torch.accelerator.current_accelerator().type
        used = {torch.device(kind, i) for i in range(torch.accelerator.device_count())}
    for device in used:
        if device.type not in ("cpu", "meta"):
            torch.accelerator.synchronize(device)


def try_gpu(i: int = 0) -> Any:
    """Return GPU i if it exists, otherwise the CPU."""
    return torch.device("cuda", i) if 0 <= i < torch.cuda.device_count() else torch.device("cpu")


def try_all_gpus() -> list[Any]:
    """Return all GPUs, or a list of the CPU alone if there is none."""
    return [torch.device("cuda", i) for i in range(torch.cuda.device_count())] or [torch.device("cpu")]


def devices(n: int = 2) -> list[Any]:
    """Return n devices: GPUs if there are n, otherwise stand-ins on the CPU, and print which.

    PyTorch has one CPU device, so the stand-ins are the same device n times: `to` copies nothing between them, and they
    run side by side only in threads or processes of your own. From then on, an operation of the calling thread uses one
    thread on the CPU; any other thread has to call `torch.set_num_threads(1)` itself.

    Raises
    ------
    ValueError
        If n is less than 1.
    """
    if n < 1:
        raise ValueError(f"devices takes a number of at least 1, not {n}")
    if torch.cuda.device_count() >= n:
        print(f"{n} GPUs: cuda:0 to cuda:{n - 1}")
        return [torch.device("cuda", i) for i in range(n)]
    torch.set_num_threads(1)
    print(f"{n} stand-ins: PyTorch's one CPU device {n} times; each operation computes in one thread")
    return [torch.device("cpu")] * n


def _counters() -> Counters:
    if not torch.cuda.is_available():
        return process_counters()
    return Counters(torch.cuda.memory_allocated, torch.cuda.reset_peak_memory_stats, torch.cuda.max_memory_allocated)


# What the program d2l_lab.machine.measuring measures


def _tiny_sum(device: Any) -> Callable[[], Any]:
    x = torch.ones(1, device=device)
    return lambda: x + x


def _product(device: Any, n: int, kind: str) -> Callable[[], None]:
    x = torch.rand(n, n, device=device).to(getattr(torch, kind))
    return _in_all_threads(lambda: synchronize(torch.nn.functional.linear(x, x)))


def _passes(device: Any, size: int) -> dict[str, tuple[Callable[[], None], int]]:
    x = torch.ones(size // 4, device=device)
    y = torch.ones_like(x)
    return {
        "copy": (_in_all_threads(lambda: synchronize(y.copy_(x))), 2),
        "in place": (_in_all_threads(lambda: synchronize(y.mul_(-1))), 2),
    }


def _in_all_threads(function: Callable[[], None]) -> Callable[[], None]:
    """Return a function that computes in the threads of the import, though `devices` may have set another number."""
    here = torch.get_num_threads()
    if here == _threads:
        return function

    def call() -> None:
        torch.set_num_threads(_threads)
        try:
            function()
        finally:
            torch.set_num_threads(here)

    return call


def _gpu_names() -> list[str]:
    return [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
