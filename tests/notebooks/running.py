"""One notebook run under nbval, in a process and a folder of its own, with nothing left behind."""

import json
import os
import re
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from xml.etree import ElementTree

import psutil

from book import ROOT
from book.execute import no_orphans
from book.layout import load
from book.outputs import records
from d2l_utils.claims import MIME, Claim
from d2l_utils.jobs.job import exposed

# What the Makefile exports below _build, for a call by hand.
FOLDERS = dict(re.findall(r"^export (\w+) := \$\(CURDIR\)/(_build/.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE))
CHECKED = "nbval-check-output"
LOOK = 0.5  # seconds between two looks at what listens
LISTENS_EVERYWHERE = "tensorflow"  # its tf.distribute.Server offers no choice of the address that it listens on
WATCHED = [sys.executable, str(Path(__file__).with_name("watched.py"))]
OPTIONS = ["--nbval-lax", "--nbval-cell-timeout=300", "-q", "-p", "no:cacheprovider"]
COLOUR = re.compile(r"(?:\x1b|#x1B)\[[\d;]*m")
TOO_LONG = re.compile(r"Timeout of \d+ seconds")
ERROR = re.compile(r"[\w.]*(Error|Exception|Interrupt|Exit)\b")


@dataclass(frozen=True)
class Ran:
    """How a run went: the faults and what listened outside loopback, in words."""

    seconds: float
    cells: int
    faults: tuple[str, ...]
    listeners: tuple[str, ...]

    @property
    def passed(self):
        """Whether nothing failed."""
        return not self.faults and not self.listeners

    def __str__(self):
        verdict = "passed" if self.passed else "failed"
        more = [f"and {len(self.faults) - 5} more"] if len(self.faults) > 5 else []
        first = f"{verdict} in {self.seconds:.0f} s, {self.cells} cells"
        return "\n  ".join([first, *self.faults[:5], *more, *self.listeners])


def run(executed):
    """Run the notebook whose executed form lies at this path, as a test run of its claims, and return Ran.

    Outputs are compared in the cells with the tag nbval-check-output.
    """
    with tempfile.TemporaryDirectory(prefix="d2l-", ignore_cleanup_errors=True) as folder, no_orphans():
        notebook, results = Path(folder, "work", executed.name), Path(folder, "results.xml")
        notebook.parent.mkdir()
        notebook.write_text(json.dumps(prepared(executed)), encoding="utf-8")
        start = monotonic()
        said, listeners = watch([*WATCHED, *OPTIONS, f"--junitxml={results}", str(notebook)], notebook.parent)
        cells, faults = outcome(results) if results.exists() else (0, (f"nbval said last: {said[-500:]}",))
    if executed.parent.name == LISTENS_EVERYWHERE:
        listeners = ()
    return Ran(monotonic() - start, cells, faults, listeners)


def prepared(executed):
    """Return the reader's notebook of an executed one, with the outputs of the cells that are compared.

    ValueError if the two do not fit together, or if what is to be compared differs from run to run.
    """
    reader = load(executed.parents[2] / "notebooks" / executed.parent.name / executed.name)
    ran = {cell["id"]: cell for cell in load(executed)["cells"]}
    for cell in reader["cells"]:
        if CHECKED not in cell["metadata"].get("tags", []):
            continue
        known = ran.get(cell["id"], {})
        if known.get("execution_count") is None:
            raise ValueError(f"{executed} is out of date, run make book: it lacks what this gives\n{cell['source']}")
        if any(claim.evidence or claim.timed for claim in claims_of(known)):
            raise ValueError(f"a claim's result differs from run to run: no {CHECKED} here\n{cell['source']}")
        cell |= {"outputs": known["outputs"], "execution_count": known["execution_count"]}
    return reader


def claims_of(cell):
    """Return the claims that a cell showed when it ran."""
    return [Claim(**record) for record in records(cell, MIME)]


def timed_claims(executed):
    """Return the claims about times that the build's run of a notebook checked."""
    cells = load(executed)["cells"] if executed.is_file() else []
    return [claim for cell in cells if cell["cell_type"] == "code" for claim in claims_of(cell) if claim.timed]


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
            seen |= {(pid, address): words for pid, words, address in exposed(family)}
        log.seek(0)
        said = log.read()
    return said, tuple(f"process {pid} listens on {address}: {words}" for (pid, address), words in seen.items())


def outcome(results):
    """Return the number of cells, counted from 1, and the faults that nbval's report has."""
    cells = ElementTree.parse(results).findall(".//testcase")
    faults = [(i, part) for i, cell in enumerate(cells, 1) for part in cell if part.tag in ("failure", "error")]
    return len(cells), tuple(f"cell {i}: {reason(fault.text)}" for i, fault in faults)


def reason(text):
    """Return what a failure's report says in a line: that it took too long, its error, or how the outputs differ."""
    head, _, trace = COLOUR.sub("", text).partition("Traceback:")
    errors = [line for line in trace.splitlines() if ERROR.match(line)]
    return "".join(TOO_LONG.findall(head)[:1] or errors[-1:]) or " ".join((trace or head).split())[:300]
