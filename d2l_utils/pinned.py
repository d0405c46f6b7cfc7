"""Threads that stay on a core of their own. Standard library only."""

import os
from concurrent.futures import ThreadPoolExecutor


def pinned_threads(number):
    """Return a ThreadPoolExecutor whose threads keep to one CPU each, as far apart as this process may choose.

    Where there are fewer CPUs than threads, or the system offers no choice (macOS), the system places them.
    """
    cpus = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if len(cpus) < number:
        return ThreadPoolExecutor(number)
    homes = iter(cpus[i * (len(cpus) - 1) // max(1, number - 1)] for i in range(number))
    return ThreadPoolExecutor(number, initializer=lambda: os.sched_setaffinity(0, {next(homes)}))
