"""Pytest for one notebook under nbval, where a dead kernel is noticed within a second.

nbval waits for the answer of a kernel as long as a cell may take, whether the kernel lives or not.
"""

import sys
from queue import Empty
from time import monotonic

import pytest


def pytest_configure():
    from nbval.kernel import RunningKernel  # later than pytest loads nbval itself

    patient = RunningKernel.get_message

    def get_message(kernel, stream, timeout):
        """Wait for a message as nbval does; raise RuntimeError once the kernel is dead."""
        deadline = monotonic() + timeout
        while kernel.is_alive():
            try:
                return patient(kernel, stream, max(0, min(1, deadline - monotonic())))
            except Empty:
                if monotonic() >= deadline:
                    raise
        raise RuntimeError("the kernel died")

    RunningKernel.get_message = get_message


if __name__ == "__main__":
    sys.exit(pytest.main(sys.argv[1:], plugins=[sys.modules[__name__]]))
