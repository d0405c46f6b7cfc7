"""JupyterLab as `make lab` starts it serves this machine alone and asks nothing of another one."""

import json
import re
import shlex
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

pytestmark = pytest.mark.kernel

ROOT = Path(__file__).resolve().parents[2]
# Whatever Python would connect to is looked up first: note the name, and find nothing.
NOTING = """
import socket
def note(host, *rest, __found=socket.getaddrinfo, **more):
    if host in ("127.0.0.1", "localhost", "", None):
        return __found(host, *rest, **more)
    with open({log!r}, "a") as file:
        print(host, file=file)
    raise socket.gaierror(socket.EAI_NONAME, "not in a test")
socket.getaddrinfo = note
"""


def flags():
    """Return what the Makefile's target gives to jupyter-lab."""
    recipe = re.search(r"/jupyter-lab ((?:.*\\\n)*.*)", (ROOT / "Makefile").read_text()).group(1)
    return shlex.split(recipe.replace("\\\n", " "))


@pytest.fixture
def ask(tmp_path):
    """A function that starts JupyterLab with some flags, asks for addresses and returns the hosts it looked up."""
    servers = []

    def ask_(*flags):
        (tmp_path / "_build" / "notebooks").mkdir(parents=True, exist_ok=True)
        log = tmp_path / "hosts"
        log.touch()
        (tmp_path / "sitecustomize.py").write_text(NOTING.format(log=str(log)))
        places = {f"JUPYTER_{kind}_DIR": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "RUNTIME")}
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *flags, "--no-browser", "--allow-root", "--IdentityProvider.token=t"],
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tmp_path), "HOME": str(tmp_path)} | places,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        servers.append(server)
        address = started(tmp_path / "RUNTIME", server)
        assert address.startswith("http://127.0.0.1:")
        for place in ("news", "update", "extensions?query=git"):
            request = Request(f"{address}lab/api/{place}", headers={"Authorization": "token t"})
            with suppress(HTTPError):  # the manager of extensions cannot look any up
                urlopen(request, timeout=30).read()
        return sorted(set(log.read_text().split()))

    yield ask_
    for server in servers:
        server.kill()
        server.wait()


def started(folder, server):
    """Return the address of the server once it answers."""
    for _ in range(300):
        assert server.poll() is None, "JupyterLab ended"
        if (path := folder / f"jpserver-{server.pid}.json").exists():
            return json.loads(path.read_text())["url"]
        time.sleep(0.1)
    raise AssertionError("JupyterLab does not start")


def test_lab_asks_no_other_machine_for_news_updates_or_extensions(ask):
    assert ask(*flags()) == []


def test_that_would_be_noticed(ask):
    assert ask("--ServerApp.ip=127.0.0.1") != []
