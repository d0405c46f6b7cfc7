"""Launched processes under test: a kernel to kill, and what is left of a job."""

import json
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).parents[1]
DRIVER = "import json, sys; from d2l_lab.processes.job import launch; print(launch(**json.loads(sys.argv[1])))"


@pytest.fixture
def nothing_is_left(tmp_path, monkeypatch):
    """Check after a test that of the processes and folders that it made there is none."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # ranks import this checkout
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    yield
    signal.signal(signal.SIGINT, before)
    assert left(tmp_path) == []


def running(folder, word=None):
    """The processes whose temporary folder this is, and whose command contains the word, if one is given."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):  # it has just ended
            here = process.environ().get("TMPDIR") == str(folder) and process.status() != psutil.STATUS_ZOMBIE
            if here and (word is None or word in process.cmdline()):
                found.append(process)
    return found


def left(folder):
    """The processes whose temporary folder this is, and what a launch has left in it."""
    return running(folder) + list(folder.glob("d2l-launch-*"))


def wait_until(condition, seconds=8):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(0.02)


def by_rank(*codes):
    return [[sys.executable, "-c", code] for code in codes]


@pytest.fixture
def driver():
    """A function that starts a kernel, a Python that calls launch, and returns it and the line that has the text."""
    started = []

    def start(text, code=DRIVER, **arguments):
        command = [sys.executable, "-u", "-c", code, json.dumps(arguments)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
        started.append(process)
        return process, next(line for line in process.stdout if text in line)

    yield start
    for process in started:
        process.kill()
        process.communicate()
