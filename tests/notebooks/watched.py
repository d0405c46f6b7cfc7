"""Pytest for one notebook under nbval: `watched.py REPORT …` writes there, as JSON, the number of cells and the faults.

A dead kernel is noticed within a second; nbval itself waits for its answer as long as a cell may take.
"""

import json
import re
import sys
from functools import partial
from pathlib import Path
from queue import Empty
from time import monotonic

import pytest
from nbformat import from_dict

from book.outputs import joined
from book.terminal import settled

COLOUR = re.compile(r"\x1b\[[\d;]*m")
TOO_LONG = re.compile(r"Timeout of \d+ seconds")
ERROR = re.compile(r"[\w.]*(Error|Exception|Interrupt|Exit)\b")


def pytest_configure():
    from nbval import plugin  # later than pytest loads nbval itself
    from nbval.kernel import RunningKernel

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
    plugin.coalesce_streams = partial(coalesced, plugin.coalesce_streams)


def coalesced(by_name, outputs):
    """Return outputs as nbval does, by its own function, but as a terminal shows them: a build has kept them so."""
    shown = [output | {"text": settled(output["text"])} if "text" in output else output for output in joined(outputs)]
    return by_name([from_dict(output) for output in shown])


class Report:
    """How many cells ran, and what failed, a line each."""

    cells, faults = 0, ()

    def pytest_runtest_logreport(self, report):
        self.cells += report.when == "setup"
        if report.failed:
            self.faults += (f"cell {self.cells}: {reason(report.longreprtext)}",)


def reason(text):
    """Return what a failure's report says in a line: that it took too long, its error, or how the outputs differ."""
    head, _, trace = COLOUR.sub("", text).partition("Traceback:")
    errors = [line for line in trace.splitlines() if ERROR.match(line)]
    return "".join(TOO_LONG.findall(head)[:1] or errors[-1:]) or " ".join((trace or head).split())[:300]


if __name__ == "__main__":
    path, *arguments = sys.argv[1:]
    report = Report()
    status = pytest.main(arguments, plugins=[sys.modules[__name__], report])
    if report.cells:
        Path(path).write_text(json.dumps([report.cells, report.faults]), encoding="utf-8")
    sys.exit(status)
