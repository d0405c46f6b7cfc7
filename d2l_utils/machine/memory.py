"""The memory that a function needs: its peak, what its result keeps, and the course in between.

What is counted is up to `Counters`: a framework's own, or those of the operating system, which see everything that the
process has in physical memory.
"""

import ctypes
import gc
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, sleep
from typing import Any, NamedTuple

import psutil

from d2l_utils.framework import framework

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # numbers of glibc's malloc.h
SMALL, LARGE, KEPT = 2**16, 2**25, 2**30
HEADER, MAPPED = ctypes.sizeof(ctypes.c_size_t), 2  # a block's size lies before it, with flags in its lowest bits


class Memory(NamedTuple):
    """Bytes above those in use when a function was called: at most while it ran, and while its result is still held."""

    peak: int
    kept: int


class Counters(NamedTuple):
    """How memory in use is counted: forget the peak so far, the bytes in use now, and the peak since."""

    reset: Callable[[], Any]
    current: Callable[[], int]
    peak: Callable[[], int]


def resident() -> int:
    """Return the bytes that this process has in physical memory."""
    return psutil.Process().memory_info().rss if LINUX is None else int(LINUX.read_text().split()[1]) * PAGE


def memory_of(function: Callable[[], Any]) -> Memory:
    """Call a function once and return the bytes that it needed: at most, and for its result.

    On a GPU these are bytes of the framework's allocator, with MXNet those taken of the GPU's memory. On a CPU
    TensorFlow's allocator counts too; PyTorch is counted by the physical memory that the process takes, JAX and MXNet
    by the bytes that the C library has handed out. Where a library does not tell, it is physical memory all the same.

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
    gc.collect()  # before, because the thread that samples cannot run meanwhile
    _settle(wait)
    with _pages_that_go_back():
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

    A thread reads the counter every 0.2 ms or, while the function holds Python's lock, less often; the last reading
    is taken when the function has returned. The parameters are those of `memory_with`.
    """
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            seconds.append(perf_counter())
            in_use.append(counters.current())
            sleep(2e-4)

    gc.collect()  # before, because the thread that samples cannot run meanwhile
    _settle(wait)
    with _pages_that_go_back():
        in_use, seconds = [counters.current()], [perf_counter()]
        reader = threading.Thread(target=read)
        reader.start()
        try:
            result = function()
            wait()
        finally:
            done.set()
            reader.join()
        seconds.append(perf_counter())  # what is kept is seen even if the thread had no turn
        in_use.append(counters.current())
        del result
    return [second - seconds[0] for second in seconds], [value - in_use[0] for value in in_use]


def _settle(wait: Callable[[], Any]) -> None:
    """Let everything end that is under way, so that nothing is freed later but counted as in use now."""
    wait()
    sleep(0.01)  # a framework's threads free what nobody refers to any more, a moment later
    wait()


def _reset_high_water_mark() -> None:
    """Set Linux's record of the largest resident memory back to the present one."""
    Path("/proc/self/clear_refs").write_text("5")


def _high_water_mark() -> int:
    """Return Linux's record of the largest resident memory, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return 1024 * int(line.split()[1])
    raise RuntimeError("/proc/self/status has no line VmHWM")


class _Sampled:
    """The largest value of a counter that has no record of its own, read some thousand times a second."""

    def __init__(self, current: Callable[[], int]) -> None:
        self.current = current
        self.largest = 0
        self.counting = False

    def reset(self) -> None:
        self.largest, self.counting = self.current(), True
        threading.Thread(target=self._count, daemon=True).start()

    def peak(self) -> int:
        self.counting = False
        return self.largest

    def _count(self) -> None:
        while self.counting:
            self.largest = max(self.largest, self.current())
            sleep(1e-4)


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


@contextmanager
def _pages_that_go_back() -> Iterator[None]:
    """Let glibc give each block of 64 KiB or more pages of its own, which go back to the system when it is freed.

    Otherwise freed memory stays with the process, and what a function takes from there is not seen. For the same
    reason, what is free in the heap already is taken out of it meanwhile. Afterwards blocks of up to 32 MiB are reused
    again, which is as far as glibc goes by itself. Other C libraries are left as they are.
    """
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallopt"):
        yield
        return
    libc.malloc.argtypes, libc.malloc.restype = [ctypes.c_size_t], ctypes.c_void_p
    libc.free.argtypes = [ctypes.c_void_p]
    libc.mallopt(M_MMAP_THRESHOLD, SMALL)
    libc.malloc_trim(0)
    taken = _free_blocks(libc)
    try:
        yield
    finally:
        for block in taken:
            libc.free(block)
        libc.mallopt(M_MMAP_THRESHOLD, LARGE)
        libc.mallopt(M_TRIM_THRESHOLD, 2 * LARGE)


def _free_blocks(libc: Any) -> list[int]:
    """Allocate what glibc's heap has free in blocks of 64 KiB or more, without touching it, and return the blocks."""
    blocks: list[int] = []
    size = 2**32
    while size >= SMALL:
        block = libc.malloc(size)
        if block and not ctypes.c_size_t.from_address(block - HEADER).value & MAPPED:
            blocks.append(block)
        else:  # there is none left in the heap: this one has pages of its own, or there was no memory
            libc.free(block)
            size //= 2
    return blocks


class _Mallinfo(ctypes.Structure):
    """What glibc's mallinfo2 returns: the bytes in use are those in the heaps (uordblks) and beside them (hblkhd)."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def handed_out_counters() -> Counters:
    """Return counters of the bytes that glibc has handed out; those of resident memory with another C library.

    They tell more than resident memory where a framework's threads have heaps of their own, which keep freed pages.
    """
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallinfo2"):
        return RESIDENT
    libc.mallinfo2.restype = _Mallinfo

    def handed_out() -> int:
        info = libc.mallinfo2()
        return int(info.uordblks + info.hblkhd)

    return sampled_counters(handed_out)


def sampled_counters(current: Callable[[], int]) -> Counters:
    """Return counters for a system that only tells the bytes in use now: the peak is the largest value seen."""
    sampled = _Sampled(current)
    return Counters(sampled.reset, current, sampled.peak)


def _resident_counters() -> Counters:
    if LINUX and os.access("/proc/self/clear_refs", os.W_OK):
        return Counters(_reset_high_water_mark, resident, _high_water_mark)
    return sampled_counters(resident)


STATM = Path("/proc/self/statm")
LINUX = STATM if STATM.exists() else None
PAGE = os.sysconf("SC_PAGE_SIZE")
RESIDENT = _resident_counters()
