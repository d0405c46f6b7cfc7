"""What goes wrong while notebooks run: one line says it, nothing good is lost, nothing keeps running."""

import json
import signal
import subprocess
import sys
import time

import psutil
import pytest
from tiny import MACHINE, OTHERS, SECTION, Project

from book import execute
from d2l_lab.processes import control

pytestmark = pytest.mark.slow


@pytest.fixture
def project(tmp_path):
    """A project with an executed notebook that no failure may touch."""
    project = Project(tmp_path)
    project.good = b'{"cells": [], "metadata": {"d2l": {"key": "good"}}}'
    project.write(project.path("executed"), project.good.decode())
    project.write("_build/machine.json", json.dumps({"machine": MACHINE, "frameworks": {"jax": {}}}))
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
    """Start a child, run these cells; check what holds for every failure; return what was said on stderr."""
    project.code(child(project), *sources)
    done = project.build(options=options)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert project.path("executed").read_bytes() == project.good
    assert not orphans(project)
    return done.stderr


def test_the_notebook_of_a_failing_cell_is_kept_apart_until_the_next_call(project):
    first, second = fails(project, 'print("so far")', "1 / 0", 'print("never")').splitlines()
    assert first == "error: tiny (jax), cell 3: ZeroDivisionError: division by zero"
    assert second == f"  the notebook as far as it came: {project.path('failed')}"
    _, printed, failed, never, _ = [cell["outputs"] for cell in project.read("failed")["cells"]]
    assert (printed[0]["text"], failed[0]["ename"], never) == ("so far\n", "ZeroDivisionError", [])
    project.code("2 + 2")
    assert project.build().returncode == 0
    assert not project.path("failed").exists()
    assert '"text/plain": "4"' in project.path("executed").read_text()


def test_an_error_in_what_a_cell_displays_is_one_although_jupyter_goes_on(project):
    source = "class Table:\n    def _repr_html_(self):\n        return 1 / 0\n\ndisplay(Table())"
    said = fails(project, source)
    assert said.startswith(
        "error: tiny (jax), cell 2: cannot display what it made: ZeroDivisionError: division by zero"
    )


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("import os\nos._exit(3)", "the kernel died (exit status 3)\n"),
        ("import os\nos.kill(os.getpid(), 9)", "the kernel died (signal SIGKILL, perhaps for want of memory)\n"),
        (
            'import os\nos.write(2, b"low-level trouble\\n")\nos.abort()',
            "the kernel died (signal SIGABRT)\n  the kernel said last: low-level trouble\n",
        ),
        ("import time\ntime.sleep(60)", "ran longer than 5 s: make it do less, or allow more with"),
    ],
)
def test_a_dead_or_slow_kernel_takes_its_children_along(project, source, why):
    assert fails(project, source, options=["--timeout", "5"]).startswith(f"error: tiny (jax), cell 2: {why}")


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (["/nowhere/python"], "/nowhere/python"),
        ([sys.executable, "-c", 'raise SystemExit("no ipykernel")'], "the kernel said last: no ipykernel"),
    ],
)
def test_a_kernel_that_does_not_start_is_named(project, command, why):
    kernel = {"argv": command, "display_name": "JAX", "language": "python"}
    project.write("jupyter/kernels/d2l-jax/kernel.json", json.dumps(kernel))
    said = fails(project)
    assert " does not start: " in said
    assert why in said


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_after_an_interrupted_run_the_next_call_goes_on(project, number, status):
    mark = project.root / "started"
    project.code(child(project), f'open({str(mark)!r}, "w").close()\nimport time\ntime.sleep(60)')
    command, pipe = project.command("build", "--frameworks", "jax"), subprocess.PIPE
    with subprocess.Popen(command, env=project.environment(), stdout=pipe, stderr=pipe, text=True) as process:
        while not mark.exists():
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        stopped = time.monotonic()
        process.send_signal(number)
        _, said = process.communicate(timeout=20)
    assert time.monotonic() - stopped < 12  # it waits for no cell; half a second where a core is free
    assert process.returncode == status
    assert said.splitlines()[0] == f"error: tiny (jax), cell 2: interrupted by {number.name}"
    assert "Traceback" not in said
    assert project.path("executed").read_bytes() == project.good
    assert project.path("failed").exists()
    assert not orphans(project)
    project.code("1")
    assert project.build().returncode == 0


def test_a_child_that_cannot_be_killed_is_named_within_a_bound(monkeypatch, capsys):
    monkeypatch.setattr(control, "GRACE", 0.1)
    monkeypatch.setattr(control, "BOUND", 0.1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(psutil.Process, "terminate", lambda self: None)
        patch.setattr(psutil.Process, "kill", lambda self: None)
        with execute.no_orphans("tiny (jax)"):
            process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    process.kill()
    process.wait()
    assert capsys.readouterr().err == f"warning: tiny (jax): cannot end the processes it started: {process.pid}\n"
    monkeypatch.setattr(sys, "platform", "darwin")
    with execute.no_orphans("tiny (jax)"):
        pass
    assert capsys.readouterr().err == "tiny (jax): a process that it detaches from its kernel is not ended on darwin\n"


def test_the_first_failure_ends_the_build_but_finished_notebooks_stay(project):
    project.section(SECTION.replace("word = 'tensor'", "1 / 0"))
    done = project.build("pytorch", OTHERS[0], "jax")
    assert done.returncode == 1
    assert f"tiny ({OTHERS[0]}), cell 2: ZeroDivisionError" in done.stderr
    assert project.path("executed", "pytorch").exists()
    assert project.path("executed").read_bytes() == project.good
    assert not (project.root / "_build" / "merged").exists()


TINY, PROFILE, KERNEL = "notebooks/tiny.md", "_build/machine.json", "jupyter/kernels/d2l-jax/kernel.json"
EXECUTED = "_build/executed/jax/tiny.ipynb"


@pytest.mark.parametrize(
    ("path", "text", "problem"),
    [
        (TINY, SECTION.replace("drawing, jax]", "jxa]"), "tiny.md, cell 5 (from IPython.display import SVG): unknown"),
        (TINY, "---\na: [\n---\n", "tiny.md cannot be read"),
        (TINY, SECTION.replace('+++ {"tags": ["jax"]}', '+++ {"tags"'), "tiny.md cannot be read"),
        (TINY, SECTION.replace(':alt: "Two', ':alt: "Two"'), "tiny.md: the options of {figure} cannot be read"),
        (PROFILE, "[]", "machine.json is damaged"),
        (KERNEL, None, "error: JAX has no kernel d2l-jax: `make setup` installs it\n"),
        (EXECUTED, '{"cells": [', f"{EXECUTED} is damaged"),
        (EXECUTED, '{"cells": [', "delete it and run make again\n"),
        ("d2l_utils/timing.py", "x = 1\ndef f(:\n", "d2l_utils/timing.py, line 2: invalid syntax\n"),
    ],
)
def test_a_wrong_file_is_named_with_its_cure(project, path, text, problem):
    project.write("d2l_lab/machine/measuring.py", "")  # a damaged profile is not measured anew
    if text is None:
        (project.root / path).unlink()
    else:
        project.write(path, text)
    done = project.here("build", "--frameworks", "jax")
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert problem in done.stderr
    assert done.stderr.count("\n") == 1 or path == TINY  # whose reader may show the place in lines of its own
