"""What the sections share, for PyTorch: `from d2l_utils import torch as d2l`."""

import torch

from d2l_utils import common
from d2l_utils.common import *  # noqa: F403 - common.__all__ is the explicit list
from d2l_utils.common import arrays_in
from d2l_utils.machine.profile import profile_for
from d2l_utils.torch.networks import build_lenet, load_images, resnet18, train_step
from d2l_utils.torch.training import (
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

    An argument is a tensor, or nested lists, tuples and dictionaries that hold some; TypeError if it holds none.
    PyTorch computes on a CPU before it returns, so that there is nothing to wait for. On a GPU this waits for all
    streams of every device that holds one of the tensors.
    """
    used = {tensor.device for argument in arrays for tensor in arrays_in(argument, torch.Tensor)}
    if not arrays:
        used = {torch.device("cuda", i) for i in range(torch.cuda.device_count())}
    for device in used:
        if device.type == "mps":
            torch.mps.synchronize()
        elif device.type == "cuda":
            torch.cuda.synchronize(device)


def try_gpu(i=0):
    """Return GPU i if it exists, otherwise the CPU."""
    return torch.device("cuda", i) if 0 <= i < torch.cuda.device_count() else torch.device("cpu")


def try_all_gpus():
    """Return all GPUs, or a list of the CPU alone if there is none."""
    return [torch.device("cuda", i) for i in range(torch.cuda.device_count())] or [torch.device("cpu")]


def devices(n=2):
    """Return n devices: GPUs if there are n, otherwise stand-ins on the CPU, and print which.

    PyTorch has one CPU device, so the stand-ins are n times the same: `to` copies nothing between them, and they run
    side by side only in threads or processes of your own. From then on an operation of the calling thread uses one
    thread on the CPU; another thread of your own says `torch.set_num_threads(1)` for itself.
    """
    if n < 1:
        raise ValueError(f"devices takes a number of at least 1, not {n}")
    if torch.cuda.device_count() >= n:
        print(f"{n} GPUs: cuda:0 to cuda:{n - 1}")
        return [torch.device("cuda", i) for i in range(n)]
    torch.set_num_threads(1)
    print(f"{n} stand-ins: PyTorch's one CPU device {n} times; each operation computes in one thread")
    return [torch.device("cpu")] * n


def your_machine():
    """Return what this machine can do: the profile that is measured once and kept.

    Where nothing is kept this takes some seconds; RuntimeError if the machine cannot be measured.
    See `d2l_utils.machine.profile.profile_for` for what it holds. On the CPU the products use all cores, whatever number of
    threads is set here; the tiny operation is x + x of one number, on the first GPU if there is one.
    """
    return profile_for("torch")


# What the program d2l_utils.machine.measuring measures


def _tiny_sum(device):
    x = torch.ones(1, device=device)
    return lambda: x + x


def _product(device, n, kind):
    x = torch.rand(n, n, device=device).to(getattr(torch, kind))
    return lambda: synchronize(x @ x)


def _copy(device, size):
    x = torch.ones(size // 4, device=device)
    y = torch.empty_like(x)
    return lambda: synchronize(y.copy_(x))


def _gpu_names():
    return [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
