"""Files that are read past the operating system's page cache. Standard library only."""

import functools
import mmap
import os
import sys


def open_direct(path):
    """Return a file, opened to be read past the page cache: whole pages, into memory that begins with one (mmap's).

    Where the system or the file system offers no such reads, it is opened as usual, and one line says so.
    """
    if hasattr(os, "O_DIRECT") and _reads(path):  # Linux
        return open(path, "rb", buffering=0, opener=_past_cache)
    if sys.platform == "darwin":
        return open(path, "rb", buffering=0, opener=_uncached)
    _say_once()
    return open(path, "rb", buffering=0)


def _past_cache(path, flags):
    return os.open(path, flags | os.O_DIRECT)


def _uncached(path, flags):
    from fcntl import F_NOCACHE, fcntl

    handle = os.open(path, flags)
    fcntl(handle, F_NOCACHE, 1)
    return handle


def _reads(path):
    """Tell whether the file system opens and reads the file past the cache: some refuse only the read."""
    try:
        with open(path, "rb", buffering=0, opener=_past_cache) as file, mmap.mmap(-1, mmap.PAGESIZE) as page:
            file.readinto(page)
    except OSError:
        return False
    return True


@functools.cache
def _say_once():
    print("reads here come through the page cache")
