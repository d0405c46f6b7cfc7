"""The sources in another language: a copy of notebooks/ with the translations that there are, which are counted."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from book.cells import Entry
from book.layout import Edition, dump, own_files, read_json, remove_others
from book.translations import comments, figures
from book.translations.catalogues import COMMENTS, FIGURES, sources
from book.translations.lookup import Translations
from book.translations.references import in_sentences
from book.translations.units import apply, extract
from d2l_lab.files import write_atomically

COVERAGE = "coverage.json"  # beside the sources, then beside the pages: the facts of a Coverage by the name of a page


def write_sources(edition: Edition) -> None:
    """Write the sources of a translation and COVERAGE, remove what is gone from the English sources."""
    assert edition.language, "the English sources are nobody's translation"
    english, translations = Edition(edition.root), Translations(edition, edition.language)
    files: dict[Path, str | bytes] = {}
    for path in own_files(english.sources, "references.bib", "img/*"):
        files[edition.sources / path.relative_to(english.sources)] = path.read_bytes()
    coverage = {}
    for name, text in sources(english).items():
        prose = apply(text, shown(translations.of(name)))
        files[edition.sources / f"{name}.md"] = comments.apply_to_fences(prose, translations.of(COMMENTS))
        coverage[name] = asdict(translations.coverage(name, [unit.text for unit in extract(text)]))
    files[edition.sources / COVERAGE] = dump(coverage)
    for path in own_files(english.sources, "img/*.svg"):
        drawing, label = path.read_text(encoding="utf-8"), translations.of(FIGURES)
        files[edition.sources / "img" / path.name] = figures.apply(drawing, label, edition.language.tag)
    for path, content in files.items():
        write_atomically(path, content)
    remove_others(edition.sources, files)


def with_comments(entries: Sequence[Entry], edition: Edition) -> list[Entry]:
    """Return a section's entries with the comments and docstrings of their code translated.

    Their ids stay those of the English code, by which a cell's outputs are found.
    """
    assert edition.language, "the English comments are nobody's translation"
    translate = Translations(edition, edition.language).of(COMMENTS)
    return [
        replace(entry, source=comments.apply_to_cell(entry.source, translate)) if entry.kind == "code" else entry
        for entry in entries
    ]


def shown(translate: Callable[[str], str | None]) -> Callable[[str], str | None]:
    """Return a function from a text to its translation as pages and notebooks show it: 95% in formulas too."""

    def show(text: str) -> str | None:
        translation = translate(text)
        return translation and in_sentences(translation).replace(r"\,\%", r"\%")

    return show


def coverage_line(edition: Edition) -> str:
    """Return a line on how much of a translation is there, with the pages that lack something."""
    pages = read_json(edition.sources / COVERAGE)
    whole = {fact: sum(page[fact] for page in pages.values()) for fact in ("units", "translated", "fuzzy")}
    lacking = [f"{name} {counted(page)}" for name, page in pages.items() if page["translated"] < page["units"]]
    line = f"{edition.code}: {counted(whole, ' units translated')}"
    return f"{line}: {', '.join(lacking)}" if lacking else line


def counted(page: dict[str, Any], what: str = "") -> str:
    """Return the translated and all units of a page, and the outdated ones."""
    outdated = f" ({page['fuzzy']} outdated)" if page["fuzzy"] else ""
    return f"{page['translated']}/{page['units']}{what}{outdated}"
