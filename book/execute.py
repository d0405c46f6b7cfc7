"""One notebook run in its own kernel, in a folder of its own, with nothing left behind."""

import asyncio
import atexit
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
import psutil
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from book import BookError
from book.leftovers import copy_leftovers
from book.outputs import clean
from book.terminal import uncoloured
from d2l_lab.processes.control import adopt_orphans, end_all, signal_name


class RunError(BookError):
    """A run that did not end well: `notebook` as far as it came, None if no cell ran; `status` to exit with."""

    def __init__(self, sentence: str, notebook: dict[str, Any] | None, status: int) -> None:
        super().__init__(sentence)
        self.notebook, self.status = notebook, status


class LeftOutError(RunError):
    """A run for which this machine lacks a program: the error of its cell is called NoCompilerError."""


class DisplayError(Exception):
    """An error in what a cell displays: Jupyter shows its traceback there, and goes on."""


class Client(NotebookClient):
    """A client that says how far it is, in place on a terminal, and ends at a signal without waiting for the cell."""

    def __init__(self, nodes: Any, title: str, timeout: int) -> None:
        super().__init__(nodes, timeout=timeout, record_timing=False)
        self.shutdown_kernel = "immediate"  # once all cells have run, the kernel may end in its own time
        self.title, self.total = title, len(nodes.cells)
        self.number, self.started = 0, 0.0
        self.seconds: list[float] = []
        self.stopped: int | None = None  # the signal that stopped the run
        self.died: int | None = None  # the exit status of a kernel that died
        self.on_cell_start, self.on_cell_executed = self.start_cell, self.end_cell
        self.on_notebook_error = self.look_after_kernel
        self.create_kernel_manager().transport_encryption = "auto"  # the kernel warns of a connection in the clear

    async def run(self, folder: str, log: Path) -> None:
        """Run the cells in a new kernel that works in `folder` and writes to the file `log`."""
        self.task: Any = asyncio.current_task()
        settings = {"IPYTHONDIR": f"{folder}/.ipython"} | os.environ
        with open(log, "wb") as file:
            await self.async_execute(cwd=folder, env=settings, stdout=file, stderr=file)

    async def async_start_new_kernel(self, **settings: Any) -> None:
        """Start the kernel; from here on a signal cancels the run, in place of nbclient's own way."""
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, self.stop, number)
        await super().async_start_new_kernel(**settings)

    def stop(self, number: int) -> None:
        """Cancel the run; a second signal changes nothing."""
        if not self.stopped:
            self.stopped = number
            self.task.cancel()

    def start_cell(self, cell: Any, cell_index: int) -> None:
        """Start the clock of a cell, and say that it runs."""
        self.number += 1
        self.seconds.append(0.0)
        self.started = time.monotonic()
        if sys.stdout.isatty():
            line = f"{self.title}: cell {self.number} of {self.total}, {sum(self.seconds):.0f} s"
            print(f"\r\x1b[K{line}", end="", flush=True)
        elif self.number == 1:
            print(f"{self.title}: running {self.total} cells", flush=True)

    def end_cell(self, cell: Any, cell_index: int, execute_reply: Any) -> None:
        """Stop the clock of a cell; DisplayError if it went on although something could not be displayed."""
        self.seconds[-1] = time.monotonic() - self.started
        failed = [output for output in cell.outputs if output.output_type == "error"]
        if failed and execute_reply["content"]["status"] == "ok":
            raise DisplayError(f"cannot display what it made: {failed[0].ename}: {failed[0].evalue}")
        if self.number == self.total:
            self.shutdown_kernel = "graceful"

    def look_after_kernel(self, notebook: Any) -> None:
        """Note how the kernel ended."""
        provisioner: Any = self.km and self.km.provisioner
        if provisioner and provisioner.process:  # else it has not been started
            self.died = provisioner.process.poll()


def run(
    notebook: dict[str, Any], title: str, timeout: int, paths: dict[str, str], left: Path
) -> tuple[dict[str, Any], list[float], str]:
    """Run a notebook of code cells in its own kernel; RunError where it does not come to its end.

    Messages call it `title`, a cell may take `timeout` seconds, and `paths` has the name that each path of this machine
    gets in the outputs. What it leaves in its folder is kept in the folder `left`, where its tests begin. Returns the
    notebook with its outputs, the seconds of each cell, and Python's version.
    """
    nodes = nbformat.from_dict(notebook)
    client = Client(nodes, title, timeout)
    with tempfile.TemporaryDirectory(prefix="d2l-", ignore_cleanup_errors=True) as folder:
        names = paths | {folder: ".", os.path.realpath(folder): "."}
        log = Path(folder, ".kernel.log")
        try:
            with no_orphans(title):
                asyncio.run(client.run(folder, log))
        except (Exception, asyncio.CancelledError) as error:
            sentence = explain(error, client, log)
            if not sentence:
                raise
            where = f"{title}, cell {client.number}" if client.number else title
            partial = finished(notebook, nodes, names) if client.number else None
            status = 128 + client.stopped if client.stopped else 1
            lacks = getattr(error, "ename", "") == "NoCompilerError"
            raise (LeftOutError if lacks else RunError)(f"{where}: {sentence}", partial, status) from None
        finally:
            atexit.unregister(client._cleanup_kernel)  # nbclient leaves it behind where a kernel does not start
            if sys.stdout.isatty():
                print("\r\x1b[K", end="", flush=True)
        shutil.rmtree(left, ignore_errors=True)
        try:
            copy_leftovers(Path(folder), left)
        except OSError as error:  # whose list may be long
            print(f"warning: {title}: not all files that it left are kept: {error!s:.200}", file=sys.stderr)
    print(f"{title}: {client.total} cells in {sum(client.seconds):.0f} s", flush=True)
    return finished(notebook, nodes, names), client.seconds, nodes.metadata.language_info.version


@contextmanager
def no_orphans(title: str = "a notebook") -> Iterator[None]:
    """End on leaving every process that was started inside, and whatever that one started."""
    if not adopt_orphans():
        print(f"{title}: a process that it detaches from its kernel is not ended on {sys.platform}", file=sys.stderr)
    ourselves = psutil.Process()
    before = set(ourselves.children(recursive=True))
    try:
        yield
    finally:
        if left := end_all(lambda: {*ourselves.children(recursive=True)} - before):
            numbers = ", ".join(str(child.pid) for child in left)
            print(f"warning: {title}: cannot end the processes it started: {numbers}", file=sys.stderr)
        adopted = {*ourselves.children(recursive=True)} - before
        psutil.wait_procs(adopted.difference(left), timeout=1)  # or their entries would stay


def explain(error: BaseException, client: Client, log: Path) -> str | None:
    """Return a sentence on why the run ended, or None for an error of this program."""
    if client.stopped:
        return f"interrupted by {signal_name(client.stopped)}"
    if isinstance(error, CellExecutionError | DisplayError):
        said = f"{error.ename}: {error.evalue}" if isinstance(error, CellExecutionError) else str(error)
        return uncoloured(said).strip().split("\n")[0]
    if isinstance(error, CellTimeoutError):
        return f"ran longer than {client.timeout} s: make it do less, or allow more with --timeout"
    if isinstance(error, DeadKernelError):
        return f"the kernel died ({why_died(client.died)}){last_words(log)}"
    if not client.number and isinstance(error, OSError | RuntimeError):
        return f"the kernel does not start: {error}{last_words(log)}"
    return None


def why_died(status: int | None) -> str:
    """Return in words how a process ended, by its exit status: that of a signal is negative."""
    if status is None or status >= 0:
        return f"exit status {status}"
    name = f"signal {signal_name(-status).removeprefix('signal ')}"
    return f"{name}, perhaps for want of memory" if status == -signal.SIGKILL else name


def last_words(log: Path) -> str:
    """Return a line with the last that the kernel wrote past the notebook, or ""."""
    said = uncoloured(log.read_text(errors="replace")).strip() if log.exists() else ""
    return f"\n  the kernel said last: {said.splitlines()[-1].strip()}" if said else ""


def finished(notebook: dict[str, Any], nodes: Any, paths: dict[str, str]) -> dict[str, Any]:
    """Return `notebook`, which has code cells only, with the outputs in `nodes`, cleaned."""
    cells = []
    for cell, node in zip(notebook["cells"], nodes.cells, strict=True):
        outputs = clean([dict(output) for output in node.outputs], paths)
        cells.append(cell | {"outputs": outputs, "execution_count": node.execution_count})
    return notebook | {"cells": cells}
