"""The time of one message between two ranks: `python -m rack.pingpong` with RANK and HOSTS in the environment."""

import json
import statistics
import time

import numpy as np

from d2l_utils.mesh import Mesh

SIZES = [2**k for k in range(10, 20)]  # bytes
REPEATS = 5


def message(mesh, x):
    """Return half the seconds that x takes to the other rank and back."""
    start = time.perf_counter()
    for sends in (mesh.rank == 0, mesh.rank == 1):
        mesh.send(1 - mesh.rank, x) if sends else mesh.receive(1 - mesh.rank, x)
    return (time.perf_counter() - start) / 2


def main():
    times = {size: [] for size in SIZES}
    with Mesh() as mesh:
        for _ in range(REPEATS + 1):
            for size in SIZES:
                x = np.zeros(size, np.uint8)
                mesh.barrier()
                times[size].append(message(mesh, x))
    if mesh.rank == 0:
        print(json.dumps({"bytes": SIZES, "seconds": [statistics.median(t[1:]) for t in times.values()]}))


if __name__ == "__main__":
    main()
