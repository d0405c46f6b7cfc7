"""Notebooks run in real kernels, and run again only when they have to."""

import json
import os
import pty
import subprocess
import sys
import time

import nbformat
import pytest
from tiny import FRAMEWORKS, MACHINE, SECTION, Project

LOOKS_FOR_SLOW_MODULES = """
import sys
from book.__main__ import main
status = main(sys.argv[1:])
print([name for name in ('nbclient', 'nbformat', 'jupytext', 'markdown_it', 'zmq') if name in sys.modules])
sys.exit(status)
"""


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """A project whose four notebooks have run and were merged. Tests leave it as it is."""
    project = Project(tmp_path_factory.mktemp("executed"))
    project.said = project.split().stdout
    for framework in FRAMEWORKS:
        done = project.execute(framework)
        assert done.returncode == 0, done.stderr
        project.said += done.stdout
    done = project.merge()
    assert done.returncode == 0, done.stderr
    return project


@pytest.fixture
def project(tmp_path):
    """A project of which nothing has run."""
    return Project(tmp_path)


def ran(project, *options):
    """Split, execute JAX's notebook and return the finished process; fail with its words."""
    assert project.split("jax").returncode == 0
    done = project.execute("jax", *options)
    assert done.returncode == 0, done.stderr
    return done


def printed(project):
    return [output["text"] for cell in project.read("executed")["cells"] for output in cell.get("outputs", [])]


# What a run leaves


def test_an_executed_notebook_is_valid_and_has_outputs_and_counts(executed):
    notebook = executed.read("executed")
    nbformat.validate(nbformat.from_dict(notebook))
    counts = [cell["execution_count"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert counts == [1, 2, 3, 4, 5]
    assert "widgets" not in notebook["metadata"]
    assert not any("execution" in cell["metadata"] for cell in notebook["cells"])


def test_a_run_records_where_and_when_it_was(executed):
    facts = executed.read("executed")["metadata"]["d2l"]
    assert set(facts) == {"key", "seconds", "date", "machine", "versions"}
    assert facts["machine"] == MACHINE
    assert facts["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert "numpy" in facts["versions"]


def test_the_book_has_all_four_frameworks_and_their_claims(executed):
    notebook = executed.merged()
    nbformat.validate(nbformat.from_dict(notebook))
    assert list(notebook["metadata"]["d2l"]["frameworks"]) == FRAMEWORKS
    book = executed.root / "_build" / "book"
    claims = json.loads((book / "claims.json").read_text(encoding="utf-8"))
    assert [(claim["framework"], claim["held"]) for claim in claims] == [
        ("pytorch", True),
        ("tensorflow", True),
        ("jax", False),
        ("mxnet", True),
    ]
    assert (book / "img" / "sum.svg").exists()
    assert (book / "index.md").exists()


def test_a_second_merge_writes_the_same_notebook_and_touches_nothing_else(executed):
    book = executed.root / "_build" / "book"
    merged = (book / "tiny.ipynb").read_bytes()
    others = [path for path in book.rglob("*") if path.is_file() and path.name != "tiny.ipynb"]
    before = [path.stat().st_mtime_ns for path in others]
    assert executed.merge().returncode == 0
    assert (book / "tiny.ipynb").read_bytes() == merged
    assert [path.stat().st_mtime_ns for path in others] == before


def test_without_a_terminal_a_notebook_takes_two_lines(executed):
    lines = [line for line in executed.said.splitlines() if "(jax)" in line]
    assert lines[0] == "tiny (jax): running 5 cells"
    assert lines[1].startswith("tiny (jax): 5 cells in ")
    assert len(lines) == 2


def test_the_executed_notebook_passes_nbval_and_a_changed_output_fails(executed, tmp_path):
    good, bad = tmp_path / "good.ipynb", tmp_path / "bad.ipynb"
    text = executed.path("executed").read_text(encoding="utf-8")
    good.write_text(text)
    bad.write_text(text.replace("word: jax\\n", "word: other\\n"))
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--nbval-lax",
        "--nbval-cell-timeout",
        "60",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
    ]
    results = [
        subprocess.run([*command, str(path)], env=executed.environment(), cwd=tmp_path, capture_output=True, text=True)
        for path in (good, bad)
    ]
    assert [result.returncode for result in results] == [0, 1], results[0].stdout
    assert "1 failed, 4 passed" in results[1].stdout


# What makes a notebook run again


def test_a_change_of_prose_runs_nothing_imports_nothing_slow_and_keeps_the_outputs(project):
    ran(project)
    before = printed_and_counted(project)
    project.section(SECTION.replace("For everyone", "For all"))
    assert project.split("jax").returncode == 0
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            LOOKS_FOR_SLOW_MODULES,
            "--root",
            str(project.root),
            "execute",
            str(project.path("notebooks")),
        ],
        env=project.environment(),
        capture_output=True,
        text=True,
    )
    assert done.stdout == "tiny (jax): up to date\n[]\n"
    assert printed_and_counted(project) == before
    assert "For all." in [cell["source"] for cell in project.read("executed")["cells"]]


def printed_and_counted(project):
    return [
        (cell["outputs"], cell["execution_count"])
        for cell in project.read("executed")["cells"]
        if cell["cell_type"] == "code"
    ]


def test_pins_utilities_and_tables_of_the_framework_make_it_run_again_and_others_do_not(project):
    project.code("1")
    ran(project)
    for path in ("d2l_utils/torch.py", "requirements/mxnet.txt"):
        project.write(project.root / path, "changed\n")
    assert "up to date" in project.execute().stdout
    for path in ("d2l_utils/timing.py", "d2l_utils/jax.py", "requirements/jax.txt", "notebooks/data/hardware.csv"):
        project.write(project.root / path, "changed\n")
        assert "stale: its pins or d2l_utils" in project.merge("jax").stderr
        assert "running 2 cells" in project.execute().stdout


def test_a_notebook_that_is_up_to_date_counts_as_new_for_make(project):
    project.code("1")
    ran(project)
    os.utime(project.path("executed"), (0, 0))
    project.execute()
    assert project.path("executed").stat().st_mtime >= project.path("notebooks").stat().st_mtime


# How a notebook runs


def test_cells_run_in_an_empty_folder_that_is_gone_afterwards_and_no_path_is_printed(project):
    project.code(
        'import os, sys, tempfile, warnings\nopen("litter", "w").close()\nprint(sorted(os.listdir()))',
        'print(os.getcwd(), sys.prefix, os.path.expanduser("~"))',
        'warnings.warn("watch out")',
    )
    done = ran(project)
    visible, paths, warning = printed(project)
    assert "'litter'" in visible
    assert paths == ". <environment> ~\n"
    assert warning.startswith("cell.py:1: UserWarning: watch out")
    assert "warning: tiny (jax), cell 3 writes to stderr: cell.py:1: UserWarning" in done.stderr
    assert not list(project.root.rglob("litter"))


def test_claims_are_strict_only_when_the_caller_says_so(project, monkeypatch):
    project.code('import os\nprint(os.environ.get("D2L_STRICT_CLAIMS"))')
    monkeypatch.delenv("D2L_STRICT_CLAIMS", raising=False)
    ran(project)
    assert printed(project) == ["None\n"]
    monkeypatch.setenv("D2L_STRICT_CLAIMS", "1")
    project.path("executed").unlink()
    ran(project)
    assert printed(project) == ["1\n"]


def test_on_a_terminal_one_line_shows_section_framework_cell_and_seconds(project):
    project.code("import time\ntime.sleep(2.5)")
    project.split("jax")
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        project.command("execute", project.path("notebooks")), env=project.environment(), stdout=theirs, stderr=theirs
    ) as process:
        process.wait(60)
    said = os.read(ours, 10_000).decode()
    os.close(theirs)
    os.close(ours)
    assert "\r\x1b[Ktiny (jax): cell 1 of 2, " in said
    assert said.count("cell 1 of 2") >= 3
    assert said.count("\n") == 1


def test_two_calls_at_once_run_one_after_the_other(project):
    project.code("import time\nprint(time.time())\ntime.sleep(2)\nprint(time.time())")
    project.split("jax", "mxnet")
    calls = []
    for framework in ("jax", "mxnet"):
        calls.append(
            subprocess.Popen(
                project.command("execute", project.path("notebooks", framework)),
                env=project.environment(),
                stdout=subprocess.PIPE,
                text=True,
            )
        )
        time.sleep(0.5)
    said = [call.communicate(timeout=60)[0] for call in calls]
    assert "tiny (mxnet): waiting until the notebook that runs now is done" in said[1]
    spans = []
    for framework in ("jax", "mxnet"):
        cell = project.read("executed", framework)["cells"][1]
        spans.append([float(line) for line in cell["outputs"][0]["text"].split()])
    assert spans[0][1] <= spans[1][0]
