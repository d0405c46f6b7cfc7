"""Files that several processes write: atomic replacement, locks, and where they are kept. Standard library only."""

import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any


def write_atomically(path: Path, content: str | bytes) -> bool:
    """Write a file so that a reader sees the old content or the new one, and never a part.

    Parameters
    ----------
    path : Path
        The file; missing folders above it are made.
    content : str or bytes
        What it is to hold; text is encoded as UTF-8.

    Returns
    -------
    bool
        Whether the file was written: one that holds this content already keeps its date.
    """
    data = content.encode() if isinstance(content, str) else content
    if path.exists() and path.read_bytes() == data:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        unfinished.write_bytes(data)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
    return True


def can_write_to(folder: Path) -> bool:
    """Make a folder and those above it unless they are there; return whether this user can write to it."""
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        return os.access(folder, os.W_OK)
    return False


def cache_folder() -> Path:
    """Return the folder for what is kept until the next session, which is made if it is missing.

    It is ~/.cache/d2l, or where there is no home that can be written to, a temporary folder of this user; one line
    says so when it is made.
    """
    with suppress(RuntimeError):  # this user has no home
        folder = Path.home() / ".cache" / "d2l"
        if can_write_to(folder):
            return folder
    folder = Path(tempfile.gettempdir(), f"d2l-{os.getuid()}")
    if not folder.exists():
        print(f"there is no home folder that can be written to: what d2l keeps is in {folder}", flush=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    return folder


@contextmanager
def locked(path: Path, waiting: str = "") -> Iterator[None]:
    """Hold a lock while the block runs; wait for another process or thread that holds it.

    The operating system frees the lock when its holder dies. Windows and some network drives have no locks: there the
    block runs without one.

    Parameters
    ----------
    path : Path
        The lock's file, which stays; missing folders above it are made.
    waiting : str
        A line for the standard error stream, printed only where the lock is not free at once.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        _wait_for(lock, waiting)
        yield


def _wait_for(lock: IO[Any], waiting: str) -> None:
    """Take the lock of a file; go on without one where the system or the file system has none."""
    try:
        import fcntl  # here: Windows has no such module
    except ImportError:
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if waiting:
            print(waiting, file=sys.stderr, flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError:
        pass  # such as some network drives
