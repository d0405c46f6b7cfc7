"""The run of notebooks, tried on tiny ones: what it says of those that misbehave, and what it leaves of them."""

import json
import os
import re
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import nbformat
import psutil
import pytest
import test_notebooks
from running import CHECKED, FOLDERS, Ran, prepared, reason, run

from d2l_utils.claims import Claim

ROOT = Path(__file__).parents[2]
HELD = Claim("one is one", True)
CLAIM = "from d2l_utils.claims import claim; claim('one is one', {})"
LISTEN = "import socket, time; s = socket.create_server(('', 0)); time.sleep(1)"
LEAVE_A_CHILD = (
    "import os, subprocess, sys; child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])"
)


def cell(source, shown=None, tags=()):
    """Return a code cell that was run and showed nothing, a text or a claim."""
    outputs = [nbformat.v4.new_output("stream", text=shown)] if isinstance(shown, str) else []
    if isinstance(shown, Claim):
        outputs = [nbformat.v4.new_output("display_data", shown._repr_mimebundle_())]
    return nbformat.v4.new_code_cell(source, outputs=outputs, execution_count=1, metadata={"tags": list(tags)})


def compared(source, shown):
    """Return a cell whose output is compared."""
    return cell(source, shown, tags=[CHECKED])


def write(folder, name, cells, framework="jax", kernel="python3"):
    """Write a notebook as the build leaves it, executed and without outputs; return the path of the executed one."""
    kernelspec = {"kernelspec": {"name": kernel, "display_name": "Python", "language": "python"}}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=kernelspec)
    bare = [cell | {"outputs": [], "execution_count": None} for cell in cells]
    paths = [folder / stage / framework / f"{name}.ipynb" for stage in ("notebooks", "executed")]
    for path, content in zip(paths, (notebook | {"cells": bare}, notebook), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
    return paths[1]


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """The output of a run by hand, without the Makefile's folders, of notebooks that end in all ways."""
    folder = tmp_path_factory.mktemp("notebooks")
    again = f"from pathlib import Path; again = Path('{folder}/again'); first = not again.exists(); again.touch()"
    timed = [cell(CLAIM.format(f"{value}, timed=True, below=2")) for value in (1, 3)]
    busy = "from d2l_utils import claims; claims.free_cores = lambda n: 0"
    timed.append(cell(f"{busy}; {CLAIM.format('False, cores=2')}"))
    cells = {
        "good": [compared(CLAIM.format("True"), HELD), compared("print(2)", "2\n"), *timed],
        "flaky": [cell(again), cell(CLAIM.format("not first"))],
        "broken": [compared("print(3)", "2\n"), cell("1 / 0")],
        "listening": [cell(LISTEN)],
    }
    paths = [write(folder, name, some) for name, some in cells.items()]
    paths += [write(folder, "strange", [], kernel="d2l-strange"), folder / "executed" / "jax" / "missing.ipynb"]
    environment = {name: value for name, value in os.environ.items() if name not in {*FOLDERS, "D2L_STRICT"}}
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "tests/notebooks/test_notebooks.py"]
    command += ["--notebooks", *map(str, paths)]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True).stdout


REPORTS = {
    "one that passes has its seconds and cells": r"\[jax/good\] passed in \d+ s, 5 cells ",
    "one that failed once has both runs": r"\[jax/flaky\] failed in \d+ s, 2 cells, then passed in \d+ s, 2 cells ",
    "the first of these stands below": r"once =+\nfirst run failed.*\n  cell 2: ClaimError: ✗ one is one\nsecond run ",
    "one that fails twice has both runs": r"\[jax/broken\] failed in \d+ s, 2 cells, then failed in \d+ s, 2 cells ",
    "its faults stand below": r"\nrun 2 failed.*\n  cell 1: mismatch .*\n  cell 2: ZeroDivisionError: division by",
    "one that others can reach fails at once": r"\[jax/listening\] failed in \d+ s, 1 cells +\[",
    "what listens stands below": r"\nrun 1 failed in .*\n  process \d+ listens on 0\.0\.0\.0:\d+: .*ipykernel",
    "a kernel is looked for below _build": r"\nno kernel d2l-strange below .*/_build/jupyter/share/jupyter: run `make ",
    "one that was not built is missing": r"\nno executed notebook .*missing\.ipynb: run `make book`\n",
    "timed misses are listed": r"= 1 of 3 timed .*, 1 not checked =+\njax/good: ✗ one is one \(3; not below 2\)\n",
    "too many fail the run": r"\n1 of 3 timed claims miss, more than 1 %\n",
    "the rest passes": r" 3 failed, 2 passed, .*2 errors in ",
}


@pytest.mark.parametrize("said", REPORTS.values(), ids=REPORTS)
def test_the_report_of_a_run(said, session):
    assert re.search(said, session), session


@pytest.mark.parametrize(("held", "outcome"), [(99, nullcontext()), (98, pytest.raises(pytest.fail.Exception))])
def test_one_timed_claim_in_a_hundred_may_miss(held, outcome):
    timed = [("jax/some", HELD)] * held + [("jax/some", Claim("one is two", False))]
    with outcome:
        test_notebooks.test_at_most_one_timed_claim_in_a_hundred_misses(timed)


def test_a_strict_run_fails_on_a_timed_claim_that_misses(tmp_path, monkeypatch):
    monkeypatch.setenv("D2L_STRICT", "1")
    ran = run(write(tmp_path, "strict", [cell(CLAIM.format("False, timed=True"))]))
    assert ran.faults == ("cell 1: ClaimError: ✗ one is one",)


@pytest.fixture(scope="module")
def doomed(tmp_path_factory):
    """The run of a TensorFlow notebook that leaves a child behind, listens everywhere and ends its own kernel."""
    folder = tmp_path_factory.mktemp("doomed")
    tell = f"open('{folder}/pid', 'w').write(str(child.pid))"
    cells = [cell(source) for source in (LEAVE_A_CHILD, tell, LISTEN, "os._exit(3)", "1")]
    return run(write(folder, "doomed", cells, "tensorflow")), int((folder / "pid").read_text())


def test_a_kernel_that_dies_is_noticed_within_seconds(doomed):
    assert re.match("cell 4: .*the kernel died$", doomed[0].faults[0])
    assert (doomed[0].cells, doomed[0].seconds < 60) == (5, True)


def test_what_a_notebook_started_ends_with_it_even_when_its_kernel_dies(doomed):
    assert not psutil.pid_exists(doomed[1])


def test_a_tensorflow_notebook_may_listen_since_its_server_cannot_do_otherwise(doomed):
    assert doomed[0].listeners == ()


def test_only_the_cells_that_are_compared_have_outputs_before_the_run(tmp_path):
    first, second = prepared(write(tmp_path, "some", [compared("1", "1\n"), cell("2", HELD)]))["cells"]
    assert [output["text"] for output in first["outputs"]] == ["1\n"]
    assert (second["outputs"], second["execution_count"]) == ([], None)


@pytest.mark.parametrize("differs", [{"evidence": "0.3, below 0.5"}, {"timed": True}])
def test_a_claim_whose_result_differs_from_run_to_run_cannot_be_compared(differs, tmp_path):
    path = write(tmp_path, "some", [compared("claim()", replace(HELD, **differs))])
    with pytest.raises(ValueError, match="result differs from run to run"):
        prepared(path)


def test_a_notebook_whose_compared_cell_was_not_run_is_out_of_date(tmp_path):
    path = write(tmp_path, "some", [compared("1", "1")])
    path.write_text(path.read_text().replace('"execution_count": 1', '"execution_count": null'))
    with pytest.raises(ValueError, match="out of date, run make book"):
        prepared(path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Cell 1\nTraceback:\n#x1B[31mClaimError#x1B[39m: ✗ it is (2)\n  note: 1", "ClaimError: ✗ it is (2)"),
        ("Cell 1: Timeout of 300 seconds exceeded\nTraceback:\nKeyboardInterrupt: ", "Timeout of 300 seconds"),
        ("Cell 1: Cell outputs differ\nTraceback:\n mismatch 'stream'\n  - 3\n  + 2\n", "mismatch 'stream' - 3 + 2"),
        ("pytest plugin exception: Kernel dead on test start", "pytest plugin exception: Kernel dead on test start"),
    ],
)
def test_the_reason_of_a_failure_is_told_in_one_line(text, told):
    assert reason(text) == told


def test_of_many_faults_five_are_told():
    assert str(Ran(2.4, 9, tuple("abcdefg"), ())).split("\n  ") == ["failed in 2 s, 9 cells", *"abcde", "and 2 more"]
