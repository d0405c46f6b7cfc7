"""What the sections share, for JAX: `from d2l_utils import jax as d2l`."""

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import jax

from d2l_lab.instruments.framework import register
from d2l_lab.instruments.memory import process_counters
from d2l_lab.instruments.words import say_line
from d2l_lab.protocol import Counters
from d2l_utils import common
from d2l_utils.common import *  # noqa: F403 - common.__all__ is the explicit list
from d2l_utils.common import arrays_in

if TYPE_CHECKING:  # imported by __getattr__ when a program runs
    from d2l_utils.jax.collect import recorder  # noqa: F401
    from d2l_utils.jax.networks import *  # noqa: F403

    evaluate_accuracy_gpu: Callable[..., float]  # of d2l_names
else:  # mypy would take a list that it cannot read for an empty one
    __all__ = common.NAMES
__getattr__ = common.on_demand(__name__)
register(sys.modules[__name__])


def synchronize(*arrays: Any) -> None:
    """Wait until the given arrays are computed; without arguments, until every device of the framework is idle.

    JAX has no barrier for a device. Without arguments this waits for every array that is still referred to, for side
    effects, and for a small addition at the end of each device's queue. A result that was thrown away is waited for
    only where the device works in order: a GPU does, and so does the CPU for what one thread has issued. Arrays may
    also be trees of them, such as the state of a network.
    """
    for argument in arrays:
        jax.block_until_ready(arrays_in(jax.tree.leaves(argument), jax.Array))
    if not arrays:
        jax.block_until_ready([array for array in jax.live_arrays() if not array.is_deleted()])
        jax.effects_barrier()
        jax.block_until_ready([jax.device_put(0, device) + 1 for device in jax.local_devices()])


def try_gpu(i: int = 0) -> Any:
    """Return GPU i if it exists, otherwise the CPU."""
    gpus = _gpus()
    return gpus[i] if 0 <= i < len(gpus) else cpu()


def try_all_gpus() -> list[Any]:
    """Return all GPUs, or a list of the CPU alone if there is none."""
    return _gpus() or [cpu()]


def devices(n: int = 2) -> list[Any]:
    """Return n devices: GPUs if there are n, otherwise stand-ins on the CPU, and print which.

    The stand-ins are JAX's CPU devices. They must be made before JAX starts, that is before the first array.
    They share JAX's threads: a large operation on one of them may use several.
    """
    if n < 1:
        raise ValueError(f"devices takes a number of at least 1, not {n}")
    with suppress(RuntimeError):  # JAX has started already: below we see whether it has enough devices
        jax.config.update("jax_num_cpu_devices", max(n, jax.config.jax_num_cpu_devices))
    if len(_gpus()) >= n:
        print(f"{n} GPUs: " + ", ".join(map(str, _gpus()[:n])))
        return _gpus()[:n]
    cpus = jax.local_devices(backend="cpu")
    if len(cpus) < n:
        raise RuntimeError(
            f"JAX has started with fewer than {n} CPU devices: restart the kernel and call devices({n}) "
            "before the first array"
        )
    print(say_line("{n} stand-ins: CPU devices 0 to {last} of JAX; they share its threads", n=n, last=n - 1))
    return cpus[:n]


def cpu() -> Any:
    """Return the CPU, also where there are GPUs."""
    return jax.local_devices(backend="cpu")[0]


def gpu_names() -> list[str]:
    """Return the name of each GPU."""
    return [gpu.device_kind for gpu in _gpus()]


def memory_counters() -> Counters:
    """Return what counts the bytes in use on the first GPU, or on the CPU if there is none."""
    return _gpu_counters(_gpus()[0]) if _gpus() else process_counters()


def _gpu_counters(gpu: Any) -> Counters:
    """Return counters for a record that cannot be reset: an array fills what is free below it, until they are dropped.

    What a function takes then lies above the record. Reading the bytes in use from time to time would not do: a
    compiled function's temporary memory is taken and freed before the GPU has run it.
    """
    filling = []

    def fill() -> None:
        free = gpu.memory_stats()["peak_bytes_in_use"] - gpu.memory_stats()["bytes_in_use"]
        with jax.default_device(gpu):
            filling.append(jax.numpy.zeros(free, "uint8").block_until_ready())

    return Counters(lambda: gpu.memory_stats()["bytes_in_use"], fill, lambda: gpu.memory_stats()["peak_bytes_in_use"])


def tiny_sum(device: Any) -> Callable[[], Any]:
    """Return a function that issues x + x of one number on a device and returns the sum without waiting for it."""
    x = jax.device_put(jax.numpy.ones(1), device)
    return lambda: x + x


def product(device: Any, n: int, kind: str) -> Callable[[], None]:
    """Return a function that computes a product of two n × n arrays on a device and waits for it."""
    with jax.default_device(device):
        x = jax.random.uniform(jax.random.key(0), (n, n)).astype(kind)
    x = jax.device_put(x, device)  # commits it: the product of an array that is not would run on the default device
    return lambda: synchronize(jax.numpy.matmul(x, x))


def memory_passes(device: Any, size: int) -> dict[str, tuple[Callable[[], object], int]]:
    """Return functions that pass over arrays of `size` bytes, and how many such arrays each reads and writes.

    They write into the memory of a donated array; a negation moves as many bytes as a copy.
    """
    x = jax.device_put(jax.numpy.ones(size // 4), device)
    y = jax.device_put(jax.numpy.zeros(size // 4), device)
    negate = jax.jit(lambda y, x: -x, donate_argnums=0, keep_unused=True)
    scale = jax.jit(lambda y: -y, donate_argnums=0)

    def copy() -> None:
        nonlocal y
        y = negate(y, x)
        synchronize(y)

    def in_place() -> None:
        nonlocal y
        y = scale(y)
        synchronize(y)

    return {"copy": (copy, 2), "in place": (in_place, 2)}


def _gpus() -> list[Any]:
    return [device for device in jax.local_devices() if device.platform == "gpu"]
