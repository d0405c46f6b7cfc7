"""The memory that a function needs: its peak, what its result keeps, and the course in between.

What is counted is up to `Counters`: a framework's own, or those of the C library.
"""

import ctypes
import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter, sleep
from typing import Any, NamedTuple

import psutil

from d2l_utils.framework import framework

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # numbers of glibc's malloc.h
LARGE, KEPT = 2**25, 2**30


class Memory(NamedTuple):
    """Bytes above those in use when a function was called: at most while it ran, and while its result is still held."""

    peak: int
    kept: int


class Counters(NamedTuple):
    """How memory is counted: the bytes in use now and, where there is a record of the peak, its reset and itself."""

    current: Callable[[], int]
    reset: Callable[[], Any] | None = None
    peak: Callable[[], int] | None = None


def resident() -> int:
    """Return the bytes that this process has in physical memory."""
    return int(psutil.Process().memory_info().rss)


def memory_of(function: Callable[[], Any]) -> Memory:
    """Call a function once and return the bytes that it needed: at most, and for its result.

    On a GPU these are bytes of the framework's allocator, with MXNet those taken of the GPU's memory. On a CPU they are
    bytes of TensorFlow's allocator, with the others those that the C library has handed out; where a library does not
    tell, those of the process in physical memory.

    Parameters
    ----------
    function
        Called without arguments; call it once before, so that libraries have what they keep for good.
    """
    return memory_with(framework()._counters(), function, framework().synchronize)


def memory_over_time(function: Callable[[], Any]) -> tuple[list[float], list[int]]:
    """Call a function once and return the course of its memory: seconds, and bytes above those at the start."""
    return course_with(framework()._counters(), function, framework().synchronize)


def memory_with(counters: Counters, function: Callable[[], Any], wait: Callable[[], Any]) -> Memory:
    """Call a function once and return how much memory it needed.

    Parameters
    ----------
    counters
        What counts the bytes.
    function
        Called without arguments. Call it once before, so that threads and libraries have what they keep for good.
    wait
        Called before and after it: returns when everything is computed.
    """
    if counters.reset is None or counters.peak is None:
        _, in_use = course_with(counters, function, wait)
        return Memory(max(in_use), in_use[-1])
    gc.collect()
    _settle(wait)
    counters.reset()
    before = counters.current()
    result = function()
    _settle(wait)
    peak, after = counters.peak(), counters.current()
    del result
    return Memory(max(peak, after) - before, after - before)


def course_with(
    counters: Counters, function: Callable[[], Any], wait: Callable[[], Any]
) -> tuple[list[float], list[int]]:
    """Call a function once and return the course of the memory in use: seconds, and bytes above those at the start.

    A thread reads the counter every 0.1 ms or, while the function holds Python's lock or others the cores, less often;
    the last reading is what the result keeps. The parameters are those of `memory_with`.
    """
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            seconds.append(perf_counter())
            in_use.append(counters.current())
            sleep(1e-4)

    gc.collect()  # before, because the thread that samples cannot run meanwhile
    _settle(wait)
    in_use, seconds = [counters.current()], [perf_counter()]
    reader = threading.Thread(target=read)
    reader.start()
    try:
        result = function()
        wait()
    finally:
        done.set()
        reader.join()
    seconds.append(perf_counter())
    _settle(wait)
    in_use.append(counters.current())
    del result
    return [second - seconds[0] for second in seconds], [value - in_use[0] for value in in_use]


def _settle(wait: Callable[[], Any]) -> None:
    """Let everything end that is under way, so that nothing is freed later but counted as in use now."""
    wait()
    sleep(0.01)  # a framework's threads free what nobody refers to any more, a moment later
    wait()


@contextmanager
def freed_memory_kept() -> Iterator[None]:
    """Let glibc keep what the process frees, for the next arrays; afterwards up to 64 MiB, as far as it goes by itself.

    Otherwise it depends on the order of sizes and on chance whether a training step's arrays lie in pages that the
    process has, or wait for new ones. Arrays above 32 MiB have pages of their own. Other C libraries are left alone.
    """
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallopt"):
        yield
        return
    libc.mallopt(M_MMAP_THRESHOLD, LARGE)
    libc.mallopt(M_TRIM_THRESHOLD, KEPT)
    try:
        yield
    finally:
        libc.mallopt(M_TRIM_THRESHOLD, 2 * LARGE)


class _Mallinfo(ctypes.Structure):
    """What glibc's mallinfo2 returns: the bytes in use are those in the heaps (uordblks) and beside them (hblkhd)."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def process_counters() -> Counters:
    """Return counters of the bytes that glibc has handed out; those of physical memory with another C library.

    They tell more than physical memory: a process keeps pages that it has freed, and takes them again unseen.
    """
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallinfo2"):
        return Counters(resident)
    libc.mallinfo2.restype = _Mallinfo

    def handed_out() -> int:
        info = libc.mallinfo2()
        return int(info.uordblks + info.hblkhd)

    return Counters(handed_out)
