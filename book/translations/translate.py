"""The sources in another language: a copy of notebooks/ with the translations that there are."""

from book.layout import Layout
from book.translations import figures
from book.translations.catalogues import FIGURES, sources
from book.translations.lookup import Translations
from book.translations.units import apply
from d2l_lab.files import write_atomically


def write_sources(layout: Layout) -> None:
    """Write the sources of a translation, remove what is gone from the English ones."""
    if layout.language is None:
        raise ValueError("the English sources are nobody's translation")
    english, translations = Layout(layout.root), Translations(layout, layout.language)
    copied = [english.sources / "references.bib", *english.sources.glob("img/*")]
    files: dict[str, str | bytes] = {
        path.relative_to(english.sources).as_posix(): path.read_bytes() for path in copied if path.exists()
    }
    for name, text in sources(english).items():
        files[f"{name}.md"] = apply(text, translations.of(name))
    label, tag = translations.of(FIGURES), layout.language.tag
    for path in english.sources.glob("img/*.svg"):
        files[f"img/{path.name}"] = figures.apply(path.read_text(encoding="utf-8"), label, tag)
    for name, content in files.items():
        write_atomically(layout.sources / name, content)
    for path in [*layout.sources.glob("*.*"), *layout.sources.glob("*/*.*")]:
        if path.relative_to(layout.sources).as_posix() not in files:
            path.unlink()
