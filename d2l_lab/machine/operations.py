"""What a framework's own operations do on this machine: their dispatch, their bytes and their flops. SI units."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from d2l_lab.machine.rounds import RUNS, Figure, run, seconds_of
from d2l_lab.protocol import Framework

ISSUED = 1000  # tiny operations, one after another, before the wait for the last
CPU_ROWS, GPU_ROWS = 2000, 8192  # of the square matrices that are multiplied
GPU_ARRAYS = {"L2": 2**23, "memory": 2**29}  # bytes of an array
LONGEST = 1.0  # seconds of a product from which its type of number is left out
TRIES = 2  # of a product that may take so long: the first one warms up
FASTER_IN_LARGE = 4  # times, at most, that a flop of a small product takes as long as one of a large product

Path = tuple[str, ...]  # of a figure in a framework's part of the profile
Prepare = Callable[[int, str], Callable[[], object]]
Passes = dict[str, tuple[Callable[[], object], int]]


def device_and_rows(d2l: Framework, i: int) -> tuple[Any, int]:
    """Return GPU i, or the CPU for -1, and the rows of the matrices that are multiplied there."""
    return (d2l.cpu(), CPU_ROWS) if i < 0 else (d2l.try_gpu(i), GPU_ROWS)


def dispatch(add: Callable[[], Any], synchronize: Callable[..., object]) -> dict[Path, Figure]:
    """Return the figures of a tiny operation, in seconds.

    "issue" is one of many that are issued one after another, then waited for; "wait" is one that is waited for alone.

    Parameters
    ----------
    add : callable
        The operation, which need not wait for its result.
    synchronize : callable
        Waits for the result that it is given.
    """

    def issue() -> None:
        for _ in range(ISSUED):
            last = add()
        synchronize(last)

    return {
        ("dispatch", "issue"): Figure(issue, lambda seconds: seconds / ISSUED),
        ("dispatch", "wait"): Figure(lambda: synchronize(add())),
    }


def bandwidths(passes: Callable[[int], Passes], sizes: dict[str, int]) -> dict[Path, Figure]:
    """Return the figures of operations that move bytes, in bytes/s, by the level of the memory and by operation.

    The time of the same operation on an array of one number is taken off, but never more than nine tenths of the
    whole: what remains is that of the bytes.

    Parameters
    ----------
    passes : callable
        `passes(size)` returns for "copy" and "in place" a function that works on arrays of so many bytes and waits,
        and how many times as many bytes it reads and writes.
    sizes : dict
        The bytes of an array for each level.
    """
    tiny = {name: seconds_of(function) for name, (function, _) in passes(4).items()}
    return {
        ("bandwidth", level, name): Figure(function, rate(times * size, tiny[name]))
        for level, size in sizes.items()
        for name, (function, times) in passes(size).items()
    }


def rate(amount: float, tiny: float = 0.0) -> Callable[[float], float]:
    """Return a function from the seconds of an operation to the rate of an amount, without those of a tiny one."""
    return lambda seconds: amount / max(seconds - tiny, seconds / 10)


def product(prepare: Prepare, n: int, kind: str) -> Figure:
    """Return the figure of a product of two n × n matrices, in flop/s."""
    return Figure(prepare(n, kind), rate(2 * n**3))


def products(prepare: Prepare, n: int, kinds: Iterable[str]) -> tuple[dict[Path, Figure], dict[str, str]]:
    """Return the figures of products of two n × n matrices, by number type.

    float32 has one always. Another type has none if a product takes LONGEST or the framework has no such product
    (NotImplementedError).

    Parameters
    ----------
    prepare : callable
        `prepare(n, kind)` returns a function that computes one product and waits for it.
    n : int
        The size of the matrices.
    kinds : iterable of str
        Number types, such as "float32".

    Returns
    -------
    tuple
        The figures, and for each other type than float32 whose product failed the error in a line.
    """
    figures, failed = dict[Path, Figure](), dict[str, str]()
    for kind in kinds:
        try:
            if kind == "float32" or _is_fast(prepare, n, kind):
                figures["product", kind] = product(prepare, n, kind)
        except NotImplementedError:
            continue
        except Exception as error:  # a framework raises what it likes, for a type that it lacks and for want of memory
            if kind == "float32":
                raise
            failed[kind] = in_a_line(error)
    return figures, failed


def _is_fast(prepare: Prepare, n: int, kind: str) -> bool:
    """Return whether a product can take less than LONGEST; it is not computed if a small one says that it cannot.

    What a type can do does not depend on what disturbs a run: the best of a few decides.
    """
    small, large = (prepare(rows, kind) for rows in (n // 8, n))
    small()
    return min(run(small, 1) for _ in range(RUNS)) * 8**3 < FASTER_IN_LARGE * LONGEST and any(
        run(large, 1) < LONGEST for _ in range(TRIES)
    )


def in_a_line(error: Exception) -> str:
    """Return the type and the message of an error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


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
