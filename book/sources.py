"""The sources of the sections, kept below `_build/source` once they are read, and the numbers of the whole book."""

import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from book import ROOT, BookError
from book.cells import MIME, Entry, Notebook, expand, lint, of, split
from book.headings import folded, marked, numbered
from book.hosted import linked, repository
from book.layout import Edition, dump, own_files, read_json, up_to_date
from book.paths import paths_in
from book.run_keys import code, hashed, packages
from book.words import fixed_words
from book.working_copies import version_of
from d2l_lab.files import write_atomically

HERE = ROOT / "book"
PICTURES = [f"img/*.{ending}" for ending in MIME]


@cache
def our_code(*patterns: str) -> str:
    """Return a hash of what these files of the package do."""
    return hashed(*[code(path) for pattern in patterns for path in own_files(HERE, pattern)])


def slugs(edition: Edition) -> list[str]:
    """Return the sections that there are, in the order of the landing page's table of contents."""
    order = toctree((edition.sources / "index.md").read_text(encoding="utf-8"))
    found = [path.stem for path in own_files(edition.sources, "*.md") if path.stem != "index"]
    return sorted(found, key=lambda slug: order.index(slug) if slug in order else len(order))


def toctree(text: str) -> list[str]:
    """Return the pages that the directives {toctree} in a Markdown text name; slow imports would delay each build."""
    pages = []
    for _, content in re.findall(r"^(```+|:::+)\{toctree\}\n(.*?)^\1$", text, re.MULTILINE | re.DOTALL):
        lines = [line.strip() for line in content.splitlines() if line.strip() and not line.startswith(":")]
        pages += [re.sub(r".*<(.+)>$", r"\1", line) for line in lines]
    return pages


def chapter(edition: Edition) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return all sections as `read` does, in their order, and the numbers of the whole book.

    The sources of a translation are written first.
    """
    if edition.language:
        from book.translations.translate import write_sources  # with Babel, which English does without

        write_sources(edition)
    sources = [read(slug, edition) for slug in slugs(edition)]
    return sources, number(sources, edition)


def entries_of(source: dict[str, Any], edition: Edition) -> list[Entry]:
    """Return the cells of a section, in a translation with its comments."""
    entries = expand(source["notebook"])
    if edition.language is None:
        return entries
    from book.translations.translate import with_comments  # with Babel, which English does without

    return with_comments(entries, edition)


def read(slug: str, edition: Edition) -> dict[str, Any]:
    """Return a section as a dict: its slug, text, the hash of this code, notebook, outline (what numbers depend on).

    Reading takes a second, so the dict is kept and read anew only when the text or this code has changed.
    """
    path = edition.sources / f"{slug}.md"
    text, reader = path.read_text(encoding="utf-8"), our_code("cells.py", "myst.py", "plain_markdown.py", "sources.py")
    if kept_path(slug, edition).exists():
        kept = read_json(kept_path(slug, edition))
        if (kept.get("text"), kept.get("reader")) == (text, reader):
            return kept
    from book.myst import PlainError, outline

    notebook = notebook_in(text, path)
    lint(notebook, path.name)
    try:
        lines = [outline(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    except PlainError as error:
        raise BookError(f"{path.name}: {error}") from None
    section = {"slug": slug, "text": text, "reader": reader, "notebook": notebook, "outline": lines}
    write_atomically(kept_path(slug, edition), dump(section))
    return section


def notebook_in(text: str, name: object) -> Notebook:
    """Return the notebook that a text in MyST Markdown holds; BookError, with the name of its file, if it cannot be."""
    import jupytext

    try:
        return jupytext.reads(text, fmt="md:myst")
    except Exception as error:  # jupytext lets through whatever its YAML and JSON readers raise
        raise BookError(f"{name} cannot be read: {error}") from None


def kept_path(slug: str, edition: Edition) -> Path:
    """Return the path at which a section is kept once it is read."""
    return edition.derived / "source" / f"{slug}.json"


def number(sources: Sequence[dict[str, Any]], edition: Edition) -> dict[str, Any]:
    """Return what each label, citation and section is called in the whole book: the first pass of Sphinx finds it.

    It takes long, so it runs only when something has changed that numbers depend on, which a sentence is not.
    """
    pages, path = edition.sources, edition.derived / "numbers.json"
    around = [(pages / name).read_text(encoding="utf-8") for name in ("index.md", "references.bib")]
    outlines = {source["slug"]: source["outline"] for source in sources}
    ours = our_code("__init__.py", "pages/**/*.py")
    key = hashed(outlines, around, ours, packages(Path(sys.prefix)), fixed_words(edition))
    if not path.exists() or read_json(path).get("key") != key:
        names = [page.relative_to(pages).as_posix() for page in own_files(pages, "*.md", "back/*.md")]
        settings = [
            f"-Dd2l_numbers={path}",
            f"-Dd2l_machine={edition.profile}",
            f"-Dinclude_patterns={','.join(names)}",
        ]
        if edition.language:
            settings.append(f"-Dlanguage={edition.language.locale}")
        command = [sys.executable, "-m", "sphinx", "-q", "-n", "-W", "-b", "dummy", *settings]
        places = [HERE / "pages", "-d", edition.derived / "doctrees" / "numbers", pages, edition.derived / "dummy"]
        if subprocess.run([*command, "-c", *map(str, places)], cwd=ROOT).returncode:
            raise BookError("figures, equations and sections have no numbers: mend what Sphinx says above")
        write_atomically(path, dump(read_json(path) | {"key": key}))
    return {name: found for name, found in read_json(path).items() if name != "key"}


def pictures(source: dict[str, Any], edition: Edition) -> dict[str, bytes]:
    """Return the content of each picture that a section shows, by its path as the source has it."""
    paths = {path.relative_to(edition.sources).as_posix(): path for path in own_files(edition.sources, *PICTURES)}
    return {name: path.read_bytes() for name, path in paths.items() if name in source["text"]}


def write_readers(
    source: dict[str, Any],
    entries: Sequence[Entry],
    frameworks: Sequence[str],
    numbers: dict[str, Any],
    edition: Edition,
    answers: bool = True,
) -> None:
    """Write the notebooks of a section for readers, or without `answers` the handouts, which no link opens."""
    images, home = pictures(source, edition), repository() if answers else ""
    shown = {name: data.hex() for name, data in images.items()}
    ours = our_code("hosted.py", "headings.py", "paths.py")
    paths = paths_in((edition.sources / "index.md").read_text(encoding="utf-8"))
    cells = [entry.source for entry in entries if entry.kind == "code"]  # whose comments are translated
    key = hashed(source["text"], source["reader"], cells, numbers, shown, home, ours, fixed_words(edition), paths)

    def make(frameworks: Sequence[str]) -> dict[str, Notebook]:
        slug = source["slug"]
        made = split(entries, frameworks, numbers, images, f"{slug}.md", answers)
        made = {word: marked(notebook, slug, paths, of(entries, word)) for word, notebook in made.items()}
        number = numbers["sections"].get(slug, {}).get("number")
        if number:
            made = {framework: numbered(notebook, number) for framework, notebook in made.items()}
        return {framework: linked(folded(notebook), home, framework, slug) for framework, notebook in made.items()}

    stage = "notebooks" if answers else "handouts"
    write_stale({word: edition.notebook(stage, word, source["slug"]) for word in frameworks}, key, make)


def write_stale(paths: dict[str, Path], key: str, make: Callable[[Sequence[str]], dict[str, Notebook]]) -> None:
    """Write the notebooks of a page that were not made from what has this key, each with its version."""
    stale = [framework for framework, path in paths.items() if not up_to_date(path, key)]
    for framework, notebook in make(stale).items() if stale else ():
        notebook["metadata"]["d2l"] = {"key": key, "version": version_of(notebook)}
        write_atomically(paths[framework], dump(notebook))
