"""Schemes over sockets beside gloo: `launch(["sockets.py", FILE, RUNS, BYTES…], n)` is a worker of all_reduces.py.

The ranks meet over the file for gloo and over HOSTS for the sockets; the schemes take turns. Rank 0 hands back what
`d2l_utils.collectives.measured` returns.
"""

import sys

import torch
import torch.distributed as dist

from d2l_utils.collectives import SCHEMES, measured
from d2l_utils.launch import hand_back
from d2l_utils.mesh import Mesh


def gloo(mesh, x):
    """Replace the vector by the sum, by the framework."""
    dist.all_reduce(torch.from_numpy(x))


def main(file, runs, *sizes):
    torch.set_num_threads(1)
    with Mesh() as mesh:
        dist.init_process_group("gloo", init_method=f"file://{file}", rank=mesh.rank, world_size=mesh.n)
        found = measured(mesh, SCHEMES | {"gloo": gloo}, [int(size) for size in sizes], int(runs))
        dist.barrier()
        dist.destroy_process_group()
    if mesh.rank == 0:
        hand_back(found)


if __name__ == "__main__":
    main(*sys.argv[1:])
