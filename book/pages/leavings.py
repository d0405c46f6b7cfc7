"""What earlier builds left of pages that are no more is removed before the pages are written.

A page leaves more than itself: the text that the search reads, its pictures, its downloads. Only these are looked at,
so that nothing else in the folder, such as another language's pages or a file that somebody has put there, can go.
"""

from collections.abc import Iterator
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from book.translations import LANGUAGES

BUILDERS = ("html", "epub")
DERIVED = ("_texts", "_images", "_downloads", "_sources")  # folders of files that belong to pages
GENERATED = ("search", "nav")  # pages without a source


def left(out: Path, suffix: str) -> Iterator[Path]:
    """Yield the pages in a folder, whose names have this suffix, and the files that belong to pages."""
    for path in out.rglob(f"*{suffix}"):
        first, *_ = path.relative_to(out).parts
        if not first.startswith(("_", ".")) and first not in LANGUAGES:
            yield path
    for folder in DERIVED:
        yield from (path for path in (out / folder).rglob("*") if path.is_file())


def belongings(env: BuildEnvironment, out: Path, suffix: str) -> set[Path]:
    """Return the paths of all pages that there are, and of what belongs to them."""
    pages = {out / f"{name}{suffix}" for name in (*env.found_docs, *GENERATED)}
    texts = {out / "_texts" / f"{name}.js" for name in env.found_docs}
    pictures = {out / "_images" / name for _, name in env.images.values()}
    return pages | texts | pictures | {out / "_downloads" / name for _, name in env.dlfiles.values()}


def remove(app: Sphinx, env: BuildEnvironment) -> None:
    """Remove what belongs to no page any more, and folders that this empties."""
    if app.builder.name not in BUILDERS:
        return
    out, suffix = Path(app.outdir), app.builder.out_suffix  # type: ignore[attr-defined]
    kept = belongings(env, out, suffix)
    for path in [path for path in left(out, suffix) if path not in kept]:
        path.unlink()
        folder = path.parent
        while folder != out and not any(folder.iterdir()):
            folder.rmdir()
            folder = folder.parent


def setup(app: Sphinx) -> None:
    app.connect("env-updated", remove)
