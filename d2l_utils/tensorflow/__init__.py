"""What the sections share, for TensorFlow: `from d2l_utils import tensorflow as d2l`."""

import tensorflow as tf

from d2l_utils import common
from d2l_utils.common import *  # noqa: F403 - common.__all__ is the explicit list
from d2l_utils.common import arrays_in
from d2l_utils.machine.profile import profile_for
from d2l_utils.tensorflow.networks import build_lenet, load_images, resnet18, train_step
from d2l_utils.tensorflow.training import (
    accuracy,
    evaluate_accuracy_gpu,
    evaluate_accuracy_gpus,
    load_data_digits,
    load_data_fashion_mnist,
    sgd,
    split_batch,
)

__all__ = [
    *common.__all__,
    "synchronize",
    "try_gpu",
    "try_all_gpus",
    "devices",
    "your_machine",
    "accuracy",
    "sgd",
    "split_batch",
    "evaluate_accuracy_gpu",
    "evaluate_accuracy_gpus",
    "resnet18",
    "build_lenet",
    "train_step",
    "load_images",
    "load_data_digits",
    "load_data_fashion_mnist",
]


def synchronize(*arrays):
    """Wait until the given arrays are computed; without arguments, until every device of the framework is idle.

    An argument is a tensor or variable, or nested lists, tuples and dictionaries that hold some; TypeError if it holds
    none. Each is waited for alone: on a CPU at the cost of less than a microsecond, on a GPU at that of fetching one
    number. Operations that TensorFlow only queues (asynchronous eager execution) are waited for as well.
    """
    found = [array for argument in arrays for array in arrays_in(argument, (tf.Tensor, tf.Variable))]
    for array in found:
        if not _wait_on_cpu(array):
            with tf.device(array.device):
                tf.reshape(array, [-1])[:1].numpy()
    if not found:
        tf.test.experimental.sync_devices()


def _wait_on_cpu(array):
    """Wait for a tensor that lies in the CPU's memory and return True; return False for any other array."""
    if "CPU" not in array.device or array.dtype not in (tf.float32, tf.float64, tf.int32, tf.int64, tf.bool):
        return False
    try:
        memoryview(tf.convert_to_tensor(array)).release()  # looking into a tensor's memory waits for it without a copy
    except BufferError:
        array.numpy()  # the operation failed: raises its own error
        raise
    return True


def try_gpu(i=0):
    """Return GPU i if it exists, otherwise the CPU."""
    return tf.device(f"/GPU:{i}" if 0 <= i < len(tf.config.list_physical_devices("GPU")) else "/CPU:0")


def try_all_gpus():
    """Return all GPUs, or a list of the CPU alone if there is none."""
    return [try_gpu(i) for i in range(len(tf.config.list_physical_devices("GPU")))] or [try_gpu()]


def devices(n=2):
    """Return n devices: GPUs if there are n, otherwise stand-ins on the CPU, and print which.

    The stand-ins are TensorFlow's logical CPUs. They must be made before TensorFlow starts, that is before the first
    tensor; RuntimeError afterwards. An operation on one of them uses one thread.
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


def your_machine():
    """Return what this machine can do: the profile that is measured once and kept.

    Where nothing is kept this takes some seconds; RuntimeError if the machine cannot be measured.
    See `d2l_utils.machine.profile.profile_for` for what it holds. On the CPU the products use all cores; the tiny operation is
    x + x of one number, on the first GPU if there is one.
    """
    return profile_for("tensorflow")


# What the program d2l_utils.machine.measuring measures


def _tiny_sum(device):
    with device:
        x = tf.ones(1)
    return lambda: x + x


def _product(device, n, kind):
    with device:
        x = tf.cast(tf.random.uniform((n, n)), kind)
    return lambda: _compute(device, tf.matmul, x, x)


def _copy(device, size):
    with device:
        x = tf.ones(size // 4)
    return lambda: _compute(device, tf.negative, x)  # it moves as many bytes as a copy; tf.identity copies nothing


def _compute(device, operation, *operands):
    with device:
        synchronize(operation(*operands))


def _gpu_names():
    details, gpus = tf.config.experimental.get_device_details, tf.config.list_physical_devices("GPU")
    return [details(gpu).get("device_name", gpu.name) for gpu in gpus]


def _split_cpu(n):
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
