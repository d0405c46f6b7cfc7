"""A build runs notebooks in real kernels, and runs them again only when something that decides a run has changed."""

import json
import os
import pty
import re
import subprocess
import sys
import time

import nbformat
import pytest
from tiny import MACHINE, SECTION, Project, section_of

from book import FRAMEWORKS, ROOT
from book.keys import code

pytestmark = pytest.mark.kernel

LOOKS_FOR_SLOW_MODULES = """
import sys
from tiny import numbered
status = numbered(sys.argv[1:])
print([name for name in ('nbclient', 'nbformat', 'jupytext', 'markdown_it', 'zmq', 'sphinx') if name in sys.modules])
sys.exit(status)
"""


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """A project whose four notebooks have run. Tests leave it as it is."""
    project = Project(tmp_path_factory.mktemp("executed"))
    done = project.build(*FRAMEWORKS)
    assert done.returncode == 0, done.stderr
    project.said = done.stdout
    return project


@pytest.fixture
def project(tmp_path):
    """A project of which nothing has run."""
    return Project(tmp_path)


def built(project, *frameworks):
    """Build (JAX's part unless told otherwise) and return the words; fail with the errors."""
    done = project.build(*frameworks)
    assert done.returncode == 0, done.stderr
    return done.stdout


# What a build leaves


def test_an_executed_notebook_is_valid_and_has_outputs_and_counts_but_no_times_in_its_cells(executed):
    notebook = executed.read("executed")
    nbformat.validate(nbformat.from_dict(notebook))
    assert [cell["execution_count"] for cell in notebook["cells"]] == [1, 2, 3, 4, 5, 6]
    assert executed.printed() == ["one for all\n", "word: jax\n✓ a tick\n– a list item\n"]
    assert "widgets" not in notebook["metadata"]
    assert not any("execution" in cell["metadata"] for cell in notebook["cells"])


def test_a_run_records_where_and_when_it_was_and_its_slowest_cells(executed):
    facts = executed.read("executed")["metadata"]["d2l"]
    assert facts["machine"] == MACHINE
    assert facts["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert facts["versions"]["numpy"].count(".") == 2
    seconds, numbers, lines = zip(*facts["slowest"], strict=True)
    assert list(seconds) == sorted(seconds, reverse=True)
    assert sum(seconds) <= facts["seconds"] + 0.1
    assert (len(set(numbers)), len(lines)) == (5, 5)


def test_the_book_has_all_four_frameworks_their_claims_and_the_pictures(executed):
    notebook = executed.merged()
    nbformat.validate(nbformat.from_dict(notebook))
    assert list(notebook["metadata"]["d2l"]["frameworks"]) == list(FRAMEWORKS)
    book = executed.root / "_build" / "book"
    claims = json.loads((book / "claims.json").read_text(encoding="utf-8"))
    assert [(claim["framework"], claim["held"]) for claim in claims] == [(word, word != "jax") for word in FRAMEWORKS]
    assert {claim["sentence"] for claim in claims} == {"a word is long"}
    assert (book / "img" / "sum.svg").exists()
    assert (book / "index.md").exists()


def test_without_a_terminal_a_notebook_takes_two_lines(executed):
    lines = [line for line in executed.said.splitlines() if line.startswith("tiny (jax):")]
    assert lines[0] == "tiny (jax): running 6 cells"
    assert lines[1].startswith("tiny (jax): 6 cells in ")
    assert len(lines) == 2


def test_a_build_ends_with_the_seconds_of_each_notebook_and_the_slowest_cells_with_their_places(project):
    project.code("import time\ntime.sleep(1.2)")
    words = built(project).splitlines()
    assert words[-6].split() == ["seconds", "JAX"]
    row = words[-5].split()
    assert (row[0], row[1][-1]) == ("tiny", "*")
    assert 1 <= float(row[1][:-1]) < 9
    assert words[-4] == "* ran now, the others were up to date"
    assert words[-2].split(" s  ")[1] == "tiny (jax), cell 1: import time"
    assert 1.2 <= float(words[-2].split()[0]) < 9
    again = built(project).splitlines()
    assert again[1].split() == ["tiny", row[1][:-1]]
    assert again[2] == "all were up to date"
    assert again[-2] == words[-2]


# What makes a notebook run again


def test_a_changed_sentence_runs_nothing_and_reaches_reader_and_book(project):
    built(project)
    before = project.path("executed").read_bytes()
    project.section(SECTION.replace("For everyone", "For all"))
    assert "all were up to date" in project.here("build", "--frameworks", "jax").stdout
    assert project.path("executed").read_bytes() == before
    for notebook in (project.read("notebooks"), project.merged()):
        assert "For all." in [cell["source"] for cell in notebook["cells"]]


def test_with_nothing_to_do_nothing_slow_is_imported_and_nothing_is_written(project):
    built(project)
    stamp = {path: path.stat().st_mtime_ns for path in (project.root / "_build").rglob("*") if path.is_file()}
    command = [sys.executable, "-c", LOOKS_FOR_SLOW_MODULES, "build", "--frameworks", "jax", "--root", project.root]
    environment = project.environment()
    environment["PYTHONPATH"] += os.pathsep + str(ROOT / "tests")
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert "all were up to date\n" in done.stdout
    assert done.stdout.endswith("[]\n"), done.stdout
    stamp[project.root / "_build" / ".lock"] = (project.root / "_build" / ".lock").stat().st_mtime_ns
    assert {path: path.stat().st_mtime_ns for path in (project.root / "_build").rglob("*") if path.is_file()} == stamp


def test_the_stamp_of_the_stage_is_new_when_a_page_is_and_only_then(project):
    project.code("1")
    stamp = project.root / "_build" / "merged"
    built(project)
    before = stamp.stat().st_mtime_ns
    project.here("build", "--frameworks", "jax")
    assert stamp.stat().st_mtime_ns == before
    time.sleep(0.01)
    project.write("notebooks/index.md", "# Another index\n")
    project.here("build", "--frameworks", "jax")
    assert stamp.stat().st_mtime_ns > before


@pytest.fixture(scope="module")
def up_to_date(tmp_path_factory):
    """A project with JAX's notebooks of two sections; tests change one thing, ask, and change it back."""
    project = Project(tmp_path_factory.mktemp("fresh"))
    project.code("1")
    project.code("# asks d2l.your_machine() when it runs\n2", slug="asking")
    built(project)
    return project


def stale(project, *arguments):
    """Return the sections that a build would run for JAX: kernels are not started."""
    with pytest.MonkeyPatch.context() as patch:
        asked = []

        def run(slug, *_):
            asked.append(slug)
            return project.read("executed", slug=slug)

        patch.setattr("book.build.run", run)
        code.cache_clear()
        done = project.here("build", "--frameworks", "jax", *arguments)
    assert done.returncode == 0, done.stderr
    return asked


def changed(project, path, text, back=None):
    """Return what is stale once `text` stands in the file; put back what was there."""
    file = project.root / path
    before = file.read_text(encoding="utf-8") if file.exists() else None
    project.write(path, text)
    try:
        return stale(project)
    finally:
        file.write_text(before, encoding="utf-8") if before is not None else file.unlink()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("d2l_utils/timing.py", "name = 'other'\n"),
        ("d2l_utils/jax/networks.py", "name = 'other'\n"),
        ("notebooks/data/hardware.csv", "device\n"),
        ("notebooks/data/rack.json", "{}"),
    ],
)
def test_code_and_tables_that_a_framework_uses_make_it_run_again(up_to_date, path, text):
    assert stale(up_to_date) == []
    assert changed(up_to_date, path, text) == ["asking", "tiny"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("d2l_utils/torch/__init__.py", "name = 'other'\n"),
        ("d2l_utils/torch/training.py", "name = 'other'\n"),
        ("d2l_utils/timing.py", '"""What it is for."""\n\n# a remark\nname = \'timing\'  # another\n'),
    ],
)
def test_another_frameworks_module_a_comment_and_a_docstring_make_nothing_run_again(up_to_date, path, text):
    assert changed(up_to_date, path, text) == []


def test_docstrings_of_functions_and_classes_do_not_count_and_their_code_does(tmp_path):
    def hashes(*texts):
        paths = [tmp_path / f"{number}.py" for number in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text)
        code.cache_clear()
        return [code(path) for path in paths]

    bare, told, other = hashes(
        "class A:\n    def f(self):\n        return 1\n",
        'class A:\n    """An A."""\n\n    def f(self):\n        """Return 1."""\n        return 1\n',
        "class A:\n    def f(self):\n        return 2\n",
    )
    assert bare == told != other


def test_a_variable_of_the_kernels_environment_makes_its_framework_run_again(up_to_date):
    up_to_date.kernel("jax", OMP_NUM_THREADS="1")
    assert stale(up_to_date) == ["asking", "tiny"]
    up_to_date.kernel("jax")
    up_to_date.kernel("pytorch", OMP_NUM_THREADS="1")
    assert stale(up_to_date) == []


def test_another_build_of_the_framework_and_a_gpu_make_it_run_again(up_to_date, monkeypatch):
    profile = json.loads(up_to_date.profile.read_text())
    gpu = profile | {"machine": MACHINE | {"gpus": ["H100"]}}
    assert changed(up_to_date, "_build/machine.json", json.dumps(gpu)) == ["asking", "tiny"]
    monkeypatch.setattr("book.keys.packages", lambda prefix: {"jax": "0.10.2", "jax_cuda13_plugin": "0.10.2"})
    assert stale(up_to_date) == ["asking", "tiny"]


def test_another_python_of_the_kernel_makes_its_notebooks_run_again(up_to_date, monkeypatch):
    monkeypatch.setattr("book.keys.python_version", lambda prefix: "3.99.0")
    assert stale(up_to_date) == ["asking", "tiny"]


def test_the_version_of_python_and_what_is_installed_are_read_without_importing_anything(tmp_path):
    from book.keys import packages, python_version, versions

    assert python_version(tmp_path) == ""
    for line in ("version_info = 3.12.4", "version = 3.12.4"):  # uv's words, and those of venv
        (tmp_path / "pyvenv.cfg").write_text(f"home = /usr/bin\n{line}\n")
        assert python_version(tmp_path) == "3.12.4"

    for name in ("torch-2.13.0+cu130", "Numpy-2.4.0", "tensorflow_cpu-2.21.0"):
        (tmp_path / "lib/python3.11/site-packages" / f"{name}.dist-info").mkdir(parents=True)
    installed = packages(tmp_path)
    assert versions("pytorch", installed) == {"torch": "2.13.0+cu130", "numpy": "2.4.0"}
    assert versions("tensorflow", installed) == {"tensorflow": "2.21.0", "numpy": "2.4.0"}


def test_the_card_counts_only_where_a_notebook_reads_it_and_only_the_frameworks_own_part(up_to_date):
    profile = json.loads(up_to_date.profile.read_text())
    torch = profile | {"frameworks": profile["frameworks"] | {"torch": {"dispatch": 2}}}
    assert changed(up_to_date, "_build/machine.json", json.dumps(torch)) == []
    jax = profile | {"frameworks": profile["frameworks"] | {"jax": {"dispatch": 2}}}
    assert changed(up_to_date, "_build/machine.json", json.dumps(jax)) == ["asking"]
    latency = profile | {"latency": {"64": 1e-9}}
    assert changed(up_to_date, "_build/machine.json", json.dumps(latency)) == ["asking"]


def test_a_selection_runs_its_own_sections_only_and_keeps_the_others_pages(up_to_date):
    up_to_date.write("d2l_utils/timing.py", "name = 'other'\n")
    assert stale(up_to_date, "--sections", "tiny") == ["tiny"]
    line = "This section was not run in this build: `make book` runs it."
    assert up_to_date.merged("asking")["cells"][0]["source"].split("\n")[:3] == ["# Tiny", "", line]
    assert up_to_date.merged("asking")["metadata"]["d2l"]["frameworks"] == {}
    up_to_date.write("d2l_utils/timing.py", "name = 'timing'\n")
    assert stale(up_to_date, "--sections", "tiny") == []
    assert line not in json.dumps(up_to_date.merged("asking"))


# The profile of the machine


def test_a_build_lets_each_kernel_measure_its_part_of_the_card_with_its_own_settings_once(project):
    project.code("1")
    project.kernel("jax", OMP_NUM_THREADS="1")
    assert threads_of_the_card(project) == {"torch": None, "jax": "1"}
    before = project.profile.stat().st_mtime_ns
    project.here("build", "--frameworks", "jax")
    assert project.profile.stat().st_mtime_ns == before


def threads_of_the_card(project):
    """Build without kernels; return the threads that the parts of the profile were measured with."""
    with pytest.MonkeyPatch.context() as patch:
        empty = {"cells": [{"id": None, "outputs": []}], "metadata": {"d2l": {}}}
        patch.setattr("book.build.run", lambda *_: empty)
        patch.setattr("book.build.write_book", lambda *_: None)
        patch.setattr("book.build.summary", lambda *_: "")
        patch.delenv("OMP_NUM_THREADS", raising=False)
        project.here("build", "--frameworks", "jax", "pytorch")
    profile = json.loads(project.profile.read_text())
    return {name: part["threads"] for name, part in profile["frameworks"].items()}


def test_measuring_anew_keeps_the_old_card_unless_every_framework_is_measured(project):
    project.write("_build/machine.json", json.dumps({"machine": MACHINE, "frameworks": {"torch": {"dispatch": 7}}}))
    old = project.profile.read_bytes()
    good = (project.root / "d2l_utils" / "machine" / "measuring.py").read_text()
    project.write("d2l_utils/machine/measuring.py", good + "if sys.argv[1] == 'jax': sys.exit('no clock here')")
    done = project.here("profile", "--frameworks", "pytorch", "jax")
    assert done.returncode == 1
    assert done.stderr == "error: no machine profile for jax: no clock here\n"
    assert project.profile.read_bytes() == old
    assert project.here("profile", "--frameworks", "pytorch").returncode == 0
    assert json.loads(project.profile.read_text())["frameworks"]["torch"]["dispatch"] == 1


# How a notebook runs


def test_cells_run_in_an_empty_folder_that_is_gone_afterwards_and_no_path_is_printed(project):
    project.code(
        'import os, sys, tempfile, warnings\nopen("litter", "w").close()\nprint(sorted(os.listdir()))',
        'print(os.getcwd(), sys.prefix, os.path.expanduser("~"))',
        'warnings.warn("watch out")',
    )
    done = project.build("jax")
    visible, paths, warning = project.printed()
    assert "'litter'" in visible
    assert paths == ". <environment> ~\n"
    assert warning.startswith("cell.py:1: UserWarning: watch out")
    assert "warning: tiny (jax), cell 3 writes to stderr: cell.py:1: UserWarning" in done.stderr
    assert not list(project.root.rglob("litter"))


def test_on_a_terminal_one_line_shows_section_framework_cell_and_seconds(project):
    project.code("import time\ntime.sleep(1.1)")
    ours, theirs = pty.openpty()
    command = project.command("build", "--frameworks", "jax")
    with subprocess.Popen(command, env=project.environment(), stdout=theirs, stderr=theirs) as process:
        process.wait(60)
    said = os.read(ours, 10_000).decode()
    os.close(theirs)
    os.close(ours)
    line = r"\r\x1b\[Ktiny \(jax\): cell"
    assert re.search(rf"{line} 1 of 2, 0 s{line} 2 of 2, [1-9] s\r\x1b\[K", said)
    progress = said[: said.index("seconds ")]
    assert progress.count("\n") == 1


def test_a_second_build_waits_for_the_first(project):
    project.section(section_of("import time\nprint(time.time())\ntime.sleep(1.5)\nprint(time.time())"))
    calls = []
    for framework in ("jax", "pytorch"):
        command = project.command("build", "--frameworks", framework)
        calls.append(subprocess.Popen(command, env=project.environment(), stderr=subprocess.PIPE, text=True))
        time.sleep(0.5)
    said = [call.communicate(timeout=60)[1] for call in calls]
    assert "another build of this project is running: waiting until it is done" in said[1]
    spans = [[float(line) for line in project.printed(framework)[0].split()] for framework in ("jax", "pytorch")]
    assert spans[0][1] <= spans[1][0]
