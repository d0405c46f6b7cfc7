"""What editors, systems and readers leave among the project's files changes nothing and stops nothing."""

import subprocess
import sys

import pytest
from tiny import MACHINE, Project
from tiny_book import INDEX

from book.layout import Edition, own_files
from book.run_keys import code, environment_facts
from book.sources import slugs
from book.translations.catalogues import names, sources

FILES = [
    "notebooks/._tiny.md",
    "notebooks/.tiny.md.swp",
    "notebooks/tiny.md~",
    "notebooks/#tiny.md#",
    "notebooks/tiny copy.md",
    "notebooks/tiny (1).md",
    "notebooks/tiny.orig.md",
    "notebooks/tiny_BACKUP_1234.md",
    "notebooks/README.md",
    "notebooks/tiny.ipynb",
    "notebooks/Untitled.ipynb",
    "notebooks/folder.md/tiny.md",
    "notebooks/venv/lib/site-packages/tiny.md",
    "notebooks/.ipynb_checkpoints/tiny-checkpoint.md",
    "notebooks/img/.DS_Store",
    "notebooks/img/Thumbs.db",
    "notebooks/img/._sum.svg",
    "notebooks/img/folder.svg/sum.svg",
    "notebooks/back/._list.md",
    "notebooks/back/list copy.md",
    "notebooks/back/folder.md/list.md",
    "d2l_lab/tables/.DS_Store",
    "d2l_lab/tables/._hardware.csv",
    "d2l_lab/tables/hardware.csv~",
    "d2l_lab/tables/.ipynb_checkpoints/hardware-checkpoint.csv",
    "notebooks/locale/Thumbs.db",
    "notebooks/locale/zh_CN/._tiny.po",
    "d2l_utils/._timing.py",
    "d2l_utils/timing copy.py",
    "d2l_utils/.ipynb_checkpoints/timing-checkpoint.py",
    "_build/book/.ipynb_checkpoints/tiny-checkpoint.ipynb",
    "_build/book/Untitled.ipynb",
    "_build/book/folder.md/tiny.md",
    "_build/book/img/.DS_Store",
]
LINKS = [  # Emacs writes one, which leads nowhere, beside each file that is being changed
    "notebooks/.#tiny.md",
    "notebooks/img/.#sum.svg",
    "d2l_lab/tables/.#hardware.csv",
    "notebooks/locale/zh_CN/.#tiny.po",
    "d2l_utils/.#timing.py",
    "_build/book/.#tiny.ipynb",
    "_build/notebooks/jax/.#tiny.ipynb",
]


@pytest.fixture
def project(tmp_path):
    project = Project(tmp_path)
    project.write("notebooks/index.md", INDEX.replace("page", "tiny"))
    project.write("notebooks/back/list.md", "---\norphan: true\n---\n\n# List\n")
    project.write("d2l_lab/tables/hardware.csv", "device\n")
    return project


def litter(project):
    for path in FILES:
        file = project.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"\x00\xff{")
    for path in LINKS:
        (project.root / path).parent.mkdir(parents=True, exist_ok=True)
        (project.root / path).symlink_to("reader@machine.1:2")


def looked_at(project):
    """Return what a build reads of a project, and what makes a notebook run again."""
    code.cache_clear()
    layout = Edition(project.root)
    around = {"framework": "jax", "version": "", "settings": {}, "packages": {}}
    kernel = type("Kernel", (), around)
    return (
        slugs(layout),
        list(sources(layout)),
        names(layout.catalogues),
        environment_facts(project.root, kernel, {"machine": {}}),
    )


def written(project, monkeypatch):
    """Build all but the outputs; return the files that pages are made of."""
    facts = {"seconds": 0, "slowest": [], "date": "", "machine": {}, "versions": {}}
    monkeypatch.setattr("book.build.run", lambda slug, cells, *_: {"cells": cells, "metadata": {"d2l": facts}})
    project.write("_build/machine.json", f'{{"machine": {{"cpu": "{MACHINE["cpu"]}"}}, "frameworks": {{"jax": {{}}}}}}')
    done = project.here("build", "--frameworks", "jax")
    assert (done.returncode, done.stderr) == (0, "")
    return own_files(project.root / "_build" / "book", "*", "*/*")


def test_stray_files_change_nothing(project, monkeypatch):
    before, pages = looked_at(project), written(project, monkeypatch)
    litter(project)
    assert looked_at(project) == before
    assert written(project, monkeypatch) == pages
    left = [path for path in (project.root / "_build" / "book").glob("*.*") if path.is_symlink() or path.is_file()]
    assert sorted(left) == [path for path in pages if path.parent.name == "book"]


def test_a_folder_where_a_file_belongs_is_named(project):
    (project.root / "_build" / "source" / "tiny.json").mkdir(parents=True)
    done = project.here("notebooks", "--frameworks", "jax")
    assert done.returncode == 1
    assert done.stderr == f"error: {project.root}/_build/source/tiny.json is a folder, not a file: move it away\n"


@pytest.mark.slow
def test_the_first_pass_reads_the_sources_alone(project):
    project.code("1")
    litter(project)
    command = [sys.executable, "-m", "book", "notebooks", "--frameworks", "jax", "--root", str(project.root)]
    done = subprocess.run(command, env=project.environment(), capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert project.read("notebooks")["cells"]
