"""What this machine can do, as measured. All figures are in SI units.

A disturbance can only make a run slower, and a profile says what the machine can do: each figure is the best of several
runs after a warm-up, as in STREAM. Only the time of an operation's dispatch is a median. The compiled loops are those
of the section on hardware; a test keeps both the same. They release Python's lock, so that threads run them side by
side, and the first call of each compiles it.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any

import numpy as np
from numba import njit
from threadpoolctl import threadpool_limits

from d2l_lab.instruments.timing import measure
from d2l_lab.machine.system import cores

WORKING_SETS = [2**14, 2**18, 2**22, 2**26, 2**28]  # bytes: 16 KiB, 256 KiB, 4 MiB, 64 MiB, 256 MiB
RUNS = 5
PASSES = 4  # of the triad over its arrays in a run

Prepare = Callable[[int, str], Callable[[], object]]
Passes = dict[str, tuple[Callable[[], object], int]]


def fastest(function: Callable[[], object]) -> float:
    """Return the seconds of the fastest of several runs, after one to warm up."""
    function()
    seconds = []
    for _ in range(RUNS):
        start = perf_counter()
        function()
        seconds.append(perf_counter() - start)
    return min(seconds)


def triad_bandwidth(threads: int, length: int) -> float:
    """Return the bytes/s that STREAM's triad moves in several threads, over three float64 arrays.

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
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(_touch, parts))
        seconds = fastest(lambda: list(pool.map(_move, parts)))
    return 24 * length * PASSES / seconds


def _touch(part: list[np.ndarray]) -> None:
    for array in part:
        array.fill(1)


def _move(part: list[np.ndarray]) -> None:
    a, b, c = part
    for _ in range(PASSES):
        triad(a, b, c, 3.0)


def latencies(sizes: Sequence[int]) -> list[float]:
    """Return for each size the seconds of a load that the next one waits for.

    Parameters
    ----------
    sizes : sequence of int
        Working sets in bytes, each a power of two and at least 64.
    """
    ring = np.empty(max(sizes) // 8, dtype=np.int64)
    return [_latency(ring, size) for size in sizes]


def _latency(ring: np.ndarray, size: int) -> float:
    """Return the seconds of a load; each run goes on where the last one ended, so that it finds nothing fetched."""
    lay_ring(ring, size)
    steps = 2**21 if size < 2**20 else 2**18
    place = chase(ring, 0, steps)
    seconds = []
    for _ in range(RUNS):
        start = perf_counter()
        place = chase(ring, place, steps)
        seconds.append(perf_counter() - start)
    return min(seconds) / steps


def numpy_product(n: int) -> float:
    """Return the flop/s of NumPy's product of two n × n float32 matrices, with one thread for each usable core.

    By itself the library behind NumPy takes as many threads as OMP_NUM_THREADS says, or else one for each core of the
    machine, also for those that a container's quota withholds.
    """
    x = np.random.default_rng(0).random((n, n), dtype=np.float32)
    y = np.empty_like(x)
    with threadpool_limits(cores(), user_api="blas"):
        return 2 * n**3 / fastest(lambda: np.matmul(x, x, out=y))


def dispatch(add: Callable[[], object], synchronize: Callable[..., object], calls: int = 1000) -> dict[str, float]:
    """Return the median seconds of a tiny operation, by what is waited for.

    Parameters
    ----------
    add : callable
        The operation, which need not wait for its result.
    synchronize : callable
        Waits for the result that it is given.
    calls : int
        How many operations are issued before the wait.

    Returns
    -------
    dict
        ``issue``: one of many that are issued one after another, then waited for; ``wait``: one that is issued and
        waited for alone.
    """

    def issue() -> None:
        for _ in range(calls):
            last = add()
        synchronize(last)

    return {
        "issue": measure(issue, repeats=9, budget=0.5).median / calls,
        "wait": measure(lambda: synchronize(add()), repeats=9, budget=0.5).median,
    }


def product_rates(
    prepare: Prepare, n: int, kinds: Sequence[str], longest: float = 1.0
) -> tuple[dict[str, float], dict[str, str]]:
    """Measure products of two n × n matrices, by number type.

    Parameters
    ----------
    prepare : callable
        `prepare(n, kind)` returns a function that computes one product and waits for it.
    n : int
        The size of the matrices.
    kinds : sequence of str
        Number types, such as "float32".
    longest : float
        A product of another type than float32 that lasts as many seconds or more is left out, and so is a type that
        the framework has not (NotImplementedError). float32 stays, on a busy machine too.

    Returns
    -------
    tuple
        The flop/s of each type that is there and fast, and for each other type than float32 whose product failed the
        error in a line.
    """
    rates, failed = {}, {}
    for kind in kinds:
        if kind == "float32":
            rates[kind] = 2 * n**3 / _product_seconds(prepare(n, kind))
            continue
        try:
            seconds = _seconds_unless_slow(prepare, n, kind, longest)
        except NotImplementedError:
            continue
        except Exception as error:  # a framework raises what it likes, for a type that it lacks and for want of memory
            failed[kind] = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            continue
        if seconds < longest:
            rates[kind] = 2 * n**3 / seconds
    return rates, failed


def _seconds_unless_slow(prepare: Prepare, n: int, kind: str, longest: float) -> float:
    """Return the seconds of a product; infinity if a small one shows that it would take far too long."""
    small = min(measure(prepare(n // 8, kind), repeats=3, budget=0.1).seconds)
    if small * 8**3 > 4 * longest:  # small products take up to four times as long for each flop
        return float("inf")
    return _product_seconds(prepare(n, kind))


def _product_seconds(product: Callable[[], object]) -> float:
    return min(measure(product, repeats=5, budget=0.3).seconds)


def array_sizes(caches: Sequence[dict[str, Any]]) -> dict[str, int]:
    """Return the bytes of an array for each level of the memory, for `bandwidths`.

    "L2": half of one core's L2. "L3": a quarter of the L3, at least four times the L2, at most half of the L3, and
    32 MiB at most. "memory": four times the L3, 256 MiB at most; a very large L3 holds that too.

    Parameters
    ----------
    caches : sequence of dict
        As `d2l_lab.machine.system.caches` returns them; where a level is missing, its array has 256 KiB, 8 MiB or
        256 MiB.
    """
    found = {cache["level"]: cache["bytes"] for cache in caches if cache["kind"] != "instruction"}
    sizes = {"L2": 2**18, "L3": 2**23, "memory": 2**28}
    if 2 in found:
        sizes["L2"] = found[2] // 2
    if 3 in found:
        sizes["L3"] = min(max(4 * found.get(2, 0), found[3] // 4), found[3] // 2, 2**25)
        sizes["memory"] = min(4 * found[3], 2**28)
    return sizes


def bandwidths(passes: Callable[[int], Passes], sizes: dict[str, int]) -> dict[str, dict[str, float]]:
    """Return the bytes/s that a framework's operations move, by the level of the memory and by operation.

    The time of the same operation on an array of one number is taken off, but never more than nine tenths of the
    whole: what remains is that of the bytes.

    Parameters
    ----------
    passes : callable
        `passes(size)` returns for "copy" and "in place" a function that works on arrays of so many bytes and waits,
        and how many times as many bytes it reads and writes.
    sizes : dict
        The bytes of an array for each level.

    Returns
    -------
    dict
        {level: {"bytes", "copy", "in place"}}.
    """
    tiny = {name: _shortest(function) for name, (function, _) in passes(4).items()}
    found: dict[str, dict[str, float]] = {level: {"bytes": size} for level, size in sizes.items()}
    for level, size in [*sizes.items()] * 2:  # twice, seconds apart: a disturbance seldom lasts that long
        for name, (function, times) in passes(size).items():
            seconds = _shortest(function)
            rate = times * size / max(seconds - tiny[name], seconds / 10)
            found[level][name] = max(rate, found[level].get(name, 0))
    return found


def _shortest(function: Callable[[], object]) -> float:
    return min(measure(function, repeats=9, budget=0.5).seconds)


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
