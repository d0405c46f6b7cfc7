"""Algorithms over sockets beside gloo: `launch(["sockets.py", FILE, RUNS, BYTES…], n)` is a worker of all_reduces.py.

The ranks meet over the file for gloo and over HOSTS for the sockets; the algorithms take turns. Rank 0 returns what
`d2l_utils.collectives.measure.measured` does.
"""

import sys

import torch
import torch.distributed as dist

from d2l_utils.collectives.communicator import Communicator
from d2l_utils.collectives.measure import ALGORITHMS, measured
from d2l_utils.jobs.job import return_value


def gloo(comm, x):
    """Replace the vector by the sum, by the framework."""
    dist.all_reduce(torch.from_numpy(x))


def main(file, runs, *sizes):
    torch.set_num_threads(1)
    with Communicator() as comm:
        dist.init_process_group("gloo", init_method=f"file://{file}", rank=comm.rank, world_size=comm.world_size)
        found = measured(comm, ALGORITHMS | {"gloo": gloo}, [int(size) for size in sizes], int(runs))
        dist.barrier()
        dist.destroy_process_group()
    if comm.rank == 0:
        return_value(found)


if __name__ == "__main__":
    main(*sys.argv[1:])
