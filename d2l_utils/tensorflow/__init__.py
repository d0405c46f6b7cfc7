"""What the sections share, for TensorFlow: `from d2l_utils import tensorflow as d2l`."""

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from d2l_lab.instruments.framework import register
from d2l_lab.instruments.memory import process_counters
from d2l_lab.instruments.words import say, say_line
from d2l_lab.protocol import Counters
from d2l_utils import common
from d2l_utils.common import *  # noqa: F403 - common.__all__ is the explicit list
from d2l_utils.common import arrays_in

if TYPE_CHECKING:  # imported by __getattr__ when a program runs
    from d2l_utils.tensorflow.collect import recorder  # noqa: F401
    from d2l_utils.tensorflow.networks import *  # noqa: F403

    evaluate_accuracy_gpu: Callable[..., float]  # of d2l_names
else:  # mypy would take a list that it cannot read for an empty one
    __all__ = common.NAMES
__getattr__ = common.on_demand(__name__)
register(sys.modules[__name__])


def synchronize(*arrays: Any) -> None:
    """Wait until the given arrays are computed; without arguments, until every device of the framework is idle.

    Waiting costs less than a microsecond on a CPU, and on a GPU as much as fetching one number. Operations that
    TensorFlow only queues (asynchronous eager execution) are waited for as well. An array is a tensor or a variable.
    """
    found = [array for argument in arrays for array in arrays_in(argument, (tf.Tensor, tf.Variable))]
    for array in found:
        if not _wait_on_cpu(array):
            with tf.device(array.device):
                tf.reshape(array, [-1])[:1].numpy()
    if not found:
        tf.test.experimental.sync_devices()


def _wait_on_cpu(array: Any) -> bool:
    """Wait for a tensor that lies in the CPU's memory and return True; return False for any other array."""
    if "CPU" not in array.device or array.dtype not in (tf.float32, tf.float64, tf.int32, tf.int64, tf.bool):
        return False
    try:
        memoryview(tf.convert_to_tensor(array)).release()  # looking into a tensor's memory waits for it without a copy
    except BufferError:
        array.numpy()  # the operation failed: raises its own error
        raise
    return True


def try_gpu(i: int = 0) -> Any:
    """Return GPU i if it exists, otherwise the CPU."""
    return tf.device(f"/GPU:{i}") if 0 <= i < len(tf.config.list_physical_devices("GPU")) else cpu()


def try_all_gpus() -> list[Any]:
    """Return all GPUs, or a list of the CPU alone if there is none."""
    return [try_gpu(i) for i in range(len(tf.config.list_physical_devices("GPU")))] or [cpu()]


def devices(n: int = 2) -> list[Any]:
    """Return n devices: GPUs if there are n, otherwise stand-ins on the CPU, and print which.

    The stand-ins are TensorFlow's logical CPUs. They must be made before TensorFlow starts, that is before the first
    tensor. An operation on one of them uses one thread.
    """
    if n < 1:
        raise ValueError(f"devices takes a number of at least 1, not {n}")
    if len(tf.config.list_physical_devices("GPU")) >= n:
        print(f"{n} GPUs: /GPU:0 to /GPU:{n - 1}")
        return [tf.device(f"/GPU:{i}") for i in range(n)]
    _split_cpu(n)
    one = tf.config.threading.get_intra_op_parallelism_threads() == 1
    threads = say("each operation computes in one thread") if one else say("they share the CPU's threads")
    print(
        say_line("{n} stand-ins: logical CPUs 0 to {last} of TensorFlow; {threads}", n=n, last=n - 1, threads=threads)
    )
    return [tf.device(f"/CPU:{i}") for i in range(n)]


def cpu() -> Any:
    """Return the CPU, also where there are GPUs."""
    return tf.device("/CPU:0")


def gpu_names() -> list[str]:
    """Return the name of each GPU."""
    details, gpus = tf.config.experimental.get_device_details, tf.config.list_physical_devices("GPU")
    return [details(gpu).get("device_name", gpu.name) for gpu in gpus]


def memory_counters() -> Counters:
    """Return what counts the bytes in use on the first GPU, or on the CPU if there is none."""
    device = "GPU:0" if tf.config.list_physical_devices("GPU") else "CPU:0"
    if device == "CPU:0" and not _cpu_allocator_counts():
        return process_counters()
    information = tf.config.experimental.get_memory_info
    return Counters(
        lambda: information(device)["current"],
        lambda: tf.config.experimental.reset_memory_stats(device),
        lambda: information(device)["peak"],
    )


@cache
def _cpu_allocator_counts() -> bool:
    """Have TensorFlow's CPU allocator count; False if the library has no such function or, without oneDNN, counts 0."""
    libraries = list(Path(tf.sysconfig.get_lib()).glob("libtensorflow_framework.*"))
    try:
        ctypes.CDLL(str(libraries[0]))._ZN3tsl23EnableCPUAllocatorStatsEv()
    except (AttributeError, IndexError):
        return False
    array = tf.zeros(2**16) + 1
    synchronize(array)
    return bool(tf.config.experimental.get_memory_info("CPU:0")["peak"] >= 4 * 2**16)


def tiny_sum(device: Any) -> Callable[[], Any]:
    """Return a function that issues x + x of one number on a device and returns the sum without waiting for it."""
    with device:
        x = tf.ones(1)
    return lambda: x + x


def product(device: Any, n: int, kind: str) -> Callable[[], None]:
    """Return a function that computes a product of two n × n arrays on a device and waits for it."""
    with device:
        x = tf.cast(tf.random.uniform((n, n)), kind)
    return lambda: _compute(device, tf.matmul, x, x)


def memory_passes(device: Any, size: int) -> dict[str, tuple[Callable[[], object], int]]:
    """Return functions that pass over arrays of `size` bytes, and how many such arrays each reads and writes.

    Both compute y = y + x: no other operation of TensorFlow on a CPU writes into memory that is there already.
    """
    with device:
        x = tf.ones(size // 4)
        y = tf.Variable(x)

    def add() -> None:
        y.assign_add(x, read_value=False)
        synchronize(y)

    return {"copy": (add, 3), "in place": (add, 3)}


def _compute(device: Any, operation: Callable[..., Any], *operands: Any) -> None:
    with device:
        synchronize(operation(*operands))


def _split_cpu(n: int) -> None:
    """Make n logical CPUs, unless there are as many already."""
    physical = tf.config.list_physical_devices("CPU")[0]
    if len(tf.config.get_logical_device_configuration(physical) or [physical]) >= n > 1:
        return
    try:
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.set_logical_device_configuration(physical, [tf.config.LogicalDeviceConfiguration()] * n)
    except RuntimeError as error:
        if len(tf.config.list_logical_devices("CPU")) < n:
            cure = f"restart the kernel and call devices({n}) before the first tensor"
            raise RuntimeError(f"TensorFlow has started with fewer than {n} CPUs: {cure}") from error
