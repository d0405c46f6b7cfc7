"""The step of steps.py under DistributedDataParallel: rank 0 of 2 also runs the section's, while rank 1 waits."""

import os
import sys

import torch
import torch.distributed as dist
from steps import REPEATS, STILL, WARM_UP, race, section, turned
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from d2l_utils import torch as d2l


def shared(rank, device, names):
    """Return the halves of rank 0's minibatch, and its learning rate, on both ranks."""
    batch = [(names["X"], names["y"], names["lr"]) if names else None]
    dist.broadcast_object_list(batch)
    X, y, lr = batch[0]
    return X.chunk(2)[rank].to(device), y.chunk(2)[rank].to(device), lr


def builder(device, X, y, names):
    def build(lr):
        model = d2l.build_lenet().to(device)
        if names:  # rank 0, whose parameters the constructor below sends to rank 1
            with torch.no_grad():
                for param, value in zip(model.parameters(), turned(names["init_lenet"]()), strict=True):
                    param.copy_(value)
        replica = DistributedDataParallel(model, device_ids=[device] if device.type == "cuda" else None)
        optimizer, loss = torch.optim.SGD(replica.parameters(), lr), nn.CrossEntropyLoss()

        def step():
            optimizer.zero_grad()
            loss(replica(X), y).backward()
            optimizer.step()
            if device.type == "cuda":
                torch.cuda.synchronize(device)

        return step, lambda: [param.detach().cpu() for param in turned(model.parameters())]

    return build


def follow(build, lr):
    """Make on rank 1 the steps that `race` makes on rank 0."""
    for rate, steps in ((lr, 1), (STILL, WARM_UP + REPEATS)):
        step, _ = build(rate)
        for _ in range(steps):
            dist.barrier()
            step()


def main(file):
    torch.set_num_threads(1)
    rank, gpus = int(os.environ["RANK"]), torch.cuda.device_count() >= 2
    device = torch.device("cuda", rank) if gpus else torch.device("cpu")
    if gpus:
        torch.cuda.set_device(device)
    names = None if rank else section("pytorch")
    dist.init_process_group("nccl" if gpus else "gloo", init_method=f"file://{file}", rank=rank, world_size=2)
    X, y, lr = shared(rank, device, names)
    build = builder(device, X, y, names)
    if rank:
        follow(build, lr)
    else:
        race(names, build, ready=dist.barrier)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
