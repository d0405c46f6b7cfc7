"""The site: the pages with links to what was built, in the language of each."""

import re
import shutil

import pytest
from tiny import Project

from book.site import MARK

PAGES = ["index.html", "tiny.html", "back/words.html", "zh/index.html", "zh/back/words.html"]
PDF, CHINESE, BUNDLE = "computational-performance-jax.pdf", "computational-performance-jax-zh.pdf", "d2l-pytorch.zip"
BUILT = [PDF, CHINESE, f"bundle/{BUNDLE}", "slides/jax/index.html", "slides/jax/tiny.html"]


@pytest.fixture
def project(tmp_path):
    """A project whose pages are built."""
    project = Project(tmp_path)
    for name in PAGES:
        project.write(f"_build/html/{name}", f"<p>{name}</p>{MARK}")
    return project


def site(project):
    """Put the site together anew; return the targets of each page's links, all of which have to be there."""
    done = project.here("site")
    assert (done.returncode, done.stderr) == (0, "")
    folder = project.root / "_build" / "site"
    found = {}
    for path in folder.rglob("*.html"):
        targets = [(path.parent / href).resolve() for href in re.findall('href="([^"]*)"', path.read_text("utf-8"))]
        assert all(target.is_file() for target in targets)
        found[path.relative_to(folder).as_posix()] = [each.relative_to(folder).as_posix() for each in targets]
    return found


def test_pages_name_only_what_is_built_in_their_language(project):
    assert site(project) == {name: [] for name in PAGES}
    for name in BUILT:
        project.write(f"_build/{name}", "")
    found = site(project)
    for name, slides in {"index": "index", "tiny": "tiny", "back/words": "index"}.items():
        documents = [BUNDLE, PDF, f"slides-jax/{slides}.html"]
        assert found[f"{name}.html"] == [f"downloads/{document}" for document in documents]
    assert found["zh/index.html"] == found["zh/back/words.html"] == [f"downloads/{CHINESE}"]
    shutil.rmtree(project.root / "_build" / "html" / "zh")
    (project.root / "_build" / "html" / "tiny.html").unlink()
    assert not {*PAGES[3:], "tiny.html"} & {*site(project)}
    assert not [*(project.root / "_build" / "site").rglob("*-zh*")]


def test_without_pages_there_is_no_site(tmp_path):
    done = Project(tmp_path).here("site")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "holds no pages: run make book" in done.stderr
