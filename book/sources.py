"""The sources of the sections, kept below `_build/source` once they are read, and the numbers of the whole book."""

import subprocess
import sys
from functools import cache
from pathlib import Path

from book import BookError
from book.cells import lint, split
from book.files import dump, load, write
from book.keys import code, hashed, packages

HERE = Path(__file__).parent


@cache
def our_code(*names):
    """Return a hash of what these files of the package do."""
    return hashed(*[code(path) for name in names for path in sorted(HERE.glob(name))])


def slugs(layout):
    """Return the sections that there are, in the order in which the landing page names them."""
    words = (layout.sources / "index.md").read_text(encoding="utf-8").split()
    found = sorted(path.stem for path in layout.sources.glob("*.md") if path.stem not in ("index", "README"))
    return sorted(found, key=lambda slug: words.index(slug) if slug in words else len(words))


def read(slug, layout):
    """Return a section as a dict: its slug, text, notebook, outline (what numbers depend on), key of its last split.

    Reading takes a second, so the dict is kept and read anew only when the text or this code has changed.
    """
    path = layout.source(slug)
    text, reader = path.read_text(encoding="utf-8"), our_code("cells.py", "plain.py", "sources.py")
    if place(slug, layout).exists():
        kept = load(place(slug, layout))
        if (kept.get("text"), kept.get("reader")) == (text, reader):
            return kept
    import jupytext

    from book.plain import PlainError, outline

    try:
        notebook = jupytext.reads(text, fmt="md:myst")
    except Exception as error:  # jupytext lets through whatever its YAML and JSON readers raise
        raise BookError(f"{path} cannot be read: {error}") from None
    lint(notebook, path.name)
    try:
        lines = [outline(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    except PlainError as error:
        raise BookError(f"{path.name}: {error}") from None
    kept = {"slug": slug, "text": text, "reader": reader, "notebook": notebook, "outline": lines, "split": ""}
    write(place(slug, layout), dump(kept))
    return kept


def place(slug, layout):
    return layout.build / "source" / f"{slug}.json"


def number(sources, layout):
    """Return what each label, citation and section is called in the whole book: the first pass of Sphinx finds it.

    It takes long, so it runs only when something has changed that numbers depend on, which a sentence is not.
    """
    pages, path = layout.sources, layout.build / "numbers.json"
    around = [(pages / name).read_text(encoding="utf-8") for name in ("index.md", "references.bib")]
    outlines = {source["slug"]: source["outline"] for source in sources}
    key = hashed(outlines, around, our_code("__init__.py", "pages/*.py"), packages(sys.prefix))
    if not path.exists() or load(path).get("key") != key:
        build, settings = layout.build, [f"-Dd2l_numbers={path}", f"-Dd2l_machine={layout.profile}"]
        command = [sys.executable, "-m", "sphinx", "-q", "-n", "-W", "-b", "dummy", *settings]
        folders = ["-c", HERE / "pages", "-d", build / "doctrees" / "numbers", pages, build / "dummy"]
        if subprocess.run([*command, *folders], cwd=HERE.parent).returncode:
            raise BookError("figures, equations and sections have no numbers: mend what Sphinx says above")
        write(path, dump(load(path) | {"key": key}))
    return {name: found for name, found in load(path).items() if name != "key"}


def write_readers(source, entries, frameworks, numbers, layout):
    """Write the readers' notebooks of a section unless they are up to date."""
    pictures = {path.relative_to(layout.sources).as_posix(): path for path in layout.sources.glob("img/*")}
    images = {name: path.read_bytes() for name, path in pictures.items() if name in source["text"]}
    known = {name: data.hex() for name, data in images.items()}
    key = hashed(numbers, known, frameworks)
    paths = {framework: layout.notebook("notebooks", framework, source["slug"]) for framework in frameworks}
    if source["split"] != key or not all(path.exists() for path in paths.values()):
        for framework, made in split(entries, frameworks, numbers, images, f"{source['slug']}.md").items():
            write(paths[framework], dump(made))
        write(place(source["slug"], layout), dump(source | {"split": key}))
