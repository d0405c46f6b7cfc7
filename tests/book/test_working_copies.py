"""A reader's own notebooks: copied to work/ once, never changed, shipped or removed; and what was written in _build."""

import errno
import json
import os
import re
import subprocess
import sys
import zipfile
from unittest.mock import patch

import pytest
from tiny import SECTION, Project

from book import ROOT
from book.working_copies import is_ours

CHANGED = SECTION.replace("For everyone", "For all")
SECRET = {"cells": [{"cell_type": "code", "source": ["password = 1"], "outputs": []}], "metadata": {}}


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def edit(path, words="my answer"):
    """Change a notebook as JupyterLab saves it: each source a list of lines, the keys in the order of the alphabet."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        cell["source"] = cell["source"].splitlines(keepends=True)
    notebook["cells"].append({"cell_type": "markdown", "id": "mine", "metadata": {}, "source": [words]})
    path.write_text(json.dumps(notebook, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def names(folder):
    return sorted(path.name for path in folder.glob("*.ipynb"))


def test_an_edited_copy_stays_as_it_is_beside_the_newer_one(project):
    work = project.root / "work" / "jax"
    assert project.make("notebooks").splitlines()[-1] == "your notebooks: work/jax"
    edit(work / "tiny.ipynb")
    mine = (work / "tiny.ipynb").read_bytes()
    project.section(CHANGED)
    line = "newer versions, beside your own, which stay as they are: work/jax/tiny-2.ipynb"
    assert project.make("notebooks").splitlines()[-1] == line
    assert (work / "tiny.ipynb").read_bytes() == mine
    assert (work / "tiny-2.ipynb").read_bytes() == project.path("notebooks").read_bytes()
    assert "newer" not in project.make("notebooks")
    assert names(work) == ["index.ipynb", "tiny-2.ipynb", "tiny.ipynb"]


def test_each_version_is_put_beside_once_even_if_the_reader_removes_it(project):
    work = project.root / "work" / "jax"
    project.make("notebooks")
    for text, name in ((CHANGED, "tiny-2.ipynb"), (CHANGED.replace("For all", "For us"), "tiny-3.ipynb")):
        project.section(text)
        assert name in project.make("notebooks")
    (work / "tiny-3.ipynb").unlink()
    project.make("notebooks")
    assert names(work) == ["index.ipynb", "tiny-2.ipynb", "tiny.ipynb"]


def test_a_deleted_copy_comes_back_as_the_newest_version(project):
    own = project.root / "work" / "jax" / "tiny.ipynb"
    project.make("notebooks")
    own.unlink()
    project.section(CHANGED)
    project.make("notebooks")
    assert own.read_bytes() == project.path("notebooks").read_bytes()


@pytest.mark.parametrize("record", [None, "", "[", "{}"])
def test_without_the_record_of_copies_the_notebooks_themselves_tell_their_versions(project, record):
    project.make("notebooks")
    edit(project.root / "work" / "jax" / "tiny.ipynb")
    path = project.root / "work" / ".copied.json"
    path.unlink() if record is None else path.write_text(record)
    assert "newer" not in project.make("notebooks")
    assert names(path.parent / "jax") == ["index.ipynb", "tiny.ipynb"]


def test_a_reader_of_the_translation_has_copies_of_their_own(project):
    for path in (project.root / "notebooks" / "locale", project.root / "book"):
        path.mkdir(parents=True)
    done = project.here("notebooks", "--frameworks", "jax", "--languages", "zh")
    assert done.returncode == 0, done.stderr
    assert names(project.root / "work" / "zh" / "jax") == names(project.root / "work" / "jax")
    assert [(project.root / "work" / place / "d2l-words.json").exists() for place in ("zh/jax", "jax")] == [True, False]


@pytest.mark.parametrize("step", ["notebooks", "bundle", "handouts", "profile"])
def test_what_a_reader_wrote_in_build_is_moved_to_work_before_any_step(project, step):
    project.make("notebooks")
    for path in (project.root / "work" / "jax").iterdir():
        path.unlink()
    edit(project.path("notebooks"))
    mine = project.path("notebooks").read_bytes()
    project.write("_build/notebooks/jax/results/table.csv", "1, 2")
    project.section(CHANGED)
    printed = project.make(step)
    assert "yours, and moved out of _build: work/jax/results/table.csv, work/jax/tiny.ipynb" in printed
    assert (project.root / "work" / "jax" / "tiny.ipynb").read_bytes() == mine
    assert (project.root / "work" / "jax" / "results" / "table.csv").read_text() == "1, 2"
    assert not (project.root / "_build" / "notebooks" / "jax" / "results" / "table.csv").exists()


def test_a_teachers_changed_handout_is_kept_too(project):
    project.make("handouts")
    edit(project.path("handouts"))
    project.make("handouts")
    kept = project.root / "work" / "handouts" / "jax" / "tiny.ipynb"
    assert "my answer" in kept.read_text()
    assert "my answer" not in project.path("handouts").read_text()


def test_a_notebook_that_tells_no_version_counts_as_a_readers(project):
    project.make("notebooks")
    path = project.path("notebooks")
    notebook = json.loads(path.read_text(encoding="utf-8"))
    del notebook["metadata"]["d2l"]["version"]
    path.write_text(json.dumps(notebook), encoding="utf-8")
    assert not is_ours(path, path.parents[1])


def test_what_cannot_be_moved_is_left_where_it_is(project):
    project.make("notebooks")
    edit(project.path("notebooks"))
    mine = project.path("notebooks").read_bytes()
    for path in sorted((project.root / "work").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    (project.root / "work").rmdir()
    (project.root / "work").write_text("no folder")
    project.section(CHANGED)
    done = project.here("notebooks", "--frameworks", "jax")
    assert done.returncode == 1
    assert re.fullmatch(r"error: \S+tiny.ipynb is yours and cannot be moved to \S+ \(.+\): move it\n", done.stderr)
    assert project.path("notebooks").read_bytes() == mine


def test_a_bundle_holds_nothing_that_lies_or_was_written_beside_the_books_notebooks(project):
    project.make("notebooks")
    edit(project.path("notebooks"), "a private path")
    edit(project.root / "work" / "jax" / "tiny.ipynb", "a private path")
    for folder in ("_build/notebooks/jax", "work/jax"):
        project.write(f"{folder}/Untitled.ipynb", json.dumps(SECRET))
        project.write(f"{folder}/.env", "password")
    project.make("bundle")
    with zipfile.ZipFile(project.root / "_build" / "bundle" / "d2l-jax.zip") as packed:
        files = {name.partition("/")[2]: packed.read(name) for name in packed.namelist()}
    assert [name for name in files if name.endswith(".ipynb") or "env" in name] == ["index.ipynb", "tiny.ipynb"]
    assert not any(b"private path" in data or b"password" in data for data in files.values())


def test_the_notebook_of_a_removed_section_is_no_longer_offered_but_a_readers_copy_stays(project):
    project.code("1", slug="other")
    project.make("notebooks")
    (project.root / "notebooks" / "other.md").unlink()
    project.make("notebooks")
    assert names(project.path("notebooks").parent) == ["index.ipynb", "tiny.ipynb"]
    assert names(project.root / "work" / "jax") == ["index.ipynb", "other.ipynb", "tiny.ipynb"]


@pytest.mark.parametrize("target", ["clean", "distclean"])
def test_cleaning_keeps_what_is_a_readers(project, target):
    project.make("notebooks")
    edit(project.path("notebooks"))
    mine = project.root / "work" / "jax" / "mine.ipynb"
    mine.write_text("{}")
    project.write("_build/browsers/whole", "")
    project.write("pyproject.toml", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    of_outer_make = ("MAKE", "FRAMEWORKS", "SECTIONS", "LANGUAGES", "SOLUTIONS", "BUNDLE")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(of_outer_make)}
    environment = inherited | {"PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"}
    command = ["make", "-f", str(ROOT / "Makefile"), target, f"PYTHON={sys.executable}"]
    done = subprocess.run(command, cwd=project.root, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (project.root / "_build" / "browsers").exists() == (target == "clean")
    assert mine.exists()
    assert "my answer" in (mine.parent / "tiny-2.ipynb").read_text()
    assert not project.path("notebooks").exists()


@pytest.mark.parametrize(
    ("number", "cure"), [(errno.ENOSPC, "make room"), (errno.EROFS, "can only be read"), (errno.EACCES, "another user")]
)
def test_on_a_full_disk_or_in_a_folder_of_somebody_else_what_is_there_stays(project, number, cure):
    project.make("notebooks")
    mine = project.root / "work" / "jax" / "tiny.ipynb"
    edit(mine)
    before = mine.read_bytes()
    project.section(CHANGED)
    with patch("os.replace", side_effect=OSError(number, os.strerror(number), "work")):
        done = project.here("notebooks", "--frameworks", "jax")
    assert done.returncode == 1
    assert re.fullmatch(rf"error: .*: 'work': .*{cure}.*; what is finished is kept\n", done.stderr)
    assert mine.read_bytes() == before
