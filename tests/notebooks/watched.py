"""Pytest for one notebook under nbval, where a dead kernel is noticed within a second.

nbval waits for the answer of a kernel as long as a cell may take, whether the kernel lives or not.
"""

import sys
from queue import Empty
from time import monotonic

import pytest


def pytest_configure():
    from nbval.kernel import RunningKernel  # later than pytest loads nbval itself

    RunningKernel.get_message = watchful(RunningKernel.get_message)


def watchful(patient):
    """Return nbval's method that waits for a message of a kernel, changed to raise RuntimeError once it is dead."""

    def get_message(kernel, stream, timeout):
        deadline = monotonic() + timeout
        while True:
            try:
                return patient(kernel, stream, max(0, min(1, deadline - monotonic())))
            except Empty:
                if not kernel.is_alive():
                    raise RuntimeError("the kernel died") from None
                if monotonic() >= deadline:
                    raise

    return get_message


if __name__ == "__main__":
    sys.exit(pytest.main(sys.argv[1:], plugins=[sys.modules[__name__]]))
