"""A JupyterLab that a test has started."""

import json
import time
from contextlib import suppress
from urllib.request import urlopen


def started(folder, server):
    """Return the address of a JupyterLab, once it answers; `folder` is where it says what runs."""
    about = folder / f"jpserver-{server.pid}.json"
    for _ in range(600):
        assert server.poll() is None, "JupyterLab ended"
        with suppress(OSError, ValueError):  # the file is not written yet, or nothing listens yet
            address = json.loads(about.read_text())["url"]
            urlopen(f"{address}api", timeout=30).close()
            return address
        time.sleep(0.1)
    raise AssertionError("JupyterLab does not start")
