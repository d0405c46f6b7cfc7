"""A JupyterLab that a test starts."""

import json
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from urllib.request import urlopen


@contextmanager
def lab(folder, *flags, **environment):
    """Start a JupyterLab whose own files lie in a folder; yield its address, once it answers, and end it."""
    places = {f"JUPYTER_{kind}_DIR": str(folder / kind) for kind in ("CONFIG", "DATA", "RUNTIME")} | {
        "HOME": str(folder)
    }
    command = [sys.executable, "-m", "jupyterlab", *flags, "--no-browser", "--IdentityProvider.token=t"]
    nowhere = subprocess.DEVNULL
    with subprocess.Popen(command, cwd=folder, env=environment | places, stdout=nowhere, stderr=nowhere) as server:
        try:
            yield started(folder / "RUNTIME" / f"jpserver-{server.pid}.json", server)
        finally:
            server.terminate()


def started(about, server):
    """Return the address of a JupyterLab, once it answers; `about` is the file in which it names that."""
    for _ in range(600):
        assert server.poll() is None, "JupyterLab ended"
        with suppress(OSError, ValueError):  # the file is not written yet, or nothing listens yet
            address = json.loads(about.read_text())["url"]
            urlopen(f"{address}api", timeout=30).close()
            return address
        time.sleep(0.1)
    raise AssertionError("JupyterLab does not start")
