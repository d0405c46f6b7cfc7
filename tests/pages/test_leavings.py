"""Pages that are no more: gone from every folder of pages, with all that belonged to them and nothing else."""

import shutil
from zipfile import ZipFile

import pytest
from tiny_book import RUN, Book, code, notebook, prose, shown

from book.translations import LANGUAGES

SVG = '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0H{}"/></svg>'


def page(title, width):
    picture = shown({"image/svg+xml": SVG.format(width)})
    return notebook(
        prose(f"# {title}\n\nWords."),
        code("draw()", "jax", outputs=[picture], mystnb={"image": {"alt": title}}),
        jax=RUN,
    )


def files(folder):
    """Return the paths of a folder's files, but for what Sphinx itself keeps there, and its empty folders."""
    paths = [path for path in folder.rglob("*") if path.is_file() or not any(path.iterdir())]
    names = {path.relative_to(folder).as_posix() for path in paths}
    return {name for name in names if not name.startswith(("_static/", ".", "META-INF")) and "." in name[1:]}


@pytest.fixture
def book(tmp_path):
    return Book(tmp_path, {"kept": page("Kept", 1), "gone": page("Gone", 2), "back/words": "# Words\n\nOne.\n"})


def leave(book, *names):
    """Remove pages from the sources of a book, and their lines from the table of contents."""
    index = book.folder / "book" / "index.md"
    text = index.read_text(encoding="utf-8")
    for name in names:
        for path in (book.folder / "book").glob(f"{name}.*"):
            path.unlink()
        text = text.replace(f"\n{name}\n", "\n")
    index.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("forgotten", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_page_that_is_no_more_takes_its_files_along(book, forgotten):
    before = files(book.output())
    leave(book, "gone", "back/words")
    if forgotten:
        shutil.rmtree(book.folder / "doctrees")  # Sphinx knows of no earlier page then
    assert book.build() == (0, "")
    lost = before - files(book.folder / "html")
    assert {"gone.html", "_texts/gone.js", "back/words.html", "_texts/back/words.js"} < lost
    kinds = sorted(name.partition("/")[0] for name in lost if name.startswith(("_images", "_downloads")))
    assert kinds == ["_downloads", "_images"]
    assert files(book.folder / "html") == files(Book(book.folder / "new", {"kept": page("Kept", 1)}).output())
    assert not (book.folder / "html" / "back").exists()


@pytest.mark.slow
def test_what_belongs_to_no_page_of_the_language_stays(book):
    others = [f"{code}/gone.html" for code in LANGUAGES] + ["_static/play/one.html", "robots.txt", ".kept/one.html"]
    for name in others:
        path = book.output() / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")
    leave(book, "gone")
    assert book.build() == (0, "")
    assert [name for name in (*others, "search.html", "kept.html") if not (book.folder / "html" / name).exists()] == []


@pytest.mark.slow
def test_an_e_book_goes_without_a_page_that_is_no_more(book):
    book.output("epub")
    leave(book, "gone")
    assert book.build("epub") == (0, "")
    with ZipFile(next((book.folder / "epub").glob("*.epub"))) as packed:
        names = packed.namelist()
    assert "kept.xhtml" in names
    assert [name for name in names if "gone" in name] == []
