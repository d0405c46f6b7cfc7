"""JupyterLab as `make lab` starts it serves this machine alone and makes no network connections."""

import os
import re
import shlex
from contextlib import suppress
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from lab_server import lab
from reaper import MARK

from book import ROOT

pytestmark = pytest.mark.slow

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


@pytest.fixture
def hosts(tmp_path):
    """A function that starts JupyterLab with some flags, asks it for news and returns the hosts that it looked up."""

    def looked_up(*flags):
        (tmp_path / "work").mkdir()
        log = tmp_path / "hosts"
        log.touch()
        (tmp_path / "sitecustomize.py").write_text(NOTING.format(log=str(log)))
        about = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tmp_path), MARK: os.environ[MARK]}
        with lab(tmp_path, *flags, **about) as address:
            assert address.startswith("http://127.0.0.1:")
            for place in ("news", "update", "extensions?query=git"):
                request = Request(f"{address}lab/api/{place}", headers={"Authorization": "token t"})
                with suppress(HTTPError):  # the manager of extensions cannot look any up
                    urlopen(request, timeout=30).read()
        return sorted(set(log.read_text().split()))

    return looked_up


def test_lab_looks_no_host_up_for_news_updates_or_extensions(hosts):
    recipe = re.search(r"/jupyter-lab ((?:.*\\\n)*.*)", (ROOT / "Makefile").read_text()).group(1)
    assert hosts(*shlex.split(recipe.replace("\\\n", " ").replace("$(is_root)", "True"))) == []


def test_that_would_be_noticed(hosts):
    assert hosts("--ServerApp.ip=127.0.0.1", "--allow-root") != []
