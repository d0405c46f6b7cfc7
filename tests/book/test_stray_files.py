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

NAMES = {  # of what no folder's own programs write; names are parted by bars
    "notebooks": "._tiny.md|.tiny.md.swp|tiny.md~|#tiny.md#|tiny copy.md|tiny (1).md|tiny.orig.md|tiny_BACKUP_1234.md"
    "|README.md|tiny.ipynb|Untitled.ipynb|folder.md/tiny.md|venv/lib/site-packages/tiny.md"
    "|.ipynb_checkpoints/tiny-checkpoint.md|img/.DS_Store|img/Thumbs.db|img/._sum.svg|img/folder.svg/sum.svg"
    "|back/._list.md|back/list copy.md|back/folder.md/list.md|locale/Thumbs.db|locale/zh_CN/._tiny.po",
    "d2l_lab/tables": ".DS_Store|._hardware.csv|hardware.csv~|.ipynb_checkpoints/hardware-checkpoint.csv",
    "d2l_utils": "._timing.py|timing copy.py|.ipynb_checkpoints/timing-checkpoint.py",
    "_build/book": ".ipynb_checkpoints/tiny-checkpoint.ipynb|Untitled.ipynb|folder.md/tiny.md|img/.DS_Store",
}
FILES = [f"{folder}/{name}" for folder, names in NAMES.items() for name in names.split("|")]
# Emacs writes a link, which leads nowhere, beside each file that is being changed.
CHANGING = "notebooks/.#tiny.md notebooks/img/.#sum.svg d2l_lab/tables/.#hardware.csv notebooks/locale/zh_CN/.#tiny.po"
LINKS = [*CHANGING.split(), *(f"{place}/.#tiny.ipynb" for place in ("_build/book", "_build/notebooks/jax"))]
LINKS.append("d2l_utils/.#timing.py")


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
    project.make("build")
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
