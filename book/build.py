"""The steps of a build in their order: numbers, readers' notebooks, profile of the machine, runs, merged notebooks."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from book import FRAMEWORKS, MODULES, BookError
from book.cells import code, expand, notebook_of, of
from book.files import dump, load, write
from book.keys import find_kernel, run_key, surroundings, versions
from book.merge import all_claims, merge
from book.outputs import code_cells
from book.sources import number, read, slugs, write_readers


def write_notebooks(layout, frameworks):
    """Write the readers' notebooks of all sections; return {section: Entries}."""
    sources = [read(slug, layout) for slug in slugs(layout)]
    numbers = number(sources, layout)
    entries = {source["slug"]: expand(source["notebook"]) for source in sources}
    for source in sources:
        write_readers(source, entries[source["slug"]], frameworks, numbers, layout)
    return entries


def build(layout, frameworks, sections, timeout):
    """Write all that the HTML pages are made of; run those of the chosen notebooks that are out of date."""
    os.environ["D2L_MACHINE_PROFILE"] = str(layout.profile)  # kernels read it there
    entries = write_notebooks(layout, frameworks)
    kernels = {framework: find_kernel(framework) for framework in frameworks}
    for framework, kernel in kernels.items():
        measure(framework, kernel, layout.profile, layout.root)
    profile = read_profile(layout)
    around = {word: surroundings(layout.root, word, kernel, profile) for word, kernel in kernels.items()}
    ran, executed = [], {slug: {} for slug in entries}
    for slug in entries:
        for framework in frameworks:
            key = run_key(of(entries[slug], framework), framework, around[framework], profile)
            found = up_to_date(layout.notebook("executed", framework, slug), key)
            if not found and slug in sections:
                ours = [code(entry) for entry in of(entries[slug], framework) if entry.kind == "code"]
                found = run(slug, framework, ours, kernels[framework], key, profile["machine"], timeout, layout)
                ran.append((slug, framework))
            if found:
                executed[slug][framework] = found
    write_book(layout, entries, frameworks, executed)
    stamp(layout)
    print(table({slug: executed[slug] for slug in sections}, frameworks, ran))


def measure(framework, kernel, path, root):
    """Let the kernel's Python, with the kernel's settings, measure what the profile `path` of this machine lacks."""
    command = [kernel.python, "-m", "d2l_utils.machine.measuring", MODULES[framework]]
    settings = os.environ | kernel.settings | {"D2L_MACHINE_PROFILE": str(path)}
    try:
        done = subprocess.run(command, cwd=root, env=settings, stderr=subprocess.PIPE, text=True)
    except OSError as error:
        raise BookError(
            f"the profile of this machine: {FRAMEWORKS[framework]}'s Python does not start: {error}"
        ) from None
    if done.returncode or not path.exists():
        said = done.stderr.strip().split("\n")[-1] or f"exit status {done.returncode}"
        raise BookError(f"the profile of this machine: {FRAMEWORKS[framework]} cannot measure it: {said}")


def read_profile(layout):
    """Return the profile of this machine."""
    profile = load(layout.profile, "`make profile` measures it")
    if not isinstance(profile.get("machine"), dict):
        raise BookError(f"{layout.profile} is no profile of a machine: `make profile` measures it anew")
    return profile


def measure_anew(layout, frameworks):
    """Measure this machine; the old profile stays unless all of it succeeds."""
    new = layout.profile.with_name("machine.new.json")
    new.unlink(missing_ok=True)
    for framework in frameworks:
        measure(framework, find_kernel(framework), new, layout.root)
    os.replace(new, layout.profile)


def up_to_date(path, key):
    """Return the executed notebook at `path` if its outputs have this key, else None."""
    found = load(path) if path.exists() else {}
    return found if found.get("metadata", {}).get("d2l", {}).get("key") == key else None


def run(slug, framework, cells, kernel, key, machine, timeout, layout):
    """Run these code cells; return the executed notebook, written to `executed`, or as far as it came to `failed`."""
    from book.execute import RunError
    from book.execute import run as run_cells

    notebook, title = notebook_of(framework, cells), f"{slug} ({framework})"
    failed = layout.notebook("failed", framework, slug)
    paths = {kernel.prefix: "<environment>", str(layout.root): "<project>", os.path.expanduser("~"): "~"}
    try:
        executed, seconds, python = run_cells(notebook, title, timeout, paths)
    except RunError as error:
        if error.notebook:
            write(failed, dump(error.notebook))
            error.add_note(f"  the notebook as far as it came: {failed}")
        raise
    failed.unlink(missing_ok=True)
    warn_of_stderr(executed, title)
    lines = [cell["source"].strip().split("\n")[0] for cell in cells]
    facts = {
        "key": key,
        "seconds": round(sum(seconds), 1),
        "slowest": sorted(zip(seconds, range(1, len(cells) + 1), lines, strict=True), reverse=True)[:5],
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine,
        "versions": {"python": python} | versions(framework, kernel.packages),
    }
    executed["metadata"]["d2l"] = facts
    write(layout.notebook("executed", framework, slug), dump(executed))
    return executed


def warn_of_stderr(notebook, title):
    """Say which cells write to stderr, unless they are tagged as doing so."""
    for count, cell in enumerate(code_cells(notebook), 1):
        for output in cell["outputs"]:
            if output.get("name") == "stderr" and "remove-stderr" not in cell["metadata"].get("tags", []):
                first = output["text"].strip().split("\n")[0]
                print(f"warning: {title}, cell {count} writes to stderr: {first}", file=sys.stderr)


def write_book(layout, entries, frameworks, executed):
    """Write what Sphinx reads; remove what is gone from the sources."""
    book, sources, claims = layout.build / "book", layout.sources, []
    pages = {
        path.relative_to(sources): path.read_bytes()
        for path in [
            sources / "index.md",
            sources / "references.bib",
            *sources.glob("back/*.md"),
            *sources.glob("img/*"),
        ]
    }
    for slug in entries:
        merged = merge(entries[slug], frameworks, executed[slug], f"{slug}.md")
        pages[Path(f"{slug}.ipynb")] = dump(merged)
        claims += all_claims(merged, slug)
    pages[Path("claims.json")] = json.dumps(claims, indent=1, ensure_ascii=False) + "\n"
    for path, content in pages.items():
        write(book / path, content)
    for path in [*book.glob("*.*"), *book.glob("*/*.*")]:
        if path.relative_to(book) not in pages:
            path.unlink()


def stamp(layout):
    """Make the stamp of this stage newer than all that it wrote, unless it is."""
    path = layout.build / "merged"
    found = [
        layout.profile,
        *layout.build.glob("book/**"),
        *layout.build.glob("book/*"),
        *layout.build.glob("book/*/*"),
    ]
    found += [*layout.build.glob("notebooks/*"), *layout.build.glob("notebooks/*/*")]
    if not path.exists() or path.stat().st_mtime_ns < max(each.stat().st_mtime_ns for each in found):
        path.touch()


def table(executed, frameworks, ran):
    """Return a table of the seconds of each notebook, and the slowest cells with their places."""
    rows = [["seconds", *(FRAMEWORKS[framework] for framework in frameworks)]]
    for slug, runs in executed.items():
        facts = {framework: runs[framework]["metadata"]["d2l"] for framework in frameworks}
        marks = {framework: "*" if (slug, framework) in ran else " " for framework in frameworks}
        rows.append([slug, *(f"{facts[framework]['seconds']:.0f}{marks[framework]}" for framework in frameworks)])
    lines = [f"{first:<20}" + "".join(f"{cell:>12}" for cell in rest) for first, *rest in rows]
    lines.append("* ran now, the others were up to date" if ran else "all were up to date")
    cells = [
        (seconds, f"{slug} ({framework}), cell {count}: {line}")
        for slug, runs in executed.items()
        for framework, notebook in runs.items()
        for seconds, count, line in notebook["metadata"]["d2l"]["slowest"]
    ]
    slowest = sorted(cells, reverse=True)[:5]
    return "\n".join([*lines, "the slowest cells:", *(f"{seconds:6.1f} s  {place}" for seconds, place in slowest)])
