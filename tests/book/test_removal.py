"""A framework leaves the project by its folder of d2l_utils, its tables in pyproject.toml and its cells."""

import os
import re
import shutil
import subprocess
import sys

import jupytext
import pytest
from jupytext.config import load_jupytext_configuration_file

from book import FRAMEWORKS, MODULES, ROOT

LEAVING = list(FRAMEWORKS)[-1]
QUICK = (
    "tests/d2l_utils/test_interface.py",
    "tests/content/test_taught.py",
    "tests/content/test_envelope.py",
    "tests/book/test_cells.py",
)


def without_tables(text, framework):
    """Return pyproject.toml without the framework's dependency group and its table."""
    text = re.sub(rf"(?ms)^{framework} = \[\n.*?^\]\n", "", text)
    return re.sub(rf"(?ms)^\[tool\.d2l\.frameworks\.{framework}\]\n.*?(?=^\[)", "", text)


def without_cells(notebook, framework):
    """Return a section without the cells of the framework alone."""
    kept = []
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        others = [tag for tag in tags if tag in FRAMEWORKS and tag != framework]
        if framework in tags and others:
            cell.metadata["tags"] = [tag for tag in tags if tag != framework]
        if framework not in tags or others:
            kept.append(cell)
    notebook.cells = kept
    return notebook


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the project that the last of the frameworks has left."""
    folder = tmp_path_factory.mktemp("project")
    names = ["book", "d2l_utils", "notebooks", "tests", "pyproject.toml", "jupytext.toml", "README.md"]
    for name in names:
        into = folder / name
        skipped = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, into, ignore=skipped) if (ROOT / name).is_dir() else shutil.copy(ROOT / name, into)
    shutil.rmtree(folder / "d2l_utils" / MODULES[LEAVING])
    project = folder / "pyproject.toml"
    project.write_text(without_tables(project.read_text(encoding="utf-8"), LEAVING), encoding="utf-8")
    settings = load_jupytext_configuration_file(str(ROOT / "jupytext.toml"))
    for path in (folder / "notebooks").glob("*.md"):
        notebook = without_cells(jupytext.read(path, fmt="md:myst"), LEAVING)
        path.write_text(jupytext.writes(notebook, fmt="md:myst", config=settings), encoding="utf-8")
    return folder


def python(copy, *arguments):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_table_of_frameworks_is_the_list_of_folders(copy):
    said = python(copy, "-c", "import book; print(*book.FRAMEWORKS); print(book.__file__)").split()
    assert said == [*[name for name in FRAMEWORKS if name != LEAVING], str(copy / "book" / "__init__.py")]


def test_the_readers_notebooks_are_written_for_the_others(copy):
    python(copy, "-m", "book", "notebooks")
    written = {path.name for path in (copy / "_build" / "notebooks").iterdir() if path.is_dir()}
    assert written & FRAMEWORKS.keys() == FRAMEWORKS.keys() - {LEAVING}


def test_tests_without_a_framework_pass(copy):
    python(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", *QUICK)


def test_only_what_is_the_frameworks_own_leaves_pyproject(copy):
    old, new = ((folder / "pyproject.toml").read_text(encoding="utf-8") for folder in (ROOT, copy))
    gone = [line for line in old.splitlines() if line not in new.splitlines()]
    assert f"{LEAVING} = [" in gone
    assert f"[tool.d2l.frameworks.{LEAVING}]" in gone
    assert not any(f'"{MODULES[LEAVING]}==' in line for line in new.splitlines())
