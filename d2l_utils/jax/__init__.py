"""What the sections share, for JAX: `from d2l_utils import jax as d2l`."""

from contextlib import suppress

import jax

from d2l_utils import common
from d2l_utils.common import *  # noqa: F403 - common.__all__ is the explicit list
from d2l_utils.common import arrays_in
from d2l_utils.jax.networks import build_lenet, load_images, resnet18, train_step
from d2l_utils.jax.training import (
    accuracy,
    evaluate_accuracy_gpu,
    evaluate_accuracy_gpus,
    load_data_digits,
    load_data_fashion_mnist,
    sgd,
    split_batch,
)
from d2l_utils.machine.profile import profile_for

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

    An argument is an array or a tree of arrays, such as nested lists or the state of a network; TypeError if it holds
    none. JAX has no barrier for a device. Without arguments this waits for every array that is still referred to, for
    side effects, and for a small addition behind the queue of each device. A result that was thrown away is waited
    for only where the device works in order: a GPU does, and so does the CPU for what one thread has issued.
    """
    for argument in arrays:
        jax.block_until_ready(arrays_in(jax.tree.leaves(argument), jax.Array))
    if not arrays:
        jax.block_until_ready([array for array in jax.live_arrays() if not array.is_deleted()])
        jax.effects_barrier()
        jax.block_until_ready([jax.device_put(0, device) + 1 for device in jax.local_devices()])


def try_gpu(i=0):
    """Return GPU i if it exists, otherwise the CPU."""
    gpus = _gpus()
    return gpus[i] if 0 <= i < len(gpus) else jax.local_devices(backend="cpu")[0]


def try_all_gpus():
    """Return all GPUs, or a list of the CPU alone if there is none."""
    return _gpus() or jax.local_devices(backend="cpu")[:1]


def devices(n=2):
    """Return n devices: GPUs if there are n, otherwise stand-ins on the CPU, and print which.

    The stand-ins are JAX's CPU devices. They must be made before JAX starts, that is before the first array;
    RuntimeError afterwards. They share JAX's threads: a large operation on one of them may use several.
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
    print(f"{n} stand-ins: CPU devices 0 to {n - 1} of JAX; they share its threads")
    return cpus[:n]


def your_machine():
    """Return what this machine can do: the profile that is measured once and kept.

    Where nothing is kept this takes some seconds; RuntimeError if the machine cannot be measured.
    See `d2l_utils.machine.profile.profile_for` for what it holds. On the CPU the products use JAX's threads; the tiny operation
    is x + x of one number, on the first GPU if there is one.
    """
    return profile_for("jax")


# What the program d2l_utils.machine.measuring measures


def _tiny_sum(device):
    x = jax.device_put(jax.numpy.ones(1), device)
    return lambda: x + x


def _product(device, n, kind):
    with jax.default_device(device):
        x = jax.random.uniform(jax.random.key(0), (n, n)).astype(kind)
    x = jax.device_put(x, device)  # commits it: the product of an array that is not would run on the default device
    return lambda: synchronize(x @ x)


def _copy(device, size):
    x = jax.device_put(jax.numpy.ones(size // 4), device)
    return lambda: synchronize(-x)  # a negation moves as many bytes as a copy


def _gpu_names():
    return [gpu.device_kind for gpu in _gpus()]


def _gpus():
    return [device for device in jax.local_devices() if device.platform == "gpu"]
