"""What the sections share, for TensorFlow: `from d2l_utils import tensorflow as d2l`."""

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from d2l_lab.instruments.framework import register
from d2l_lab.instruments.memory import Counters, process_counters
from d2l_utils import common
from d2l_utils.common import *  # noqa: F403 - common.__all__ is the explicit list
from d2l_utils.common import arrays_in

if TYPE_CHECKING:  # imported by __getattr__ when a program runs
    from d2l_utils.tensorflow.networks import *  # noqa: F403

__all__ = common.NAMES
__getattr__ = common.on_demand(__name__)
register(sys.modules[__name__])


def synchronize(*arrays: Any) -> None:
    """Wait until the given arrays are computed; without arguments, until every device of the framework is idle.

    Waiting costs less than a microsecond on a CPU, and on a GPU as much as fetching one number. Operations that
    TensorFlow only queues (asynchronous eager execution) are waited for as well.

    Parameters
    ----------
    *arrays
        Tensors and variables, or nested lists, tuples and dictionaries of them.

    Raises
    ------
    TypeError
        If an argument holds none.
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
    return tf.device(f"/GPU:{i}" if 0 <= i < len(tf.config.list_physical_devices("GPU")) else "/CPU:0")


def try_all_gpus() -> list[Any]:
    """Return all GPUs, or a list of the CPU alone if there is none."""
    return [try_gpu(i) for i in range(len(tf.config.list_physical_devices("GPU")))] or [try_gpu()]


def devices(n: int = 2) -> list[Any]:
    """Return n devices: GPUs if there are n, otherwise stand-ins on the CPU, and print which.

    The stand-ins are TensorFlow's logical CPUs. They must be made before TensorFlow starts, that is before the first
    tensor. An operation on one of them uses one thread.

    Raises
    ------
    ValueError
        If n is less than 1.
    RuntimeError
        If TensorFlow has started with fewer CPUs.
    """
    if n < 1:
        raise ValueError(f"devices takes a number of at least 1, not {n}")
    if len(tf.config.list_physical_devices("GPU")) >= n:
        print(f"{n} GPUs: /GPU:0 to /GPU:{n - 1}")
        return [tf.device(f"/GPU:{i}") for i in range(n)]
    _split_cpu(n)
    one = tf.config.threading.get_intra_op_parallelism_threads() == 1
    threads = "each operation computes in one thread" if one else "they share the CPU's threads"
    print(f"{n} stand-ins: logical CPUs 0 to {n - 1} of TensorFlow; {threads}")
    return [tf.device(f"/CPU:{i}") for i in range(n)]


def _counters() -> Counters:
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


# What the program d2l_lab.machine.measuring measures


def _tiny_sum(device: Any) -> Callable[[], Any]:
    with device:
        x = tf.ones(1)
    return lambda: x + x


def _product(device: Any, n: int, kind: str) -> Callable[[], None]:
    with device:
        x = tf.cast(tf.random.uniform((n, n)), kind)
    return lambda: _compute(device, tf.matmul, x, x)


def _passes(device: Any, size: int) -> dict[str, tuple[Callable[[], None], int]]:
    """Return y = y + x for both: no other operation of TensorFlow on a CPU writes into memory that is there already."""
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


def _gpu_names() -> list[str]:
    details, gpus = tf.config.experimental.get_device_details, tf.config.list_physical_devices("GPU")
    return [details(gpu).get("device_name", gpu.name) for gpu in gpus]


def _split_cpu(n: int) -> None:
    """Make n logical CPUs, unless there are as many already."""
    cpu = tf.config.list_physical_devices("CPU")[0]
    if len(tf.config.get_logical_device_configuration(cpu) or [cpu]) >= n > 1:
        return
    try:
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * n)
    except RuntimeError as error:
        if len(tf.config.list_logical_devices("CPU")) < n:
            cure = f"restart the kernel and call devices({n}) before the first tensor"
            raise RuntimeError(f"TensorFlow has started with fewer than {n} CPUs: {cure}") from error
