"""The run of notebooks, tried on tiny ones: what it says of those that misbehave, and what it leaves of them."""

import json
import os
import re
import subprocess
import sys

import psutil
import pytest
import test_notebooks
from running import FOLDERS, Ran, run
from tiny_book import claim, code, notebook

from book import ROOT
from d2l_lab.instruments.claims import Claim

pytestmark = pytest.mark.slow

CHECKED = "nbval-check-output"
CLAIM = "from d2l_lab.instruments.claims import claim; claim('one is one', {})"
LISTEN = "import socket, time; s = socket.create_server(('', 0)); time.sleep(1)"
# One knows whether it is the first run; the other starts a process that would go on, and writes down its number.
ONCE = "from pathlib import Path; again = Path('{}/again'); first = not again.exists(); again.touch()"
LEAVE = (
    "import os, subprocess, sys; child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']);"
    " print(child.pid, file=open('{}/children', 'a'), flush=True)"
)


def write(folder, name, *cells, kernel="python3"):
    executed, path = notebook(*cells), folder / "executed" / f"{name}.ipynb"
    executed["metadata"]["kernelspec"]["name"] = kernel
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(executed))
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("notebooks")


@pytest.fixture(scope="module")
def session(folder):
    """The output of a run by hand, without the Makefile's folders, of notebooks that end in all ways."""
    timed = [
        code(CLAIM.format("False, timed=True"), outputs=[claim("one is one", held, timed=True)])
        for held in (True, False, False)
    ]
    held = code(CLAIM.format("True"), CHECKED, outputs=[claim("one is one")])
    doomed = (LEAVE.format(folder), LISTEN, "os._exit(3)", "1")
    cells = {
        "jax/good": [held, code(r"print('10\r2')", CHECKED, outputs=["20\n"]), code("open('left')"), *timed],
        "jax/flaky": [code(ONCE.format(folder)), code(CLAIM.format("not first"))],
        "jax/broken": [code("print(3)", CHECKED, outputs=["2\n"]), code("1 / 0")],
        "jax/listening": [code(LISTEN)],
        "tensorflow/doomed": [code(source) for source in doomed],
    }
    before = folder / "left" / "jax" / "good" / "left"
    before.parent.mkdir(parents=True)
    before.touch()
    paths = [write(folder, name, *some) for name, some in cells.items()]
    paths += [write(folder, "jax/strange", kernel="d2l-strange"), folder / "executed" / "jax" / "missing.ipynb"]
    environment = {name: value for name, value in os.environ.items() if name not in {*FOLDERS, "D2L_STRICT"}}
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "tests/notebooks/test_notebooks.py"]
    command += ["-n", "2", "--notebooks", *map(str, paths)]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True).stdout


REPORTS = {
    "one that passes has its seconds and cells": r"\] passed in \d+ s, 6 cells .*\[jax/good\]",
    "one that failed once has both runs": r"\] failed in \d+ s, 2 cells, then passed in \d+ s, 2 cells .*\[jax/flaky\]",
    "the first of these stands below": r"once =+\nfirst run failed.*\n  cell 2: ClaimError: ✗ one is one\nsecond run ",
    "one that fails twice has both runs": r"\] failed in \d+ s, 2 cells, then failed in \d+ s, 2 .*\[jax/broken\]",
    "its faults stand below": r"\nrun 2 failed.*\n  cell 1: mismatch .*\n  cell 2: ZeroDivisionError: division by",
    "one that others can reach fails at once": r"\] failed in \d+ s, 1 cells tests.*\[jax/listening\]",
    "what listens stands below": r"\nrun 1 failed in .*\n  process \d+ listens on 0\.0\.0\.0:\d+: .*ipykernel",
    "a kernel that dies is noticed within seconds": r"failed in [1-5]?\d s, 4 cells\n  cell 3: .*the kernel died\n",
    "TensorFlow may listen, since its server must": r"\] failed in \d+ s, 4 cells, then failed in .*doomed\]",
    "a kernel is looked for below _build": r"\nno kernel d2l-strange below .*/_build/jupyter/share/jupyter: run `make ",
    "one that was not built is missing": r"\nno executed notebook .*missing\.ipynb: run `make book`\n",
    "timed misses are listed": r"= 2 of 3 timed .* =+\njax/good: ✗ one is one\njax/good: ✗ one is one\n",
    "too many fail the run": r"\n2 of 3 timed claims miss, more than one and than 1 %\n",
    "the rest passes": r" 4 failed, 2 passed, .*2 errors in ",
}


@pytest.mark.parametrize("said", REPORTS.values(), ids=REPORTS)
def test_the_report_of_a_run(said, session):
    assert re.search(said, session), session


def test_what_a_notebook_started_ends_with_it_even_when_its_kernel_dies(folder, session):
    started = [int(number) for number in (folder / "children").read_text().split()]
    assert [psutil.pid_exists(number) for number in started] == [False, False]


@pytest.mark.parametrize(("claims", "allowed"), [(2, 1), (28, 1), (199, 1), (200, 2), (333, 3)])
def test_a_timed_claim_may_miss_unless_the_run_is_strict(claims, allowed, monkeypatch):
    def judge(missed):
        test_notebooks.test_few_timed_claims_miss([("jax/some", Claim("it is so", i >= missed)) for i in range(claims)])

    monkeypatch.delenv("D2L_STRICT", raising=False)
    judge(allowed)
    with pytest.raises(pytest.fail.Exception):
        judge(allowed + 1)
    monkeypatch.setenv("D2L_STRICT", "1")
    judge(0)
    with pytest.raises(pytest.fail.Exception):
        judge(1)


def test_of_many_faults_five_are_told():
    assert str(Ran(2.4, 9, tuple("abcdefg"), ())).split("\n  ") == ["failed in 2 s, 9 cells", *"abcde", "and 2 more"]


def test_a_strict_run_fails_on_a_timed_claim_that_misses(tmp_path, monkeypatch):
    monkeypatch.setenv("D2L_STRICT", "1")
    ran = run(write(tmp_path, "jax/strict", code(CLAIM.format("False, timed=True"))))
    assert ran.faults == ("cell 1: ClaimError: ✗ one is one",)
