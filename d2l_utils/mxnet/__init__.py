"""What the sections share, for MXNet: `from d2l_utils import mxnet as d2l`."""

import os

import mxnet as mx

from d2l_utils import common
from d2l_utils.common import *  # noqa: F403 - common.__all__ is the explicit list
from d2l_utils.common import arrays_in
from d2l_utils.machine.profile import profile_for
from d2l_utils.mxnet.networks import build_lenet, load_images, resnet18, train_step
from d2l_utils.mxnet.training import (
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

    An argument is an array, or nested lists, tuples and dictionaries that hold some; TypeError if it holds none.
    An array waits for the operations that write to it, and for no other.
    """
    for argument in arrays:
        for array in arrays_in(argument, mx.nd.NDArray):
            array.wait_to_read()
    if not arrays:
        mx.nd.waitall()


def try_gpu(i=0):
    """Return GPU i if it exists, otherwise the CPU."""
    return mx.gpu(i) if 0 <= i < mx.context.num_gpus() else mx.cpu()


def try_all_gpus():
    """Return all GPUs, or a list of the CPU alone if there is none."""
    return [mx.gpu(i) for i in range(mx.context.num_gpus())] or [mx.cpu()]


def devices(n=2):
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
    threads = "each operation computes in one thread" if one else "set OMP_NUM_THREADS=1 for one thread each"
    print(f"{n} stand-ins: cpu(0) to cpu({n - 1}) of MXNet; {threads}")
    return [mx.cpu(i) for i in range(n)]


def your_machine():
    """Return what this machine can do: the profile that is measured once and kept.

    Where nothing is kept this takes some seconds; RuntimeError if the machine cannot be measured.
    See `d2l_utils.machine.profile.profile_for` for what it holds. The products use the threads that OMP_NUM_THREADS allows, one
    in the chapter's kernel, and no bfloat16; the tiny operation is x + x of one number.
    """
    return profile_for("mxnet")


# What the program d2l_utils.machine.measuring measures


def _tiny_sum(device):
    x = mx.np.ones(1, ctx=device)
    return lambda: x + x


def _product(device, n, kind):
    if kind == "bfloat16":
        raise NotImplementedError("MXNet has no product of bfloat16 arrays")
    x = mx.np.random.uniform(size=(n, n), dtype=kind, ctx=device)
    return lambda: synchronize(mx.np.dot(x, x))


def _copy(device, size):
    x = mx.np.ones(size // 4, ctx=device)
    return lambda: synchronize(-x)  # a negation moves as many bytes as a copy


def _gpu_names():
    return [str(mx.gpu(i)) for i in range(mx.context.num_gpus())]
