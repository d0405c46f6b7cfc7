"""What this machine can do without a framework: its memory and NumPy. All figures are in SI units.

The compiled loops are those of the section on hardware; a test keeps both the same. They release Python's lock, so that
threads run them side by side, and the first call of each compiles it.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit
from threadpoolctl import ThreadpoolController

from d2l_lab.machine.rounds import Figure
from d2l_lab.machine.system import cores

WORKING_SETS = [2**14, 2**18, 2**22, 2**26, 2**28]  # bytes: 16 KiB, 256 KiB, 4 MiB, 64 MiB, 256 MiB
PASSES = 4  # of the triad over its arrays in a call


def triad_bandwidth(threads: int, length: int) -> Figure:
    """Return the figure of STREAM's triad in several threads, over three float64 arrays, in bytes/s.

    As STREAM does, each thread touches its part of the arrays first, so that the pages lie near to it, and 24 bytes
    count for each element: the line of `a` that the processor may fetch before it writes to it is left out.

    Parameters
    ----------
    threads : int
        How many threads share the arrays.
    length : int
        The number of elements of each array.
    """
    arrays = [np.empty(length) for _ in range(3)]
    parts = []
    for i in range(threads):
        start, end = length * i // threads, length * (i + 1) // threads
        parts.append([array[start:end] for array in arrays])
    pool = ThreadPoolExecutor(threads)  # its threads end with the figure
    list(pool.map(_touch, parts))
    return Figure(lambda: list(pool.map(_move, parts)), lambda seconds: 24 * length * PASSES / seconds)


def _touch(part: list[np.ndarray]) -> None:
    for array in part:
        array.fill(1)


def _move(part: list[np.ndarray]) -> None:
    a, b, c = part
    for _ in range(PASSES):
        triad(a, b, c, 3.0)


def all_cores_bandwidth() -> Figure:
    """Return the triad's figure on all cores: 64 MiB an array or, where many cores share it, 8 MiB for each of them.

    So no part fits into a core's caches.
    """
    return triad_bandwidth(cores(), max(2**23, cores() * 2**20))


def latency(size: int) -> Figure:
    """Return the figure of a load that the next one waits for, in seconds.

    Each call goes on where the last one ended, so that it finds nothing fetched.

    Parameters
    ----------
    size : int
        The working set in bytes, a power of two and at least 64.
    """
    ring, place = np.empty(size // 8, dtype=np.int64), 0
    lay_ring(ring, size)
    steps = 2**21 if size < 2**20 else 2**18

    def follow() -> None:
        nonlocal place
        place = chase(ring, place, steps)

    return Figure(follow, lambda seconds: seconds / steps)


def numpy_product(n: int) -> Figure:
    """Return the figure of NumPy's product of two n × n float32 matrices with a thread for each usable core, in flop/s.

    By itself the library behind NumPy takes as many threads as OMP_NUM_THREADS says, or else one for each core of the
    machine, also for those that a container's quota withholds.
    """
    x = np.random.default_rng(0).random((n, n), dtype=np.float32)
    y, libraries = np.empty_like(x), ThreadpoolController()

    def multiply() -> None:
        with libraries.limit(limits=cores(), user_api="blas"):
            np.matmul(x, x, out=y)

    return Figure(multiply, lambda seconds: 2 * n**3 / seconds)


@njit(nogil=True)
def triad(a: np.ndarray, b: np.ndarray, c: np.ndarray, s: float) -> None:
    """Set a = b + s · c, STREAM's fourth kernel: 2 flops and 3 words moved for each element. Arrays of one length."""
    for i in range(a.size):
        a[i] = b[i] + s * c[i]


@njit(nogil=True)
def chase(ring: np.ndarray, place: int, steps: int) -> int:
    """Follow the ring for so many steps and return the place: each load waits for the one before it.

    No bounds are checked: `place` is that of a line which `lay_ring` has laid.
    """
    for _ in range(steps):
        place = ring[np.uint64(place)]  # no sign, so that numba looks for no negative place
    return place


@njit(nogil=True)
def lay_ring(ring: np.ndarray, size: int) -> None:
    """Lay one cycle over all 64-byte lines in the first `size` bytes of `ring`, an array of int64, in a mixed order.

    `size` is a power of two, from 64 to the bytes of the ring; no bounds are checked. A linear congruential sequence
    visits each line once before it repeats (Hull and Dobell 1962: odd increment, multiplier one more than a multiple
    of 4), so that no table of random numbers is needed.
    """
    lines = size // 64
    for line in range(lines):
        ring[8 * line] = 8 * ((1_664_525 * line + 1_013_904_223) & (lines - 1))
