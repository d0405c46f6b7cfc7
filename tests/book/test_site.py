"""The site: the pages with links to what was built, in the language of each."""

import re
import shutil

import pytest

from book import BookError
from book.layout import Layout
from book.site import MARK, write_site

PAGES = ["index.html", "tiny.html", "back/words.html", "zh/index.html", "zh/back/words.html"]
BUILT = [
    "computational-performance-jax.pdf",
    "computational-performance-jax-zh.pdf",
    "bundle/d2l-pytorch.zip",
    "slides/jax/index.html",
    "slides/jax/tiny.html",
]


@pytest.fixture
def layout(tmp_path):
    """A project whose pages are built."""
    for name in PAGES:
        write(tmp_path, f"html/{name}", f"<p>{name}</p>{MARK}")
    return Layout(tmp_path)


def write(root, name, text=""):
    path = root / "_build" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def links(site, name):
    """Return the targets of a page's links, which all have to be there, as paths in the site."""
    path = site / name
    targets = [(path.parent / href).resolve() for href in re.findall('href="([^"]*)"', path.read_text("utf-8"))]
    assert all(target.is_file() for target in targets)
    return [target.relative_to(site.resolve()).as_posix() for target in targets]


def test_pages_name_what_was_built_in_their_language_with_the_slides_of_their_section(layout):
    for name in BUILT:
        write(layout.root, name)
    site = write_site(layout)
    bundle, pdf = "downloads/d2l-pytorch.zip", "downloads/computational-performance-jax.pdf"
    assert links(site, "index.html") == [bundle, pdf, "downloads/slides-jax/index.html"]
    assert links(site, "tiny.html") == [bundle, pdf, "downloads/slides-jax/tiny.html"]
    assert links(site, "back/words.html") == [bundle, pdf, "downloads/slides-jax/index.html"]
    for name in ("zh/index.html", "zh/back/words.html"):
        assert links(site, name) == ["downloads/computational-performance-jax-zh.pdf"]


def test_pages_name_nothing_that_was_not_built(layout):
    assert (write_site(layout) / "tiny.html").read_text(encoding="utf-8") == "<p>tiny.html</p>"


def test_an_english_site_has_english_documents_alone(layout):
    shutil.rmtree(layout.build / "html" / "zh")
    for name in BUILT:
        write(layout.root, name)
    assert not [*write_site(layout).rglob("*-zh*")]


def test_what_is_gone_is_gone_from_the_site(layout):
    write_site(layout)
    (layout.build / "html" / "tiny.html").unlink()
    assert not (write_site(layout) / "tiny.html").exists()


def test_without_pages_there_is_no_site(tmp_path):
    with pytest.raises(BookError, match="holds no pages: run make book"):
        write_site(Layout(tmp_path))
