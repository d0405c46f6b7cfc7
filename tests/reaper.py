"""A plugin of pytest that starts this file as a program, which waits until pytest is gone, however it ended.

Then it kills what the tests had started and had no time to end: kernels, servers and browsers, at once and with all
their descendants. It knows them by a mark in the environment, which they inherit, and finds a process that has cleared
its environment by its parents.
"""

import os
import secrets
import subprocess
import sys
import time
from contextlib import suppress

import psutil

MARK = "STARTED_BY_TESTS"
LOOK, BOUND = 0.1, 10  # seconds between two looks, and from the end of pytest until we give up


def pytest_configure():
    mark, nowhere = secrets.token_hex(8), subprocess.DEVNULL
    command = [sys.executable, __file__, str(os.getpid()), mark]
    # In a session of its own: what kills pytest's group of processes is not for it.
    subprocess.Popen(command, start_new_session=True, stdin=nowhere, stdout=nowhere, stderr=nowhere)
    os.environ[MARK] = mark


def started(mark):
    """Return the processes with the mark and their descendants."""
    found = set()
    for process in psutil.process_iter():
        with suppress(psutil.Error):  # it has just ended, or is another user's
            if process.environ().get(MARK) == mark:
                found |= {process, *process.children(recursive=True)}
    return found


def main(pytest, mark):
    while os.getppid() == pytest:
        time.sleep(LOOK)
    end = time.monotonic() + BOUND
    while (left := started(mark)) and time.monotonic() < end:
        for process in left:
            with suppress(psutil.Error):
                process.kill()
        time.sleep(LOOK)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
