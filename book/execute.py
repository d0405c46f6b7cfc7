"""One notebook run in its own kernel, in a folder of its own, with nothing left behind."""

import ast
import asyncio
import ctypes
import json
import os
import signal
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import nbformat
import psutil
from jupyter_client.kernelspec import NoSuchKernel
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from book import MODULES, BookError
from book.outputs import clean, code_cells

SUBREAPER = 36  # Linux, PR_SET_CHILD_SUBREAPER: a process that loses its parent becomes our child and is found
ABOUT_KERNEL = """__import__('json').dumps({
    'python': __import__('platform').python_version(), 'prefix': __import__('sys').prefix,
    'packages': {found.metadata['Name']: found.version
                 for found in __import__('importlib.metadata', fromlist=['distributions']).distributions()}})"""


class RunError(BookError):
    """A run that did not end well: `notebook` as far as it came, `status` to exit with."""

    def __init__(self, sentence, notebook, status=1):
        super().__init__(sentence)
        self.notebook, self.status = notebook, status


@dataclass
class Ran:
    """The executed notebook, its seconds without the kernel's start, and the kernel's versions."""

    notebook: dict
    seconds: float
    versions: dict


def run(notebook, framework, title, progress, timeout, root):
    """Run the cells of `notebook`; return Ran or raise RunError. Paths below `root` do not get into the outputs."""
    nodes = nbformat.from_dict(notebook)
    client = NotebookClient(nodes, timeout=timeout, coalesce_streams=True, record_timing=False)
    stops = []
    with tempfile.TemporaryDirectory(prefix="d2l-", ignore_cleanup_errors=True) as folder, no_orphans():
        paths = {folder: ".", os.path.realpath(folder): ".", str(root): "<project>", str(Path.home()): "~"}
        log = Path(folder, ".kernel.log")
        try:
            about, seconds = asyncio.run(drive(client, folder, log, progress, stops))
        except (Exception, asyncio.CancelledError) as error:
            if stops:
                sentence, status = f"interrupted by {signal.Signals(stops[0]).name}", 128 + stops[0]
            else:
                sentence, status = explain(error, client, timeout, log), 1
            if not sentence:
                raise
            where = f"{title}, cell {progress.cell}" if progress.cell else title
            raise RunError(f"{where}: {sentence}", finished(notebook, nodes, paths), status) from None
        finally:
            progress.clear()
    paths[about["prefix"]] = "<environment>"
    return Ran(finished(notebook, nodes, paths), seconds, versions(about, framework))


async def drive(client, folder, log, progress, stops):
    """Start a kernel, run the cells, end the kernel; return what the kernel says of itself and the seconds."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def stop(number):
        if not stops:
            stops.append(number)
            task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop, number)
    ticker = asyncio.create_task(tick(progress))
    manager = client.create_kernel_manager()
    manager.transport_encryption = "auto"  # the kernel warns of a connection that others could read
    try:
        with open(log, "wb") as file:
            settings = {"IPYTHONDIR": f"{folder}/.ipython"} | os.environ
            await client.async_start_new_kernel(cwd=folder, env=settings, stdout=file, stderr=file)
        await client.async_start_new_kernel_client()
        started = time.monotonic()
        cells = [(index, cell) for index, cell in enumerate(client.nb.cells) if cell.cell_type == "code"]
        for count, (index, cell) in enumerate(cells, 1):
            progress.at(count)
            await client.async_execute_cell(cell, index)
        seconds = time.monotonic() - started
        about = await ask(client)
        await manager.shutdown_kernel()
        return about, seconds
    finally:
        ticker.cancel()
        if client.kc:
            client.kc.stop_channels()


async def ask(client):
    """Return the kernel's Python, its prefix and its packages as a dict."""
    message = client.kc.execute("", silent=True, user_expressions={"about": ABOUT_KERNEL})
    reply = await client.async_wait_for_reply(message)
    return json.loads(ast.literal_eval(reply["content"]["user_expressions"]["about"]["data"]["text/plain"]))


async def tick(progress):
    """Let the seconds run while a cell does."""
    while progress.terminal:
        await asyncio.sleep(1)
        progress.tick()


@contextmanager
def no_orphans():
    """Kill on leaving every process that was started inside, and whatever that one started."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SUBREAPER, 1)
    ourselves = psutil.Process()
    before = set(ourselves.children(recursive=True))
    try:
        yield
    finally:
        while family := [child for child in ourselves.children(recursive=True) if child not in before]:
            for child in family:
                with suppress(psutil.NoSuchProcess):  # it ended by itself meanwhile
                    child.kill()
            psutil.wait_procs(family, timeout=5)


def explain(error, client, timeout, log):
    """Return a sentence on why the run ended, or None for an error of this program."""
    if isinstance(error, CellExecutionError):
        return f"{error.ename}: {error.evalue}".strip().split("\n")[0]
    if isinstance(error, CellTimeoutError):
        return f"ran longer than {timeout} s: make it do less, or allow more with --timeout"
    if isinstance(error, DeadKernelError):
        status = client.km.provisioner.process.poll()
        why = f"signal {signal.Signals(-status).name}" if status and status < 0 else f"exit status {status}"
        why += ", perhaps for want of memory" if status == -signal.SIGKILL else ""
        return f"the kernel died ({why}){last_words(log)}"
    if isinstance(error, NoSuchKernel):
        return f"no kernel {error.name}: `make book` installs it, and sets JUPYTER_PATH to where it is"
    if not client.kc and isinstance(error, (OSError, RuntimeError)):
        return f"the kernel does not start: {error}{last_words(log)}"
    return None


def last_words(log):
    """Return a line with the last that the kernel wrote past the notebook, or ''."""
    lines = log.read_text(errors="replace").split("\n") if log.exists() else []
    return next((f"\n  the kernel said last: {line.strip()}" for line in reversed(lines) if line.strip()), "")


def finished(notebook, nodes, paths):
    """Return `notebook` with the outputs in `nodes`, cleaned."""
    ran = iter(code_cells(nodes))
    cells = [cell | ran_cell(next(ran), paths) if cell["cell_type"] == "code" else cell for cell in notebook["cells"]]
    return notebook | {"cells": cells}


def ran_cell(node, paths):
    """Return what a run changes in a cell."""
    return {"outputs": clean([dict(output) for output in node.outputs], paths), "execution_count": node.execution_count}


def versions(about, framework):
    """Return the versions of Python and of the packages that a reader wants to know."""
    module = MODULES[framework]
    found = {name: about["packages"].get(name) for name in (module, "numpy", "matplotlib")}
    found[module] = found[module] or about["packages"].get(f"{module}_cpu") or about["packages"].get(f"{module}-cpu")
    return {"python": about["python"]} | {name: version for name, version in found.items() if version}
