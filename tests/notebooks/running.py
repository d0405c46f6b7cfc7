"""One notebook run under nbval, in a process and a folder of its own, with nothing left behind."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

import psutil

from book import ROOT
from book.execute import no_orphans
from book.layout import read_notebook
from book.leftovers import copy_leftovers
from book.outputs import code_cells, records
from d2l_lab.instruments.claims import MIME, Claim
from d2l_lab.processes.control import reachable_sockets

# What the Makefile exports below _build, for a call by hand.
FOLDERS = dict(re.findall(r"^export (\w+) := \$\(CURDIR\)/(_build/.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE))
LOOK = 0.5  # seconds between two looks at what listens
LISTENS_EVERYWHERE = "tensorflow"  # its tf.distribute.Server offers no choice of the address that it listens on
WATCHED = [sys.executable, str(Path(__file__).with_name("watched.py"))]
OPTIONS = ["--nbval-lax", "--nbval-cell-timeout=300", "-q", "-p", "no:cacheprovider"]


@dataclass(frozen=True)
class Ran:
    """How a run went: the faults and what listened outside loopback, in words."""

    seconds: float
    cells: int
    faults: tuple[str, ...]
    listeners: tuple[str, ...]

    @property
    def passed(self):
        return not self.faults and not self.listeners

    def __str__(self):
        verdict = "passed" if self.passed else "failed"
        more = [f"and {len(self.faults) - 5} more"] if len(self.faults) > 5 else []
        first = f"{verdict} in {self.seconds:.0f} s, {self.cells} cells"
        return "\n  ".join([first, *self.faults[:5], *more, *self.listeners])


def run(executed):
    """Run the notebook whose executed form lies at this path, as a test run of its claims, and return Ran.

    Its folder has the files that the build's run has left, as a reader's has from the second run on. Outputs are
    compared in the cells with the tag nbval-check-output.
    """
    with tempfile.TemporaryDirectory(prefix="d2l-", ignore_cleanup_errors=True) as folder, no_orphans():
        notebook, report = Path(folder, "work", executed.name), Path(folder, "report.json")
        left = executed.parents[2] / "left" / executed.parent.name / executed.stem
        copy_leftovers(left, notebook.parent) if left.is_dir() else notebook.parent.mkdir()
        shutil.copy(executed, notebook)
        start = monotonic()
        said, listeners = watch([*WATCHED, str(report), *OPTIONS, str(notebook)], notebook.parent)
        cells, faults = json.loads(report.read_text()) if report.exists() else (0, [f"nbval said last: {said[-500:]}"])
    if executed.parent.name == LISTENS_EVERYWHERE:
        listeners = ()
    return Ran(monotonic() - start, cells, tuple(faults), listeners)


def timed_claims(executed):
    """Return the claims about times that the build's run of a notebook checked."""
    cells = code_cells(read_notebook(executed)) if executed.is_file() else []
    found = [Claim(**record) for cell in cells for record in records(cell, MIME)]
    return [claim for claim in found if claim.timed]


def watch(command, folder):
    """Run a command to its end as a test run; return what it said, and in words what listened outside loopback."""
    ourselves, seen = psutil.Process(), {}
    before = set(ourselves.children(recursive=True))
    environment = os.environ | {"D2L_TEST": "1"}
    with tempfile.TemporaryFile("w+") as log:
        child = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT)
        while child.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                child.wait(LOOK)
            family = set(ourselves.children(recursive=True)) - before
            seen |= {(pid, address): words for pid, words, address in reachable_sockets(family)}
        log.seek(0)
        said = log.read()
    return said, tuple(f"process {pid} listens on {address}: {words}" for (pid, address), words in seen.items())
