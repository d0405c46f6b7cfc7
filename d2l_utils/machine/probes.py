"""What this machine can do, as measured. All figures in SI units.

A disturbance can only make a run slower, and a profile says what the machine can do: each figure is the best of several
runs after a warm-up, as in STREAM. The seconds of an operation's dispatch alone are a median. The compiled loops are
those of the section on hardware; a test keeps both the same. They release Python's lock, so that threads run them side
by side, and the first call of each compiles it.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import pairwise
from time import perf_counter

import numpy as np
from numba import njit

from d2l_utils.timing import measure

WORKING_SETS = [2**14, 2**18, 2**22, 2**26, 2**28]  # bytes: 16 KiB, 256 KiB, 4 MiB, 64 MiB, 256 MiB


def best(function, runs=5):
    """Return the seconds of the fastest of several runs, after one to warm up."""
    function()
    seconds = []
    for _ in range(runs):
        start = perf_counter()
        function()
        seconds.append(perf_counter() - start)
    return min(seconds)


def triad_bandwidth(threads, length):
    """Return the bytes a second that STREAM's triad moves in `threads` threads, over three float64 arrays.

    As STREAM does, each thread touches its part of the arrays first, so that the pages lie near to it, and 24 bytes
    count for each element: the line of `a` that the processor may fetch before it writes to it is left out.
    """
    arrays = [np.empty(length) for _ in range(3)]
    ends = [length * i // threads for i in range(threads + 1)]
    parts = [[array[start:end] for array in arrays] for start, end in pairwise(ends)]
    passes = 4

    def touch(part):
        for array in part:
            array.fill(1)

    def move(part):
        for _ in range(passes):
            triad(*part, 3.0)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(touch, parts))
        seconds = best(lambda: list(pool.map(move, parts)))
    return 24 * length * passes / seconds


def latencies(sizes):
    """Return a list, in the order of `sizes`, of the seconds of a load that the next one waits for.

    The sizes are those of working sets in bytes, each a power of two and at least 64.
    """
    ring, found = np.empty(max(sizes) // 8, dtype=np.int64), []
    for size in sizes:
        lay_ring(ring, size)
        steps, place = 2**21 if size < 2**20 else 2**18, 0

        def walk(steps=steps):
            nonlocal place
            place = chase(ring, place, steps)  # from where the last run ended, so that it finds nothing fetched by it

        found.append(best(walk) / steps)
    return found


def numpy_product(n):
    """Return the flop/s of NumPy's product of two n × n float32 matrices."""
    x = np.random.default_rng(0).random((n, n), dtype=np.float32)
    y = np.empty_like(x)
    return 2 * n**3 / best(lambda: np.matmul(x, x, out=y))


def dispatch(add, synchronize, calls=1000):
    """Return the seconds of one call of `add`, a tiny operation: many are issued one after another, then waited for."""

    def issue():
        for _ in range(calls):
            last = add()
        synchronize(last)

    return measure(issue, repeats=9, budget=0.5).median / calls


def product_rates(prepare, n, kinds, longest=1.0):
    """Return {kind: flop/s} of products of two n × n matrices: of float32 always, of others if they are fast enough.

    `prepare(n, kind)` returns a function that computes one product and waits for it. Left out is a kind for which
    either raises an error, or whose product lasts over `longest` seconds; float32 stays on a busy machine, too.
    """
    rates = {}
    for kind in kinds:
        with suppress(*() if kind == "float32" else (Exception,)):  # a kind that is missing has an error of its own
            probe = min(measure(prepare(n // 8, kind), repeats=3, budget=0.1).seconds)
            # small products are slower for each flop, by a factor of four at most
            if kind == "float32" or probe * 8**3 < 4 * longest:
                seconds = min(measure(prepare(n, kind), repeats=5, budget=0.3).seconds)
                rates |= {kind: 2 * n**3 / seconds} if kind == "float32" or seconds < longest else {}
    return rates


def copy_bandwidth(copy, size):
    """Return the bytes a second that `copy` reads and writes; it copies `size` bytes and waits for that."""
    return 2 * size / min(measure(copy, repeats=5, budget=1.0).seconds)


@njit(nogil=True)
def triad(a, b, c, s):
    """Set a = b + s · c, STREAM's fourth kernel: 2 flops and 3 words moved for each element. Arrays of one length."""
    for i in range(a.size):
        a[i] = b[i] + s * c[i]


@njit(nogil=True)
def chase(ring, place, steps):
    """Follow the ring for so many steps and return the place: each load waits for the one before it.

    No bounds are checked: `place` is that of a line which `lay_ring` has laid.
    """
    for _ in range(steps):
        place = ring[np.uint64(place)]  # no sign, so that numba looks for no negative place
    return place


@njit(nogil=True)
def lay_ring(ring, size):
    """Lay one cycle over all 64-byte lines in the first `size` bytes of `ring`, an array of int64, in a mixed order.

    `size` is a power of two, from 64 to the bytes of the ring; no bounds are checked. A linear congruential sequence
    visits each line once before it repeats (Hull and Dobell 1962: odd increment, multiplier one more than a multiple
    of 4), so that no table of random numbers is needed.
    """
    lines = size // 64
    for line in range(lines):
        ring[8 * line] = 8 * ((1_664_525 * line + 1_013_904_223) & (lines - 1))
