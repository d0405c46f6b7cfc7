"""A ring all-reduce between processes, written from scratch over torch.distributed's point-to-point messages.

`launch(["ring.py", FILE, RUNS, ELEMENTS…], n)` is the worker of all_reduces.py: n ranks meet over the file, check this
ring and `dist.all_reduce` at each number of float32 elements, and time both. Each returns {elements: {name: [s]}}.
"""

import os
import sys
from functools import partial

import torch
import torch.distributed as dist
from turns import take_turns, timed

from d2l_lab.processes.job import return_value

PIECE = 2**18  # elements: 1 MiB, which the second cache keeps from its arrival to its addition
WARM_UP = 5


class Ring:
    """The all-reduce of one contiguous tensor, with its views, messages and scratch space made beforehand.

    Each rank cuts the tensor into n chunks. In n − 1 steps partial sums of chunks go to the right neighbour and grow,
    the reduce-scatter; in n − 1 more the whole sums go round, the all-gather. Chunks travel in pieces: what has
    arrived of one step leaves in the next one while the rest is still on its way.
    """

    def __init__(self, x):
        rank, n = dist.get_rank(), dist.get_world_size()
        count = max(1, round(x.numel() / n / PIECE))
        chunks = [chunk.tensor_split(count) for chunk in x.view(-1).tensor_split(n)]
        scratch = [torch.empty_like(piece) for piece in chunks[0]]  # chunk 0 is the longest
        self.steps = []  # of each step, for each piece: its two messages, and what to add to what
        for step in range(2 * (n - 1)):
            adds = step < n - 1
            leaving, coming = chunks[(rank - step) % n], chunks[(rank - step - 1) % n]
            pieces = []
            for out, into, space in zip(leaving, coming, scratch, strict=True):
                space = space[: len(into)] if adds else into
                messages = [dist.P2POp(dist.isend, out, (rank + 1) % n)] if len(out) else []
                messages += [dist.P2POp(dist.irecv, space, (rank - 1) % n)] if len(into) else []
                pieces.append((messages, into, space if adds else None))
            self.steps.append(pieces)

    def __call__(self):
        """Replace the tensor by the sum over all ranks."""
        first, *rest = self.steps
        requests = [exchange(messages) for messages, *_ in first]
        for step, following in zip(self.steps, [*rest, None], strict=True):
            for i, (_, into, arrived) in enumerate(step):
                for request in requests[i]:
                    request.wait()
                if arrived is not None:
                    into += arrived
                if following:
                    requests[i] = exchange(following[i][0])


def exchange(messages):
    return dist.batch_isend_irecv(messages) if messages else []


def check(x, reduce):
    """Assert that a reduction leaves the true sum of what differs by rank and by place; small integers, so exactly."""
    rank, n = dist.get_rank(), dist.get_world_size()
    place = torch.arange(x.numel(), device=x.device) % 1000
    x.copy_(place + rank)
    reduce()
    assert torch.equal(x, (n * place + n * (n - 1) // 2).float()), f"rank {rank} of {n}: not the sum"


def seconds(x, reduce):
    """Return the time of one reduction, begun by all ranks at once."""
    x.fill_(1)
    dist.barrier()
    finish(x)
    return timed(lambda: (reduce(), finish(x)))


def finish(x):
    if x.is_cuda:
        torch.cuda.synchronize(x.device)


def main(file, runs, *counts):
    torch.set_num_threads(1)
    rank, n = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    gpus = torch.cuda.device_count() >= n
    device = torch.device("cuda", rank) if gpus else torch.device("cpu")
    if gpus:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if gpus else "gloo", init_method=f"file://{file}", rank=rank, world_size=n)
    found = {}
    for count in map(int, counts):
        x = torch.empty(count, device=device)
        candidates = {"ring": Ring(x), "framework": lambda x=x: dist.all_reduce(x)}
        for reduce in candidates.values():
            check(x, reduce)
        turns = {name: partial(seconds, x, reduce) for name, reduce in candidates.items()}
        found[count] = {name: times[WARM_UP:] for name, times in take_turns(turns, WARM_UP + int(runs)).items()}
    return_value(found)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
