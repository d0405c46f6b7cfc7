"""One notebook run in its own kernel, in a folder of its own, with nothing left behind."""

import asyncio
import atexit
import ctypes
import os
import signal
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import nbformat
import psutil
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from book import BookError
from book.outputs import clean

SUBREAPER = 36  # Linux, PR_SET_CHILD_SUBREAPER: a process that loses its parent becomes our child and is found
PATIENCE = 5  # seconds in which processes that were left behind have to end


class RunError(BookError):
    """A run that did not end well: `notebook` as far as it came, None if no cell ran; `status` to exit with."""

    def __init__(self, sentence, notebook, status):
        super().__init__(sentence)
        self.notebook, self.status = notebook, status


class Client(NotebookClient):
    """A client that says how far it is, and ends at a signal without waiting for the cell.

    In place on a terminal, else with one line at the start and one at the end.
    """

    def __init__(self, nodes, title, timeout):
        super().__init__(nodes, timeout=timeout, coalesce_streams=True, record_timing=False)
        self.shutdown_kernel = "immediate"  # once all cells have run, the kernel may end in its own time
        self.title, self.total = title, len(nodes.cells)
        self.number, self.started, self.seconds = 0, 0, []
        self.stopped = self.died = None  # the signal that stopped the run, the exit status of a kernel that died
        self.on_cell_start, self.on_cell_executed = self.start_cell, self.end_cell
        self.on_notebook_error = self.look_after_kernel
        self.create_kernel_manager().transport_encryption = "auto"  # the kernel warns of a connection in the clear

    async def run(self, folder, log):
        """Run the cells in a new kernel that works in `folder` and writes to the file `log`."""
        self.task = asyncio.current_task()
        settings = {"IPYTHONDIR": f"{folder}/.ipython"} | os.environ
        with open(log, "wb") as file:
            await self.async_execute(cwd=folder, env=settings, stdout=file, stderr=file)

    async def async_start_new_kernel(self, **settings):
        """Start the kernel; from here on a signal cancels the run, in place of nbclient's own way."""
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, self.stop, number)
        await super().async_start_new_kernel(**settings)

    def stop(self, number):
        if not self.stopped:
            self.stopped = signal.Signals(number)
            self.task.cancel()

    def start_cell(self, cell, cell_index):
        self.number += 1
        self.seconds.append(0.0)
        self.started = time.monotonic()
        if sys.stdout.isatty():
            line = f"{self.title}: cell {self.number} of {self.total}, {sum(self.seconds):.0f} s"
            print(f"\r\x1b[K{line}", end="", flush=True)
        elif self.number == 1:
            print(f"{self.title}: running {self.total} cells", flush=True)

    def end_cell(self, cell, cell_index, execute_reply):
        self.seconds[-1] = time.monotonic() - self.started
        if self.number == self.total:
            self.shutdown_kernel = "graceful"

    def look_after_kernel(self, notebook):
        with suppress(AttributeError):  # it has not been started
            self.died = self.km.provisioner.process.poll()


def run(notebook, title, timeout, paths):
    """Run a notebook of code cells; return it with its outputs, the seconds of each cell, and Python's version.

    Raises RunError. `paths` gives the machine's paths other names.
    """
    nodes = nbformat.from_dict(notebook)
    client = Client(nodes, title, timeout)
    with tempfile.TemporaryDirectory(prefix="d2l-", ignore_cleanup_errors=True) as folder, no_orphans(title):
        paths = paths | {folder: ".", os.path.realpath(folder): "."}
        log = Path(folder, ".kernel.log")
        try:
            asyncio.run(client.run(folder, log))
        except (Exception, asyncio.CancelledError) as error:
            if not (sentence := explain(error, client, log)):
                raise
            where = f"{title}, cell {client.number}" if client.number else title
            status = 128 + client.stopped if client.stopped else 1
            raise RunError(
                f"{where}: {sentence}", finished(notebook, nodes, paths) if client.number else None, status
            ) from None
        finally:
            atexit.unregister(client._cleanup_kernel)  # nbclient leaves it behind where a kernel does not start
            if sys.stdout.isatty():
                print("\r\x1b[K", end="", flush=True)
    print(f"{title}: {client.total} cells in {sum(client.seconds):.0f} s", flush=True)
    return finished(notebook, nodes, paths), client.seconds, nodes.metadata.language_info.version


@contextmanager
def no_orphans(title="a notebook"):
    """Kill on leaving every process that was started inside, and whatever that one started."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SUBREAPER, 1)
    else:
        print(f"{title}: a process that it detaches from its kernel is not ended on {sys.platform}", file=sys.stderr)
    ourselves = psutil.Process()
    before = set(ourselves.children(recursive=True))
    try:
        yield
    finally:
        end = time.monotonic() + PATIENCE
        while family := [child for child in ourselves.children(recursive=True) if child not in before]:
            if time.monotonic() > end:
                left = ", ".join(str(child.pid) for child in family)
                print(f"warning: {title}: cannot end the processes it started: {left}", file=sys.stderr)
                break
            for child in family:
                with suppress(psutil.Error):  # it ended by itself meanwhile, or is not ours to end
                    child.kill()
            psutil.wait_procs(family, timeout=1)


def explain(error, client, log):
    """Return a sentence on why the run ended, or None for an error of this program."""
    if client.stopped:
        return f"interrupted by {client.stopped.name}"
    if isinstance(error, CellExecutionError):
        return f"{error.ename}: {error.evalue}".strip().split("\n")[0]
    if isinstance(error, CellTimeoutError):
        return f"ran longer than {client.timeout} s: make it do less, or allow more with --timeout"
    if isinstance(error, DeadKernelError):
        status = client.died
        why = f"signal {signal.Signals(-status).name}" if status and status < 0 else f"exit status {status}"
        why += ", perhaps for want of memory" if status == -signal.SIGKILL else ""
        return f"the kernel died ({why}){last_words(log)}"
    if not client.number and isinstance(error, OSError | RuntimeError):
        return f"the kernel does not start: {error}{last_words(log)}"
    return None


def last_words(log):
    """Return a line with the last that the kernel wrote past the notebook, or ''."""
    lines = log.read_text(errors="replace").split("\n") if log.exists() else []
    return next((f"\n  the kernel said last: {line.strip()}" for line in reversed(lines) if line.strip()), "")


def finished(notebook, nodes, paths):
    """Return `notebook`, which has code cells only, with the outputs in `nodes`, cleaned."""
    cells = [
        cell
        | {"outputs": clean([dict(output) for output in node.outputs], paths), "execution_count": node.execution_count}
        for cell, node in zip(notebook["cells"], nodes.cells, strict=True)
    ]
    return notebook | {"cells": cells}
