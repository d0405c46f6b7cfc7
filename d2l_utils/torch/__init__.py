"""What the sections share, for PyTorch: `from d2l_utils import torch as d2l`."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from d2l_lab.instruments.framework import register
from d2l_lab.instruments.memory import process_counters
from d2l_lab.instruments.words import say_line
from d2l_lab.machine.system import cores
from d2l_lab.protocol import Counters
from d2l_utils import common
from d2l_utils.common import *  # noqa: F403 - common.__all__ is the explicit list
from d2l_utils.common import arrays_in

if TYPE_CHECKING:  # imported by __getattr__ when a program runs
    from d2l_utils.torch.collect import recorder  # noqa: F401
    from d2l_utils.torch.networks import *  # noqa: F403

    evaluate_accuracy_gpu: Callable[..., float]  # of d2l_names
else:  # mypy would take a list that it cannot read for an empty one
    __all__ = common.NAMES
__getattr__ = common.on_demand(__name__)
register(sys.modules[__name__])
_threads = min(torch.get_num_threads(), cores())  # PyTorch has counted without a quota when it was imported
torch.set_num_threads(_threads)


def synchronize(*arrays: Any) -> None:
    """Wait until the given arrays are computed; without arguments, until every device of the framework is idle.

    PyTorch computes on a CPU before it returns, so there is nothing to wait for. On a GPU this waits for all streams of
    every device that holds one of the tensors.
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
    return torch.device("cuda", i) if 0 <= i < torch.cuda.device_count() else cpu()


def try_all_gpus() -> list[Any]:
    """Return all GPUs, or a list of the CPU alone if there is none."""
    return [torch.device("cuda", i) for i in range(torch.cuda.device_count())] or [cpu()]


def devices(n: int = 2) -> list[Any]:
    """Return n devices: GPUs if there are n, otherwise stand-ins on the CPU, and print which.

    PyTorch has one CPU device, so the stand-ins are the same device n times: `to` copies nothing between them, and they
    run side by side only in threads or processes of your own. From then on, an operation of the calling thread uses one
    thread on the CPU; any other thread has to call `torch.set_num_threads(1)` itself.
    """
    if n < 1:
        raise ValueError(f"devices takes a number of at least 1, not {n}")
    if torch.cuda.device_count() >= n:
        print(f"{n} GPUs: cuda:0 to cuda:{n - 1}")
        return [torch.device("cuda", i) for i in range(n)]
    torch.set_num_threads(1)
    print(say_line("{n} stand-ins: PyTorch's one CPU device {n} times; each operation computes in one thread", n=n))
    return [cpu()] * n


def cpu() -> Any:
    """Return the CPU, also where there are GPUs."""
    return torch.device("cpu")


def gpu_names() -> list[str]:
    """Return the name of each GPU."""
    return [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]


def memory_counters() -> Counters:
    """Return what counts the bytes in use on the first GPU, or on the CPU if there is none."""
    if not torch.cuda.is_available():
        return process_counters()
    return Counters(torch.cuda.memory_allocated, torch.cuda.reset_peak_memory_stats, torch.cuda.max_memory_allocated)


def tiny_sum(device: Any) -> Callable[[], Any]:
    """Return a function that issues x + x of one number on a device and returns the sum without waiting for it."""
    x = torch.ones(1, device=device)
    return lambda: x + x


def product(device: Any, n: int, kind: str) -> Callable[[], None]:
    """Return a function that computes a product of two n × n arrays on a device and waits for it."""
    x = torch.rand(n, n, device=device).to(getattr(torch, kind))
    return _in_all_threads(lambda: synchronize(torch.nn.functional.linear(x, x)))


def memory_passes(device: Any, size: int) -> dict[str, tuple[Callable[[], object], int]]:
    """Return functions that pass over arrays of `size` bytes, and how many such arrays each reads and writes."""
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
