"""What goes wrong while notebooks run: one line says it, nothing good is lost, nothing keeps running."""

import json
import signal
import subprocess
import sys
import time

import psutil
import pytest
from tiny import SECTION, Project


@pytest.fixture
def project(tmp_path):
    """A project with an executed notebook that no failure may touch."""
    project = Project(tmp_path)
    project.good = b'{"cells": [], "metadata": {"d2l": {"key": "good"}}}'
    project.write(project.path("executed"), project.good.decode())
    yield project
    assert not orphans(project)


def orphans(project):
    """Return the processes that a cell of this project left; they carry its folder in their command line."""
    found = []
    for process in psutil.process_iter():
        try:
            if any(str(project.root) in part or "d2l-" in part and ".kernel" in part for part in process.cmdline()):
                found.append(process)
        except psutil.Error:
            pass  # it ended while we looked
    return found


def child(project):
    """Return code that starts a child in a session of its own, marked by the project's folder."""
    return (
        f'import subprocess, sys\nsubprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", '
        f'"{project.root}"], start_new_session=True)'
    )


def fails(project, *sources, options=()):
    """Run these cells; check what holds for every failure; return what was said on stderr."""
    project.code(*sources)
    project.split("jax")
    done = project.execute("jax", *options)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert project.path("executed").read_bytes() == project.good
    assert not orphans(project)
    return done.stderr


def test_a_failing_cell_is_named_and_its_notebook_is_kept_apart(project):
    said = fails(project, child(project), 'print("so far")', "1 / 0", 'print("never")')
    first, second = said.splitlines()
    assert first == "error: tiny (jax), cell 3: ZeroDivisionError: division by zero"
    assert second == f"  the notebook as far as it came: {project.path('failed')}"
    outputs = [cell.get("outputs") for cell in project.read("failed")["cells"]]
    assert outputs[2][0]["text"] == "so far\n"
    assert outputs[3][0]["ename"] == "ZeroDivisionError"
    assert outputs[4] == []


def test_the_next_call_goes_on_and_clears_the_failed_notebook(project):
    fails(project, "1 / 0")
    project.code("2 + 2")
    project.split("jax")
    assert project.execute().returncode == 0
    assert not project.path("failed").exists()
    assert '"text/plain": "4"' in project.path("executed").read_text()


@pytest.mark.parametrize(
    ("death", "why"),
    [
        ("import os\nos._exit(3)", "exit status 3"),
        ("import os\nos.kill(os.getpid(), 9)", "signal SIGKILL, perhaps for want of memory"),
    ],
)
def test_a_dead_kernel_is_named_and_takes_its_children_along(project, death, why):
    assert f"error: tiny (jax), cell 2: the kernel died ({why})\n" in fails(project, child(project), death)


def test_the_last_words_of_a_dying_kernel_are_repeated(project):
    said = fails(project, 'import os\nos.write(2, b"low-level trouble\\n")\nos.abort()')
    assert "the kernel died (signal SIGABRT)\n  the kernel said last: low-level trouble\n" in said


def test_a_cell_that_takes_too_long_is_stopped(project):
    said = fails(project, "import time\ntime.sleep(60)", options=["--timeout", "1"])
    assert said.startswith("error: tiny (jax), cell 1: ran longer than 1 s: make it do less, or allow more with")


def test_a_missing_kernel_is_named_with_its_cure(project):
    (project.root / "jupyter/kernels/d2l-jax/kernel.json").unlink()
    assert fails(project, "1").startswith("error: tiny (jax): no kernel d2l-jax: `make book` installs it")


def test_a_run_without_the_card_of_the_machine_names_the_cure(project):
    (project.root / "_build" / "machine.json").unlink()
    assert "machine.json is missing: `make card` measures it" in fails(project, "1")


@pytest.mark.parametrize("command", [["/nowhere/python"], [sys.executable, "-c", 'raise SystemExit("no ipykernel")']])
def test_a_kernel_that_does_not_start_is_named(project, command):
    path = project.root / "jupyter/kernels/d2l-jax/kernel.json"
    path.write_text(json.dumps({"argv": command, "display_name": "JAX", "language": "python"}))
    said = fails(project, "1")
    assert said.startswith("error: tiny (jax): the kernel does not start: ")
    assert "/nowhere/python" in said or "the kernel said last: no ipykernel" in said


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_ends_at_once_and_the_next_call_goes_on(project, number, status):
    mark = project.root / "started"
    project.code(child(project), f'open({str(mark)!r}, "w").close()\nimport time\ntime.sleep(6)')
    project.split("jax")
    with subprocess.Popen(
        project.command("execute", project.path("notebooks")),
        env=project.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while not mark.exists():
            time.sleep(0.05)
        stopped = time.monotonic()
        process.send_signal(number)
        _, said = process.communicate(timeout=20)
    assert time.monotonic() - stopped < 4
    assert process.returncode == status
    assert said.splitlines()[0] == f"error: tiny (jax), cell 2: interrupted by {number.name}"
    assert "Traceback" not in said
    assert project.path("executed").read_bytes() == project.good
    assert not orphans(project)
    assert project.execute().returncode == 0


def test_the_first_failure_ends_the_call_and_finished_notebooks_stay(project):
    project.section(SECTION.replace("word = 'tensor'", "1 / 0"))
    project.split()
    notebooks = [project.path("notebooks", framework) for framework in ("pytorch", "mxnet", "jax")]
    done = project.call("execute", *notebooks)
    assert done.returncode == 1
    assert "tiny (mxnet), cell 2: ZeroDivisionError" in done.stderr
    assert project.path("executed", "pytorch").exists()
    assert project.path("executed").read_bytes() == project.good


def test_a_wrong_source_stops_split_with_file_and_cell(project):
    project.section(SECTION.replace("[jax]", "[jxa]"))
    done = project.split()
    assert done.returncode == 1
    assert done.stderr.startswith("error: tiny.md, cell 5 (from IPython.display import SVG): unknown tag 'jxa'; known")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("section", ["---\na: [\n---\n", SECTION.replace('+++ {"tags": ["jax"]}', '+++ {"tags"')])
def test_a_source_that_cannot_be_read_is_named(project, section):
    project.section(section)
    done = project.split()
    assert done.returncode == 1
    assert "tiny.md cannot be read" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_stale_notebook_stops_merge_with_file_and_cell(project):
    project.code("1 + 1")
    project.split("jax")
    project.write(project.path("executed"), project.path("notebooks").read_text())
    project.code("2 + 2")
    done = project.merge("jax")
    assert done.returncode == 1
    assert "error: tiny.md (jax): the executed notebook is stale at cell 2 (2 + 2) of the source" in done.stderr


def test_merge_says_which_notebook_has_not_run(project):
    done = project.merge("jax", "mxnet")
    assert done.returncode == 1
    assert f"{project.path('executed', 'mxnet')} is missing: `make book` runs it" in done.stderr


def test_a_misspelt_section_or_framework_is_named(project):
    assert "tni.md is missing" in project.call("split", "tni").stderr
    assert "invalid choice: 'jxa'" in project.call("split", "tiny", "--frameworks", "jxa").stderr


def test_a_damaged_notebook_is_named_with_its_cure(project):
    project.write(project.path("notebooks"), '{"cells": [')
    done = project.execute()
    assert done.returncode == 1
    assert "is damaged" in done.stderr
    assert "Traceback" not in done.stderr
