"""The run of a notebook, tried on tiny ones: what it tells of those that misbehave, and what it leaves of them."""

import json
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import psutil
import pytest
from running import CHECKED, Ran, prepared, reason, run

ROOT = Path(__file__).parents[2]
TRUE = {"sentence": "one is one", "held": True, "evidence": "", "note": ""}
SHOWN = {"application/vnd.d2l.claim+json": TRUE, "text/plain": "✓ one is one"}
LEAVE_A_CHILD = (
    "import os, subprocess, sys; child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])"
)


def cell(source, *outputs, tags=(CHECKED,)):
    return nbformat.v4.new_code_cell(source, outputs=list(outputs), execution_count=1, metadata={"tags": list(tags)})


def display(data):
    return nbformat.v4.new_output("display_data", data)


def write(folder, name, cells, framework="jax"):
    """Write a notebook as the build leaves it, executed and without outputs; return the path of the executed one."""
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python", "language": "python"}}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=kernel)
    bare = [cell | {"outputs": [], "execution_count": None} for cell in cells]
    paths = [folder / stage / framework / f"{name}.ipynb" for stage in ("notebooks", "executed")]
    for path, content in zip(paths, (notebook | {"cells": bare}, notebook), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
    return paths[1]


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """The status and the output of a run of four notebooks, and the folder in which they leave files."""
    folder = tmp_path_factory.mktemp("notebooks")
    claim = "from d2l_utils.claims import claim; claim('one is one', {})"
    good = [cell(claim.format("True"), display(SHOWN)), cell("print(2)", nbformat.v4.new_output("stream", text="2\n"))]
    flaky = f"from pathlib import Path; again = Path('{folder}/again'); first = not again.exists(); again.touch()"
    cells = {
        "good": good,
        "flaky": [cell(flaky, tags=()), cell(claim.format("not first"), tags=())],
        "broken": [cell("print(3)", nbformat.v4.new_output("stream", text="2\n")), cell("1 / 0", tags=())],
        "listening": [cell("import socket, time; s = socket.create_server(('', 0)); time.sleep(1)", tags=())],
    }
    paths = [str(write(folder, name, some)) for name, some in cells.items()]
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "tests/notebooks/test_notebooks.py"]
    done = subprocess.run([*command, "--notebooks", *paths], cwd=ROOT, capture_output=True, text=True)
    return done.returncode, done.stdout


def line(session, name):
    """Return the end of the line of a notebook."""
    (found,) = [line for line in session[1].splitlines() if f"[jax/{name}] " in line and "::" in line.split()[0]]
    return found.split("] ")[1]


def test_a_notebook_that_passes_has_a_line_with_its_seconds_and_cells(session):
    assert re.match(r"passed in \d+ s, 2 cells ", line(session, "good"))


def test_a_notebook_that_fails_once_passes_and_both_outcomes_are_printed(session):
    assert re.match(r"failed in \d+ s, 2 cells, then passed in \d+ s, 2 cells ", line(session, "flaky"))
    first, second = r"first run failed in .*\n  cell 2: ClaimError: ✗ one is one\n", r"second run passed in .*\n="
    assert re.search(rf"jax/flaky failed once =+\n{first}{second}", session[1])


def test_a_notebook_that_fails_twice_fails_with_both_outcomes(session):
    assert re.match(r"failed in \d+ s, 2 cells, then failed in \d+ s, 2 cells ", line(session, "broken"))
    faults = r".*\n  cell 1: mismatch .*\n  cell 2: ZeroDivisionError: division by zero\n"
    assert re.search(f"first run failed{faults}second run failed{faults}", session[1])


def test_a_notebook_that_listens_where_others_can_reach_it_fails_at_once(session):
    assert re.match(r"failed in \d+ s, 1 cells ", line(session, "listening"))
    assert re.search(r"\n  process \d+ listens on 0\.0\.0\.0:\d+: .*ipykernel", session[1])


def test_only_what_fails_twice_or_listens_fails_the_tests(session):
    assert session[0] == 1
    assert "2 failed, 2 passed" in session[1]


@pytest.fixture(scope="module")
def doomed(tmp_path_factory):
    """The run of a TensorFlow notebook that leaves a child behind, listens everywhere and ends its own kernel."""
    folder = tmp_path_factory.mktemp("doomed")
    tell = f"open('{folder}/pid', 'w').write(str(child.pid))"
    listen = "import socket, time; s = socket.create_server(('', 0)); time.sleep(1)"
    cells = [cell(source, tags=()) for source in (LEAVE_A_CHILD, tell, listen, "os._exit(3)", "1")]
    return run(write(folder, "doomed", cells, "tensorflow")), int((folder / "pid").read_text())


def test_a_kernel_that_dies_is_noticed_within_seconds(doomed):
    assert doomed[0].faults[0].startswith("cell 4: ")
    assert doomed[0].faults[0].endswith("the kernel died")
    assert doomed[0].cells == 5
    assert doomed[0].seconds < 60


def test_what_a_notebook_started_ends_with_it_even_when_its_kernel_dies(doomed):
    assert not psutil.pid_exists(doomed[1])


def test_a_tensorflow_notebook_may_listen_since_its_server_cannot_do_otherwise(doomed):
    assert doomed[0].listeners == ()


def test_only_the_cells_that_are_compared_have_outputs_before_the_run(tmp_path):
    path = write(tmp_path, "some", [cell("1", display({"text/plain": "1"})), cell("2", display(SHOWN), tags=())])
    compared, free = prepared(path)["cells"]
    assert [output["data"] for output in compared["outputs"]] == [{"text/plain": "1"}]
    assert (free["outputs"], free["execution_count"]) == ([], None)


def test_the_figures_of_a_claim_cannot_be_compared(tmp_path):
    shown = {"application/vnd.d2l.claim+json": TRUE | {"evidence": "0.3, below 0.5"}}
    with pytest.raises(ValueError, match="figures differ from run to run"):
        prepared(write(tmp_path, "some", [cell("claim()", display(shown))]))


def test_a_notebook_whose_cell_was_not_run_is_out_of_date(tmp_path):
    path = write(tmp_path, "some", [cell("1")])
    path.write_text(path.read_text().replace('"execution_count": 1', '"execution_count": null'))
    with pytest.raises(ValueError, match="out of date, run make book"):
        prepared(path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "Cell 1: Cell execution failed\nTraceback:\n#x1B[31mClaimError#x1B[39m: ✗ it is (2)\n  note: 1",
            "ClaimError: ✗ it is (2)",
        ),
        ("Cell 1: Timeout of 300 seconds exceeded\nTraceback:\nKeyboardInterrupt: ", "Timeout of 300 seconds"),
        ("Cell 1: Cell outputs differ\nTraceback:\n mismatch 'stream'\n  - 3\n  + 2\n", "mismatch 'stream' - 3 + 2"),
        ("pytest plugin exception: Kernel dead on test start", "pytest plugin exception: Kernel dead on test start"),
    ],
)
def test_the_reason_of_a_failure_is_told_in_one_line(text, told):
    assert reason(text) == told


def test_of_many_faults_five_are_told():
    assert str(Ran(2.4, 9, tuple("abcdefg"), ())).split("\n  ") == ["failed in 2 s, 9 cells", *"abcde", "and 2 more"]
