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

pytestmark = pytest.mark.slow

LEAVING = list(FRAMEWORKS)[-1]
TABLES = re.compile(rf"(?ms)^{LEAVING} = \[\n.*?^\]\n|^\[tool\.d2l\.frameworks\.{LEAVING}\]\n.*?(?=^\[)")
QUICK = (
    "tests/d2l_utils/test_interface.py",
    "tests/content/test_taught.py",
    "tests/content/test_envelope.py",
    "tests/book/test_cells.py",
)


def without_cells(notebook):
    """Return a section without the cells of the leaving framework alone, and without its tag at those of several."""
    kept = []
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        if LEAVING in tags:
            cell.metadata["tags"] = tags = [tag for tag in tags if tag != LEAVING]
            if not FRAMEWORKS.keys() & set(tags):
                continue
        kept.append(cell)
    notebook.cells = kept
    return notebook


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the project that the last of the frameworks has left."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("book", "d2l_utils", "d2l_lab", "rack", "notebooks", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("jupytext.toml", "README.md"):
        shutil.copy(ROOT / name, folder)
    shutil.rmtree(folder / "d2l_utils" / MODULES[LEAVING])
    (folder / "d2l_utils" / "d2l_names" / f"{MODULES[LEAVING]}.py").unlink()
    project, tables = TABLES.subn("", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert tables == 2
    (folder / "pyproject.toml").write_text(project, encoding="utf-8")
    settings = load_jupytext_configuration_file(str(ROOT / "jupytext.toml"))
    for path in (folder / "notebooks").glob("*.md"):
        notebook = without_cells(jupytext.read(path, fmt="md:myst"))
        path.write_text(jupytext.writes(notebook, fmt="md:myst", config=settings), encoding="utf-8")
    return folder


def python(copy, *arguments):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_notebooks_are_written_for_the_frameworks_of_the_table(copy):
    found = python(copy, "-c", "import book; print(*book.FRAMEWORKS); print(book.__file__)").split()
    assert found == [*[name for name in FRAMEWORKS if name != LEAVING], str(copy / "book" / "__init__.py")]
    assert f"{MODULES[LEAVING]}==" not in (copy / "pyproject.toml").read_text(encoding="utf-8")
    python(copy, "-m", "book", "notebooks")
    written = {path.name for path in (copy / "_build" / "notebooks").iterdir() if path.is_dir()}
    assert written & FRAMEWORKS.keys() == FRAMEWORKS.keys() - {LEAVING}


def test_tests_without_a_framework_pass(copy):
    python(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", *QUICK)
