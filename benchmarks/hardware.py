"""Measure the section on hardware: `benchmarks/hardware.py [--quick]`, in PyTorch's environment, with a C compiler.

Sets the triad and the chase of d2l_lab.machine.probes beside hardware.c, on the same arrays, and PyTorch's product
beside the other BLAS at hand and the peak, which is measured too. Candidates take turns within one run, in an order
drawn by lot. Ends with status 1 when a ratio misses its bounds by the medians of the rounds and by the best rounds.
"""

import ctypes
import os
import platform
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from turns import load, take_turns, timed

from d2l_lab.machine.probes import chase, lay_ring, triad
from d2l_lab.machine.system import cores

QUICK = "--quick" in sys.argv[1:]  # smaller and shorter, to try the program
SECONDS = {"triad": 8, "product": 16, "chase": 2}  # of taking turns; chase: at each size
SIZES = (1024, 2048, 4096)  # of the matrices, of which each product may choose
RING = 2**28  # bytes, far beyond what a core finds in its caches
CONTROLS = (2**15, 2**20)  # bytes, within the first and the second cache of most machines
if QUICK:
    SECONDS, SIZES, RING = dict.fromkeys(SECONDS, 0.05), (256, 512), 2**22
TYPES = dict(zip("pdfli", (ctypes.c_void_p, ctypes.c_double, ctypes.c_float, ctypes.c_long, ctypes.c_int), strict=True))
ARGUMENTS = {"triads": "pppdlii", "chase": "pl", "add": "l", "multiply_add": "lff", "alternate": "lllpp"}


def compiled(folder):
    """Compile hardware.c into a library and load it, or say how to get a compiler."""
    compiler, library = shlex.split(os.environ.get("CC", "")) or ["cc"], str(Path(folder, "hardware.so"))
    if not shutil.which(compiler[0]):
        sys.exit(f"no C compiler {compiler[0]}: install one (apt-get install gcc, xcode-select --install) or set CC")
    native = "-mcpu=native" if platform.machine() in ("aarch64", "arm64") else "-march=native"
    command = [*compiler, "-O3", native, "-pthread", "-shared", "-fPIC", "-o", library]
    done = subprocess.run([*command, Path(__file__).with_suffix(".c")], capture_output=True, text=True, timeout=120)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if "error" in line] or [f"exit status {done.returncode}"]
        sys.exit(f"{shlex.join(compiler)} does not compile hardware.c: {said[0]}")
    c = ctypes.CDLL(library)
    for name, letters in ARGUMENTS.items():
        getattr(c, name).argtypes = [TYPES[letter] for letter in letters]
    c.chase.restype = ctypes.c_void_p
    return c


def compare(what, ours, theirs, unit, least=0.0, most=float("inf")):
    """Print how many times as fast ours is as theirs, from lists of seconds; return whether that misses the bounds."""
    median, best = statistics.median(map(float.__truediv__, theirs, ours)), min(theirs) / min(ours)
    missed = not (least <= median <= most or least <= best <= most)
    bounds = f"expected at least {least:.3g}" * (least > 0) + f", at most {most:.3g}" * (most < float("inf"))
    ns = unit == "ns"
    shown = " and ".join(f"{1e9 * s:.3g} ns" if ns else f"{1e-9 / s:.1f} G{unit}" for s in (min(ours), min(theirs)))
    print(f"  {what}: {median:.3f} by medians, {best:.3f} by the best of {len(ours)} ({shown});", end=" ")
    print(f"{bounds}: {'MISSED' if missed else 'yes'}" if bounds else "no bound")
    return missed


def followers(c, ring, size):
    """Lay two cycles over the lines of `size` bytes, that of `lay_ring` and one drawn by lot; return their followers.

    Both stand there as indices for numba and as pointers for C, in other words of the same lines. C starts half a
    cycle away from numba, so that neither finds what the other has just read.
    """

    def follower(step, place, steps=2**16):
        def turn():
            nonlocal place
            start = time.perf_counter()
            place = step(place, steps)
            return (time.perf_counter() - start) / steps

        return turn

    lines, turns = size // 64, {}
    lay_ring(ring, size)
    order = 8 * np.random.default_rng(0).permutation(lines)
    ring[order + 2] = np.roll(order, -1)
    for name, word in (("lay_ring", 0), ("lot", 2)):
        view, base = ring[word:], ring[word + 1 :].ctypes.data
        ring[word + 1 : 8 * lines : 8] = base + 8 * ring[word : 8 * lines : 8]
        half = c.chase(base, lines // 2)
        assert half == base + 8 * chase(view, 0, lines // 2), "numba and C follow the same ring"
        turns["numba", name] = follower(lambda place, steps, view=view: chase(view, place, steps), 0)
        turns["C", name] = follower(c.chase, half)
    return turns


def loads(c, ring):
    """Compare dependent loads in numba and in C, in lay_ring's order and in one drawn by lot; return the misses."""
    print("Dependent loads")
    missed, equal = 0, ("ns", 0.9, 1 / 0.9)
    for size in (*CONTROLS, RING):
        found = take_turns(followers(c, ring, size), seconds=SECONDS["chase"])
        laid = found["C", "lay_ring"]
        missed += compare(f"numba / C, {size >> 10} KiB", found["numba", "lay_ring"], laid, *equal)
        missed += compare(f"lay_ring / lot, {size >> 10} KiB, in C", laid, found["C", "lot"], *equal)
    return missed


def triads(c, words, pool):
    """Compare numba's triad with STREAM's, on one core and on all; return the misses."""
    words -= words % (8 * cores())
    ends = [words // cores() * i for i in range(cores() + 1)]
    arrays, parts = [np.empty(words) for _ in range(3)], [slice(*both) for both in pairwise(ends)]
    for array, value in zip(arrays, (0, 1, 2), strict=True):  # each thread touches first what it will work on
        list(pool.map(lambda part, array=array, value=value: array[part].fill(value), parts))

    def numba(threads):
        work = [slice(None)] if threads == 1 else parts
        list(pool.map(lambda part: triad(*(array[part] for array in arrays), 3.0), work))

    def stream(threads, past_cache):
        c.triads(*(array.ctypes.data for array in arrays), 3.0, words, threads, past_cache)

    def second(function, *arguments):  # the first call wakes the threads, and the system gives each a core
        function(*arguments)
        return timed(function, *arguments) / (24 * words)

    candidates, missed = {}, 0
    for threads in {1, cores()}:
        ways = {"numba": (numba, threads), "C": (stream, threads, 0), "past cache": (stream, threads, 1)}
        for name, way in ways.items():
            arrays[0].fill(0)
            second(*way)
            assert (arrays[0] == 7).all(), f"{name} computes b + s c"
            candidates[name, threads] = lambda way=way: second(*way)
    print(f"Triad of three arrays of {8 * words >> 20} MiB (24 B an element, as STREAM counts; 32 B move where a store")
    print("  first reads its line, which the compiler's stores do and non-temporal ones do not)")
    found = take_turns(candidates, seconds=SECONDS["triad"])
    for threads in sorted({1, cores()}):
        ours, theirs, past = (found[name, threads] for name in ("numba", "C", "past cache"))
        missed += compare(f"numba / C, threads: {threads}", ours, theirs, "B/s", 0.9)
        compare(f"C with non-temporal stores (on x86) / C, threads: {threads}", past, theirs, "B/s")
    return missed


def peak(c):
    """Compare multiply-adds in C with lanes × units × 2 × the clock under this work; return whether that is missed.

    No system tells the number of units: it is the whole number that fits best.
    """
    lanes, sums, turns, long, short = c.lanes(), c.sums(), 400, 20_000, 400
    multiplying, adding = np.empty(turns), np.empty(turns)
    c.alternate(turns, long, short, multiplying.ctypes.data, adding.ctypes.data)
    cycle, flop = adding / (64 * short), multiplying / (2 * sums * lanes * long)  # seconds, in each turn
    found, clock = np.median(cycle / flop), max(64 * long / timed(c.add, long) for _ in range(turns))
    units = max(1, round(found / lanes / 2))
    print(f"Product in float32 ({1e-9 / np.median(cycle):.2f} GHz under multiply-adds, up to {clock / 1e9:.2f} else)")
    print(f"  flops a cycle: {lanes} lanes × {units} units × 2 = {2 * lanes * units}, measured {found:.1f};", end=" ")
    print("units is the whole number that fits best")
    expected = (cycle / (2 * lanes * units)).tolist()
    return compare("multiply-adds in C / lanes × units × 2 × clock", flop.tolist(), expected, "flop/s", 0.95, 1.05)


def products(c, pool):
    """Compare PyTorch's product with NumPy's and oneDNN's, and with the peak; return the misses."""
    pairs, most = [torch.rand(2, n, n) for n in SIZES], torch.get_num_threads()
    libraries = [ctypes.CDLL(str(path)) for path in Path(np.__file__).parents[1].glob("numpy.libs/*openblas*")]
    set_numpy = getattr(libraries[0], "scipy_openblas_set_num_threads64_", None) if libraries else None
    ways = {
        "PyTorch": torch.matmul,
        "oneDNN": lambda a, b: torch.conv2d(b[None, :, :, None], a[:, :, None, None])[0, :, :, 0],
        "NumPy": lambda a, b: torch.from_numpy(a.numpy() @ b.numpy()),
    }

    def multiply(way, threads):
        torch.set_num_threads(threads)
        if set_numpy:
            set_numpy(threads)
        way(*pairs[0][:, :256, :256])  # wakes the threads
        return min(timed(way, *pair) / (2 * len(pair[0]) ** 3) for pair in pairs)

    def multiply_add(threads, times=2_000_000):
        def work():
            list(pool.map(lambda _: c.multiply_add(times, 0.5, 1), range(threads)))

        return min(timed(work) for _ in range(9)) / (2 * threads * times * c.sums() * c.lanes())

    candidates, missed = {}, peak(c)
    for threads in {1, most}:
        candidates["peak", threads] = lambda threads=threads: multiply_add(threads)
        for name, way in ways.items():
            assert torch.allclose(way(*pairs[0]), torch.matmul(*pairs[0]), rtol=1e-4), name
            if set_numpy or threads == most or name != "NumPy":
                candidates[name, threads] = lambda way=way, threads=threads: multiply(way, threads)
    found = take_turns(candidates, seconds=SECONDS["product"])
    torch.set_num_threads(most)
    for threads in sorted({1, most}):
        ours, rest = found["PyTorch", threads], [name for name in ("NumPy", "oneDNN") if (name, threads) in found]
        other = min(rest, key=lambda name, threads=threads: min(found[name, threads]))
        missed += compare(f"PyTorch / {other}, threads: {threads}", ours, found[other, threads], "flop/s", 0.9)
        compare(f"PyTorch / multiply-adds in C, threads: {threads}", ours, found["peak", threads], "flop/s")
    return missed


def main():
    """Print all comparisons; return whether one misses its bounds, which --quick does not ask."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(cores()) as pool:
        c, ring = compiled(folder), np.zeros(RING // 8 + 8, np.int64)
        ring = ring[-ring.ctypes.data // 8 % 8 :]  # from the beginning of a line on
        parts = [(loads, ring), (triads, RING // 16, pool), (products, pool)]
        # A part that misses is measured again, up to twice: neighbours may have been at work.
        tries = 1 if QUICK else 3
        missed = sum(all(measure(c, *arguments) for _ in range(tries)) for measure, *arguments in parts)
    print(f"parts that missed: {missed}; {load()}")
    return bool(missed) and not QUICK


if __name__ == "__main__":
    sys.exit(main())
