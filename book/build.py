"""The steps of a build in their order: numbers, readers' notebooks, profile of the machine, runs, merged notebooks."""

import json
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from book import FRAMEWORKS, MODULES, BookError, gpu_record
from book.cells import Cell, Entry, code, notebook_of, of
from book.landing_page import write_landing_page
from book.layout import Edition, dump, own_files, read_json, remove_others, up_to_date
from book.machine_load import Watch, warn_of_others
from book.merge import all_records, merge
from book.model_errors import missed_while_disturbed, summary_line
from book.outputs import CLAIM, ELSEWHERE, PREDICTION, RUNNING_TOTAL
from book.run_keys import Kernel, environment_facts, find_kernel, run_key, versions
from book.site import site_address
from book.sources import PICTURES, chapter, entries_of, write_readers
from book.summary import summary, warn_of_stderr
from book.words import set_language
from d2l_lab.files import write_atomically
from d2l_lab.machine.profile import measure_missing, on_top, read

COLLECTED = {  # files beside the pages
    "claims": CLAIM,
    "predictions": PREDICTION,
    "running-totals": RUNNING_TOTAL,
    "elsewhere": ELSEWHERE,
}


def write_notebooks(edition: Edition, frameworks: Sequence[str], answers: bool = True) -> dict[str, list[Entry]]:
    """Write the readers' notebooks of all sections, or without `answers` the handouts; return each section's cells."""
    set_language(edition)
    sources, numbers = chapter(edition)
    entries = {source["slug"]: entries_of(source, edition) for source in sources}
    for source in sources:
        write_readers(source, entries[source["slug"]], frameworks, numbers, edition, answers)
    write_landing_page(frameworks, numbers, edition, answers)
    for framework in frameworks:
        folder = edition.notebook("notebooks" if answers else "handouts", framework, "index").parent
        for path in own_files(folder, "*.ipynb"):
            if path.stem not in (*entries, "index"):
                path.unlink()  # of a section that is gone: nothing but the book's own is left here
    remove_decks(edition, numbers["sections"], list(entries))
    return entries


def remove_decks(edition: Edition, about: dict[str, Any], slugs: Sequence[str]) -> None:
    """Remove the slides of sections that are no more; `about` has the title of each that is."""
    for folder in (edition.derived / "slides").glob("*"):
        if {path.stem for path in folder.glob("*.html")} - {"index", *slugs}:
            from book.slides.writing import list_decks  # with nbconvert, which a build does without

            list_decks(edition, folder.name, {slug: about[slug]["title"] for slug in slugs})


def build(editions: Sequence[Edition], frameworks: Sequence[str], sections: Sequence[str], timeout: int) -> None:
    """Write all that the HTML pages are made of; BookError for whatever the author or reader has to mend.

    Notebooks of these `sections` are run where they are out of date; a cell may take `timeout` seconds. The first of
    `editions` is English; the others get the outputs of the same runs.
    """
    edition, *translations = editions
    site_address()  # a wrong one is an error before anything runs
    os.environ["D2L_MACHINE_PROFILE"] = str(edition.profile)  # kernels read it there
    entries = write_notebooks(edition, frameworks)
    kernels = {framework: find_kernel(framework) for framework in frameworks}
    for framework, kernel in kernels.items():
        measure(framework, kernel, edition.profile, edition.root)
    profile = read_json(edition.profile, "`make profile` measures it")
    environments = {word: environment_facts(edition.root, kernel, profile) for word, kernel in kernels.items()}
    ran: dict[tuple[str, str], tuple[Any, ...]] = {}  # what `run` was given, by section and framework
    executed: dict[str, dict[str, Any]] = {slug: {} for slug in entries}
    for slug in entries:
        for framework in frameworks:
            own = of(entries[slug], framework)
            key = run_key(own, framework, environments[framework], profile)
            notebook = up_to_date(edition.notebook("executed", framework, slug), key)
            if not notebook and slug in sections:
                if not ran:
                    warn_of_others()
                cells = [code(entry) for entry in own if entry.kind == "code"]
                facts = {"key": key, "machine": profile["machine"]}
                ran[slug, framework] = slug, cells, kernels[framework], facts, timeout, edition
                notebook = run(*ran[slug, framework])
            if notebook:
                executed[slug][framework] = notebook
    for (slug, framework), arguments in ran.items():
        missed = missed_while_disturbed(executed[slug][framework]) if framework in executed[slug] else []
        if missed:
            print(f"{slug} ({framework}) runs once more, because it was disturbed and missed: {'; '.join(missed)}")
            executed[slug][framework] = run(*arguments)
    predictions = write_book(edition, entries, frameworks, executed)
    for translated in translations:
        write_book(translated, write_notebooks(translated, frameworks), frameworks, executed)
    set_language(edition)
    stamp(edition)
    print(summary({slug: executed[slug] for slug in sections}, frameworks, ran))
    for framework in frameworks:
        ours = [record for record in predictions if record["framework"] == framework]
        if ours:
            print(f"{FRAMEWORKS[framework]}: {summary_line(ours)}")
    for translated in translations:
        from book.translations.translate import coverage_line  # with Babel, which English does without

        print(coverage_line(translated))


def measure(framework: str, kernel: Kernel, path: Path, root: Path) -> None:
    """Let the kernel's Python, with the kernel's settings, measure what the profile `path` of this machine lacks."""
    try:
        measure_missing(MODULES[framework], path, kernel.python, kernel.settings, folder=root)
    except RuntimeError as error:
        raise BookError(str(error)) from None


def measure_anew(edition: Edition, frameworks: Sequence[str]) -> None:
    """Measure this machine; the old profile stays unless all of it succeeds, and those of its other states anyway."""
    new = edition.profile.with_name("machine.new.json")
    new.unlink(missing_ok=True)
    for framework in frameworks:
        measure(framework, find_kernel(framework), new, edition.root)
    write_atomically(edition.profile, dump(on_top(read_json(new), read(edition.profile))))
    new.unlink()


def run(
    slug: str, cells: Sequence[Cell], kernel: Kernel, facts: dict[str, Any], timeout: int, edition: Edition
) -> dict[str, Any]:
    """Run code cells; return the notebook with `facts`, kept in `executed`, or as far as it came in `failed`.

    Where this machine lacks a program that they need, a line says so, and {} is returned.
    """
    from book import execute

    framework = kernel.framework
    notebook, title = notebook_of(framework, cells), f"{slug} ({framework})"
    failed = edition.notebook("failed", framework, slug)
    paths = {kernel.prefix: "<environment>", str(edition.root): "<project>", os.path.expanduser("~"): "~"}
    watch = Watch()
    try:
        executed, seconds, python = execute.run(notebook, title, timeout, paths, edition.left(framework, slug))
    except execute.RunError as error:
        if error.notebook:
            write_atomically(failed, dump(error.notebook))
            error.add_note(f"  the notebook as far as it came: {failed}")
        if isinstance(error, execute.LeftOutError):
            print(f"left out: {error}", file=sys.stderr)
            return {}
        raise
    busy = watch.busy()
    failed.unlink(missing_ok=True)
    warn_of_stderr(executed, title)
    lines = [cell["source"].strip().split("\n")[0] for cell in cells]
    executed["metadata"]["d2l"] = facts | {
        "seconds": round(sum(seconds), 1),
        "busy": busy,
        "slowest": sorted(zip(seconds, range(1, len(cells) + 1), lines, strict=True), reverse=True)[:5],
        "date": datetime.now(UTC).date().isoformat(),
        "versions": {"python": python} | versions(framework, kernel.packages),
    }
    write_atomically(edition.notebook("executed", framework, slug), dump(executed))
    return executed


def write_book(
    edition: Edition, entries: dict[str, list[Entry]], frameworks: Sequence[str], executed: dict[str, dict[str, Any]]
) -> list[dict[str, Any]]:
    """Write what Sphinx reads, remove what is gone from the sources, and return all predictions."""
    book, sources = edition.derived / "book", edition.sources
    copied = own_files(sources, "index.md", "references.bib", "back/*.md", *PICTURES)
    copied += own_files(sources, "coverage.json")  # of a translation
    pages: dict[Path, str | bytes] = {path.relative_to(sources): path.read_bytes() for path in copied}
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in COLLECTED}
    record = gpu_record.read(edition.root)
    for slug in entries:
        merged = merge(entries[slug], frameworks, executed[slug], f"{slug}.md", record)
        pages[Path(f"{slug}.ipynb")] = dump(merged)
        for name, mime in COLLECTED.items():
            found[name] += all_records(merged, slug, mime)
    for name, records in found.items():
        pages[Path(f"{name}.json")] = json.dumps(records, indent=1, ensure_ascii=False) + "\n"
    for path, content in pages.items():
        write_atomically(book / path, content)
    remove_others(book, [book / path for path in pages])
    return found["predictions"]


def stamp(edition: Edition) -> None:
    """Make the stamp of this stage newer than all that it wrote, unless it is."""
    path = edition.build / "merged"
    folders = [edition.build / "book", *edition.build.glob("*/book"), edition.build / "notebooks"]
    written = [edition.profile, *folders]
    for folder in folders:
        written += folder.rglob("*")
    if not path.exists() or path.stat().st_mtime_ns < max(each.lstat().st_mtime_ns for each in written):
        path.touch()
