"""The memory that a function needs: its peak, what its result keeps, and the course in between.

What is counted is up to `Counters`: a framework's own, or those of the C library.
"""

import ctypes
import gc
import mmap
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from statistics import median
from time import perf_counter, sleep
from typing import Any, NamedTuple

import psutil

from d2l_lab.instruments.framework import framework, needs_framework
from d2l_lab.protocol import Counters

MMAP_ABOVE, TRIM_ABOVE = 2**25, 2**30
# glibc's thresholds, by the number that each has in its malloc.h: what we set, the most that glibc sets by itself while
# it adapts them to what is freed, and its defaults, which stay where the environment fixes others of its settings.
THRESHOLDS = {
    "trim_threshold": (-1, TRIM_ABOVE, 2 * MMAP_ABOVE, 2**17),
    "mmap_threshold": (-3, MMAP_ABOVE, MMAP_ABOVE, 2**17),
}
NUMBER = re.compile(r"0x[\da-fA-F]+|[1-9]\d*|0")
FIXING = (*THRESHOLDS, "top_pad", "mmap_max")  # the settings of which each ends the adapting

_kept, _changing = False, threading.Lock()  # of keep_freed_memory: C's allocator is that of the whole process


class Memory(NamedTuple):
    """Bytes above those in use when a function was called: at most while it ran, and while its result is still held."""

    peak: int
    kept: int


def resident() -> int:
    """Return the bytes that this process has in physical memory."""
    return int(psutil.Process().memory_info().rss)


@needs_framework
def memory_of(function: Callable[[], Any], on_cpu: bool = False) -> Memory:
    """Call a function once and return the bytes that it needed: at most, and for its result.

    On a GPU these are bytes of the framework's allocator, with MXNet those taken of the GPU's memory. On a CPU they are
    bytes of TensorFlow's allocator, with the others those that the C library has handed out; where a library does not
    tell, those of the process in physical memory.

    Parameters
    ----------
    function
        Called without arguments; call it once before, so that libraries have what they keep for good.
    on_cpu
        Whether to count the bytes of the C library although there is a GPU.
    """
    counters = process_counters() if on_cpu else framework().memory_counters()
    return memory_with(counters, function, framework().synchronize)


@needs_framework
def memory_over_time(function: Callable[[], Any]) -> tuple[list[float], list[int]]:
    """Call a function once and return the course of its memory: seconds, and bytes above those at the start."""
    return course_with(framework().memory_counters(), function, framework().synchronize)


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
    with _older_garbage_left():
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

    with _older_garbage_left():  # quick, since the thread that samples cannot run while garbage is looked for
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


@contextmanager
def _older_garbage_left() -> Iterator[None]:
    """Let Python free no array meanwhile that was garbage before, since that would count as freed by the function.

    To free all of it first would take a tenth of a second, in a process with a framework's objects.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _settle(wait: Callable[[], Any]) -> None:
    """Let everything end that is under way, so that nothing is freed later but counted as in use now."""
    wait()
    sleep(0.01)  # a framework's threads free what nobody refers to any more, a moment later
    wait()


def page_faults() -> int:
    """Return how many pages this process has touched for the first time so far; 0 where the system does not count."""
    try:
        from resource import RUSAGE_SELF, getrusage
    except ImportError:
        return 0
    return getrusage(RUSAGE_SELF).ru_minflt


def new_pages(function: Callable[[], Any]) -> tuple[float, float]:
    """Return how many pages a call touches for the first time, the mean of five, and the seconds that these take.

    A page takes what it takes longer to fill 32 MiB of new memory than to fill them again, divided by their pages.
    """
    function()
    before = page_faults()
    for _ in range(5):
        function()
    pages = (page_faults() - before) / 5
    return pages, pages and pages * median(_seconds_of_a_page() for _ in range(5))


def _seconds_of_a_page() -> float:
    """Return the seconds that a new page of 32 MiB takes, on a system that counts pages."""
    own = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS  # as an allocator's; pages that processes may share take longer
    memory = ctypes.c_char.from_buffer(mmap.mmap(-1, 2**25, flags=own))
    before, times = page_faults(), [perf_counter()]
    for _ in range(2):
        ctypes.memset(ctypes.addressof(memory), 1, 2**25)
        times.append(perf_counter())
    start, new, old = times
    return max(0.0, new - start - (old - new)) / (page_faults() - before)


def can_keep_freed_memory() -> bool:
    """Tell whether `keep_freed_memory` does anything here: glibc alone has the settings."""
    return bool(_in_c("mallopt"))


def keep_freed_memory(keep: bool) -> bool:
    """Let glibc keep what the process frees, for the next arrays, or let it do as usual; return if that is a change.

    As usual, it depends on the order of sizes and on chance whether a training step's arrays lie in pages that the
    process has, or wait for new ones. Arrays above 32 MiB have pages of their own in any case.

    Until the first change glibc adapts its thresholds to what is freed, and never does again once they have been set.
    So "as usual" then means the settings of the environment, or else the most that glibc would have come to: 32 MiB for
    an array in pages that stay, and 64 MiB of them.
    """
    global _kept
    mallopt = _in_c("mallopt")
    with _changing:
        if not mallopt or keep == _kept:
            return False
        kept = [(number, value) for number, value, *_ in THRESHOLDS.values()]
        for number, value in kept if keep else usual_thresholds(os.environ):
            mallopt(number, value)
        _kept = keep
    return True


def usual_thresholds(environment: Mapping[str, str]) -> list[tuple[int, int]]:
    """Return numbers and values of glibc's thresholds as this environment sets them, or as glibc has them at most."""
    tunables = dict(part.partition("=")[::2] for part in environment.get("GLIBC_TUNABLES", "").split(":"))
    variables = {name: environment.get(f"MALLOC_{name.upper()}_", "") for name in FIXING}
    texts = {name: tunables.get(f"glibc.malloc.{name}") or variables[name] for name in FIXING}
    fixed = {name: int(text, 0) for name, text in texts.items() if NUMBER.fullmatch(text)}
    usual = 3 if fixed else 2  # the place of the value
    return [(values[0], fixed.get(name, values[usual])) for name, values in THRESHOLDS.items()]


def _in_c(name: str) -> Any:
    """Return a function of the C library, None where there is none of this name."""
    try:
        return getattr(ctypes.CDLL(None), name, None)
    except TypeError:  # Windows has no library without a name
        return None


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
    mallinfo = _in_c("mallinfo2")
    if not mallinfo:
        return Counters(resident)
    mallinfo.restype = _Mallinfo

    def handed_out() -> int:
        info = mallinfo()
        return int(info.uordblks + info.hblkhd)

    return Counters(handed_out)
