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
from tiny import MACHINE, Project

from book import FRAMEWORKS, ROOT
from book.outputs import PREDICTION
from book.run_keys import code
from d2l_lab.instruments.predictions import Comparison

pytestmark = pytest.mark.slow

ALL, OTHER = ["asking", "tiny"], "name = 'other'\n"
TOLD = '"""What it is for."""\n\n# a remark\ndef name():\n    """Say it."""\n    return \'timing\'  # another\n'
LOOKS_FOR_SLOW_MODULES = """
import sys
from tiny import numbered
status = numbered(sys.argv[1:])
print([name for name in ('nbclient', 'nbformat', 'jupytext', 'markdown_it', 'zmq', 'sphinx') if name in sys.modules])
sys.exit(status)
"""


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """A project whose notebooks have all run. Tests leave it as it is."""
    project = Project(tmp_path_factory.mktemp("executed"))
    done = project.build(*FRAMEWORKS)
    assert done.returncode == 0, done.stderr
    project.said = done.stdout
    return project


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


# What a build leaves


def test_an_executed_notebook_says_how_it_ran(executed):
    notebook = executed.read("executed")
    nbformat.validate(nbformat.from_dict(notebook))
    assert [cell["execution_count"] for cell in notebook["cells"]] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert executed.printed() == ["one for all\n", "word: jax\n✓ a tick\n– a list item\n"]
    assert "widgets" not in notebook["metadata"]
    assert not any("execution" in cell["metadata"] for cell in notebook["cells"])
    facts = executed.read("executed")["metadata"]["d2l"]
    assert facts["machine"] == MACHINE
    assert 0 <= facts["busy"] <= 1
    assert facts["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert facts["versions"]["numpy"].count(".") == 2
    seconds, numbers, lines = zip(*facts["slowest"], strict=True)
    assert list(seconds) == sorted(seconds, reverse=True)
    assert sum(seconds) <= facts["seconds"] + 0.1
    assert (len(set(numbers)), len(lines)) == (5, 5)


def test_the_book_holds_what_all_frameworks_found(executed):
    notebook = executed.merged()
    nbformat.validate(nbformat.from_dict(notebook))
    assert list(notebook["metadata"]["d2l"]["frameworks"]) == list(FRAMEWORKS)
    book = executed.root / "_build" / "book"
    claims = json.loads((book / "claims.json").read_text(encoding="utf-8"))
    held = [(claim["framework"], claim["held"]) for claim in claims if claim["sentence"] == "a word is long"]
    assert held == [(word, word != "jax") for word in FRAMEWORKS]
    assert (book / "img" / "sum.svg").exists()
    assert (book / "index.md").exists()
    first, second = [line for line in executed.said.splitlines() if line.startswith("tiny (jax):")]
    assert first == "tiny (jax): running 8 cells"
    assert second.startswith("tiny (jax): 8 cells in ")
    assert len(executed.said.split("the slowest cells:\n")[1].splitlines()) == 5


def test_a_build_collects_predictions_for_the_line_on_the_models(project):
    comparison = Comparison("adding", "model", "s", 1.0, 1.2, 1.1, 1.3)
    shown = comparison._repr_mimebundle_()
    project.code(f"from IPython.display import display\ndisplay({shown!r}, raw=True)")
    done = project.build()
    last = "JAX: 1 model, median 1.20 ×, 100 % within 1.5 ×, worst 1.20 × (tiny: adding)"
    assert done.stdout.splitlines()[-1] == last
    cell = project.merged()["cells"][1]["id"]
    path = project.root / "_build" / "book" / "predictions.json"
    about = {"section": "tiny", "title": "Tiny", "framework": "jax", "cell": cell}
    assert json.loads(path.read_text(encoding="utf-8")) == [about | shown[PREDICTION]]


@pytest.mark.parametrize(("busy_runs", "runs"), [(0, 1), (1, 2), (9, 2)])
def test_a_notebook_whose_model_missed_while_it_was_disturbed_runs_once_more_at_the_end(project, busy_runs, runs):
    log = project.root / "runs"
    project.code(
        f"log = open({str(log)!r}, 'a+'); _ = log.write('.'); _ = log.seek(0); n = len(log.read()); log.close()\n"
        "from d2l_lab.instruments.predictions import Comparison\n"
        f"busy = {{'others': 1.0, 'cores': 2}} if n <= {busy_runs} else {{}}\n"
        "Comparison('adding', 'model', 's', 1.0, 9.0 if busy else 1.1, 1.1, 1.1, **busy).show()"
    )
    done = project.build()
    assert done.returncode == 0, done.stderr
    assert len(log.read_text()) == runs
    again = "tiny (jax) runs once more, because it was disturbed and missed: adding"
    assert done.stdout.splitlines().count(again) == runs - 1
    assert ("1 disturbed" in done.stdout.splitlines()[-1]) == (busy_runs == 9)
    assert project.build().returncode == 0
    assert len(log.read_text()) == runs


def test_a_notebook_that_finds_no_compiler_is_left_out_in_one_line_and_its_page_says_so(project):
    project.code("class NoCompilerError(Exception): pass\nraise NoCompilerError('no compiler: install one')")
    done = project.build()
    assert done.returncode == 0
    assert done.stderr == "left out: tiny (jax), cell 1: NoCompilerError: no compiler: install one\n"
    assert not project.path("executed").exists()
    assert "This section was not run" in project.merged()["cells"][0]["source"]


# What makes a notebook run again


@pytest.fixture(scope="module")
def up_to_date(tmp_path_factory):
    """A project with JAX's notebooks of two sections; tests change one thing, ask, and change it back."""
    project = Project(tmp_path_factory.mktemp("fresh"))
    project.code("1")
    project.code("# asks d2l.your_machine() when it runs\n2", slug="asking")
    project.write("_build/machine.json", json.dumps({"machine": MACHINE, "frameworks": {"jax": {"dispatch": 1}}}))
    assert project.build().returncode == 0
    return project


def stale(project, *options, frameworks=("jax",), **variables):
    """Return the sections that a build with these environment variables would run: kernels are not started."""
    asked = []

    def run(slug, cells, *_):
        asked.append(slug)
        facts = {"seconds": 0, "slowest": [], "date": "", "machine": {}, "versions": {}}
        return {"cells": cells, "metadata": {"d2l": facts}}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("book.build.run", run)
        code.cache_clear()
        done = project.here("build", "--frameworks", *frameworks, *options, **variables)
    assert done.returncode == 0, done.stderr
    return asked


def changed(project, path, text):
    """Return what is stale once `text` stands in the file; put back what was there."""
    file = project.root / path
    before = file.read_text(encoding="utf-8") if file.exists() else None
    project.write(path, text)
    try:
        return stale(project)
    finally:
        file.write_text(before, encoding="utf-8") if before is not None else file.unlink()


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("d2l_utils/timing.py", OTHER, ALL),
        ("d2l_utils/jax/networks.py", OTHER, ALL),
        ("d2l_lab/tables/hardware.csv", "device\n", ALL),
        ("d2l_lab/tables/rack.json", "{}", ALL),
        ("d2l_lab/kernels/tile.h", "#define ROWS 6\n", ALL),
        ("notebooks/data/gpu.json", "{}", []),
        ("jupyter/kernels/d2l-jax/kernel.json", {"env": {"OMP_NUM_THREADS": "1"}}, ALL),
        ("jupyter/kernels/d2l-pytorch/kernel.json", {"env": {"OMP_NUM_THREADS": "1"}}, []),
        ("d2l_utils/torch/__init__.py", OTHER, []),
        ("d2l_utils/torch/training.py", OTHER, []),
        ("d2l_utils/timing.py", TOLD, []),
        ("d2l_utils/timing.py", TOLD.replace("'timing'", "'clocks'"), ALL),
        ("_build/machine.json", {"machine": MACHINE | {"gpus": ["H100"]}}, ALL),
        ("_build/machine.json", {"machine": MACHINE | {"cores": 1}}, ALL),
        ("_build/machine.json", {"others": [{"machine": MACHINE | {"cores": 1}, "frameworks": {}}]}, []),
        ("_build/machine.json", {"frameworks": {"jax": {"dispatch": 1, "failed": {"int8": "?"}, "tried": 1}}}, []),
        ("_build/machine.json", {"frameworks": {"jax": {"dispatch": 1}, "torch": {"dispatch": 2}}}, []),
        ("_build/machine.json", {"frameworks": {"jax": {"dispatch": 2}}}, ["asking"]),
        ("_build/machine.json", {"latency": {"64": 1e-9}}, ["asking"]),
    ],
)
def test_only_what_a_notebook_uses_makes_it_run_again(up_to_date, path, text, expected):
    if isinstance(text, dict):
        text = json.dumps(json.loads((up_to_date.root / path).read_text(encoding="utf-8")) | text)
    assert stale(up_to_date) == []
    assert changed(up_to_date, path, text) == expected


@pytest.mark.parametrize(
    ("name", "found"), [("packages", {"jax": "0.10.2", "jax_cuda13_plugin": "0.10.2"}), ("python_version", "3.99.0")]
)
def test_another_installation_makes_it_run_again(up_to_date, monkeypatch, name, found):
    monkeypatch.setattr(f"book.run_keys.{name}", lambda prefix: found)
    assert stale(up_to_date) == ALL


def test_a_variable_that_decides_what_kernels_compute_makes_them_run_again(up_to_date):
    assert stale(up_to_date, OMP_NUM_THREADS="1") == ALL
    assert stale(up_to_date, D2L_STRICT="1") == []


def test_a_changed_sentence_reaches_all_notebooks_without_a_run(up_to_date):
    stamp = up_to_date.root / "_build" / "merged"
    before, built = up_to_date.path("executed").read_bytes(), stamp.stat().st_mtime_ns
    source = (up_to_date.root / "notebooks" / "tiny.md").read_text(encoding="utf-8")
    assert changed(up_to_date, "notebooks/tiny.md", source.replace("# Tiny\n", "# Tiny\n\nFor all.\n")) == []
    assert up_to_date.path("executed").read_bytes() == before
    assert stamp.stat().st_mtime_ns > built
    for notebook, number in ((up_to_date.read("notebooks"), "1. "), (up_to_date.merged(), "")):
        assert notebook["cells"][0]["source"] == f"# {number}Tiny\n\nFor all."


def test_with_nothing_to_do_a_build_only_looks(up_to_date):
    def stamps():
        files = [path for path in (up_to_date.root / "_build").rglob("*") if path.is_file() and path.name != ".lock"]
        return {path: path.stat().st_mtime_ns for path in files}

    assert stale(up_to_date) == []
    before = stamps()
    command = [sys.executable, "-c", LOOKS_FOR_SLOW_MODULES, "build", "--frameworks", "jax", "--root", up_to_date.root]
    environment = up_to_date.environment()
    environment["PYTHONPATH"] += os.pathsep + str(ROOT / "tests")
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert "all were up to date\n" in done.stdout
    assert done.stdout.endswith("[]\n"), done.stdout
    assert stamps() == before


def test_a_selection_runs_its_own_sections_alone(up_to_date):
    up_to_date.write("d2l_utils/timing.py", OTHER)
    assert stale(up_to_date, "--sections", "tiny") == ["tiny"]
    assert up_to_date.merged("asking")["metadata"]["d2l"]["frameworks"] == {}
    up_to_date.write("d2l_utils/timing.py", TOLD)
    assert stale(up_to_date, "--sections", "tiny") == []
    assert list(up_to_date.merged("asking")["metadata"]["d2l"]["frameworks"]) == ["jax"]


# The profile of the machine


def test_a_build_lets_each_kernel_measure_its_part_of_the_profile_with_its_own_settings_once(project):
    project.code("1")
    project.kernel("jax", OMP_NUM_THREADS="1")
    stale(project, frameworks=["pytorch", "jax"])
    before = project.profile.stat().st_mtime_ns
    parts = json.loads(project.profile.read_text())["frameworks"]
    assert {name: part["threads"] for name, part in parts.items()} == {"torch": None, "jax": "1"}
    stale(project)
    assert project.profile.stat().st_mtime_ns == before


def test_measuring_anew_keeps_the_old_profile_unless_every_framework_is_measured(project):
    project.write("_build/machine.json", json.dumps({"machine": MACHINE, "frameworks": {"torch": {"dispatch": 7}}}))
    old = project.profile.read_bytes()
    good = (project.root / "d2l_lab" / "machine" / "measuring.py").read_text()
    project.write("d2l_lab/machine/measuring.py", good + "if sys.argv[1] == 'jax': sys.exit('no clock here')")
    done = project.here("profile", "--frameworks", "pytorch", "jax")
    assert (done.returncode, done.stderr) == (1, "error: no machine profile for jax: no clock here\n")
    assert project.profile.read_bytes() == old
    assert project.here("profile", "--frameworks", "pytorch").returncode == 0
    assert json.loads(project.profile.read_text())["frameworks"]["torch"]["dispatch"] == 1


# How a notebook runs


def test_cells_run_in_an_empty_folder_whose_path_is_not_printed(project):
    project.code(
        'import os, sys, tempfile, warnings\nopen("litter", "w").close()\nprint(sorted(os.listdir()))',
        'print(os.getcwd(), sys.prefix, os.path.expanduser("~"))',
        'warnings.warn("watch out")',
    )
    done = project.build()
    visible, paths, warning = project.printed()
    assert "'litter'" in visible
    assert paths == ". <environment> ~\n"
    assert warning.startswith("cell.py:1: UserWarning: watch out")
    assert "warning: tiny (jax), cell 3 writes to stderr: cell.py:1: UserWarning" in done.stderr
    assert [path.name for path in (project.root / "_build" / "left" / "jax" / "tiny").iterdir()] == ["litter"]


def test_on_a_terminal_one_line_shows_how_far_a_build_is(project):
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
    lines = said[: said.index("seconds ")].split("\n")[:-1]
    assert len([line for line in lines if not line.startswith("other programs")]) == 1


def test_a_second_build_waits_for_the_first(project):
    project.code("import time\nprint(time.time())\ntime.sleep(1.5)\nprint(time.time())")
    calls = []
    for framework in ("jax", "pytorch"):
        command = project.command("build", "--frameworks", framework)
        calls.append(subprocess.Popen(command, env=project.environment(), stderr=subprocess.PIPE, text=True))
        time.sleep(0.5)
    said = [call.communicate(timeout=60)[1] for call in calls]
    assert "another build of this project is running: waiting until it is done" in said[1]
    (_, ended), (began, _) = [map(float, project.printed(word)[0].split()) for word in ("jax", "pytorch")]
    assert ended <= began


def test_outputs_stay_in_the_order_in_which_a_cell_made_them(project):
    project.code(
        "from IPython.display import HTML, display\n"
        'print("before")\ndisplay(HTML("<b>one"))\nprint("after", end="")\nprint(" 1 %\\rAFTER")\n'
        'display(2)\nprint("last")'
    )
    assert project.build().returncode == 0
    outputs = project.read("executed")["cells"][0]["outputs"]
    plain = [output.get("text") or output["data"]["text/plain"] for output in outputs]
    assert plain == ["before\n", "<IPython.core.display.HTML object>", "AFTER 1 %\n", "2", "last\n"]


LEAVES = """
import os, socket
os.mkdir("folder"); open("folder/kept", "w").close(); os.symlink("folder/kept", "link"); os.symlink(".", "here")
os.mkfifo("fifo"); os.symlink("nowhere", "dangling"); os.symlink("loop", "loop"); os.symlink("/", "root")
os.symlink("/dev/zero", "device"); os.symlink("../../..", "out"); open(".hidden", "w").close()
s = socket.socket(socket.AF_UNIX); s.bind("socket")
"""


def test_of_what_a_run_leaves_only_what_can_be_copied_is_kept(project):
    project.code(LEAVES)
    done = project.build()
    assert (done.returncode, done.stderr) == (0, "")
    left = project.root / "_build" / "left" / "jax" / "tiny"
    assert {path.name for path in left.iterdir()} == {"folder", "link", "here"}
    assert (left / "link").resolve() == (left / "folder" / "kept").resolve()


def test_a_run_whose_files_cannot_be_kept_is_kept_itself(project):
    project.write("_build/left/jax/tiny", "a file where a folder belongs")
    project.code("1")
    done = project.build()
    assert done.returncode == 0
    assert done.stderr.startswith("warning: tiny (jax): not all files that it left are kept: ")
    assert project.path("executed").exists()
