"""The steps of the pipeline that handle notebooks: read, call, write.

python -m book split SECTION…      notebooks/<section>.md to one notebook per framework, without outputs
python -m book card                measure this machine, as far as that has not been done
python -m book execute NOTEBOOK…   run these notebooks, one at a time, unless their outputs are up to date
python -m book merge SECTION…      the executed notebooks to the one that Sphinx reads
"""

import argparse
import fcntl
import json
import os
import sys
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from book import FRAMEWORKS, BookError
from book.files import Layout, dump, environment, load, touch, write
from book.outputs import key, transplant


def split(options, layout):
    """Write the reader's notebooks."""
    from book.cells import lint
    from book.cells import split as split_cells

    numbers = load(layout.numbers(), "the first pass of Sphinx writes it")
    folder = layout.root / "notebooks"
    images = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.glob("img/*")}
    for slug in options.sections:
        notebook, name = read_source(slug, layout), f"{slug}.md"
        lint(notebook, name)
        for framework in options.frameworks:
            made = split_cells(notebook, framework, numbers, images, name)
            touch(layout.derived("notebooks", framework, slug), dump(made))


def read_source(slug, layout):
    """Return the notebook that the source of a section describes.

    Its JSON is kept below `_build`, since Jupytext takes two seconds to start.
    """
    path, kept = layout.source(slug), layout.parsed(slug)
    if not path.exists():
        raise BookError(f"{path} is missing")
    text = path.read_text(encoding="utf-8")
    if kept.exists() and (known := load(kept))["text"] == text:
        return known["notebook"]
    import jupytext

    try:
        notebook = jupytext.reads(text, fmt="md:myst")
    except Exception as error:  # jupytext lets through whatever its YAML and JSON readers raise
        raise BookError(f"{path} cannot be read: {error}") from None
    write(kept, dump({"text": text, "notebook": notebook}))
    return notebook


def card(options, layout):
    """Measure this machine, as far as that has not been done."""
    from book.machine import measure

    kept = layout.card()
    path = kept.with_name("machine.new.json") if options.anew else kept
    with alone(layout.root / "_build", "the card of this machine"):
        if options.anew:
            path.unlink(missing_ok=True)
        for framework in options.frameworks:
            measure(framework, path, layout.root)
        os.replace(path, kept)  # a measurement that failed has left the old card


def execute(options, layout):
    """Run the notebooks that are out of date."""
    for path in options.notebooks:
        slug, framework = path.stem, path.parent.name
        if framework not in FRAMEWORKS:
            raise BookError(f"{path}: its folder names no framework; known: {' '.join(FRAMEWORKS)}")
        execute_one(load(path), slug, framework, options.timeout, layout)


def execute_one(notebook, slug, framework, timeout, layout):
    """Write one executed notebook, with the outputs it had if they are up to date."""
    title, target = f"{slug} ({framework})", layout.derived("executed", framework, slug)
    wanted = key(notebook, environment(layout.root, framework))
    if target.exists():
        executed = load(target)
        if executed["metadata"].get("d2l", {}).get("key") == wanted:
            touch(target, dump(transplant(notebook, executed)))
            print(f"{title}: up to date", flush=True)
            return
    failed = layout.derived("failed", framework, slug)
    with alone(layout.root / "_build", title):
        touch(target, dump(run(notebook, title, framework, wanted, timeout, layout.root, failed)))
    failed.unlink(missing_ok=True)


def run(notebook, title, framework, wanted, timeout, root, failed):
    """Return the executed notebook; write it to `failed` as far as it came when a cell fails."""
    from book.execute import RunError
    from book.execute import run as run_cells
    from book.outputs import code_cells
    from book.progress import Progress

    machine = load(Layout(root).card(), "`make card` measures it")["machine"]
    cells = code_cells(notebook)
    progress = Progress(title, len(cells))
    try:
        ran = run_cells(notebook, framework, title, progress, timeout, root)
    except RunError as error:
        if progress.cell:
            write(failed, dump(error.notebook))
            error.add_note(f"  the notebook as far as it came: {failed}")
        raise
    progress.done()
    for number, cell in enumerate(code_cells(ran.notebook), 1):
        for output in cell["outputs"]:
            if output.get("name") == "stderr" and "remove-stderr" not in cell["metadata"].get("tags", []):
                first = output["text"].strip().split("\n")[0]
                print(f"warning: {title}, cell {number} writes to stderr: {first}", file=sys.stderr)
    facts = {
        "key": wanted,
        "seconds": round(ran.seconds, 1),
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine,
        "versions": ran.versions,
    }
    return ran.notebook | {"metadata": notebook["metadata"] | {"d2l": facts}}


@contextmanager
def alone(folder, title):
    """Wait until no other notebook of the project runs: two at once would spoil each other's measurements."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".execute.lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"{title}: waiting until the notebook that runs now is done", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def merge(options, layout):
    """Write the merged notebooks, and beside them all else that Sphinx reads."""
    from book.merge import merge as merge_cells

    environments = {framework: environment(layout.root, framework) for framework in options.frameworks}
    for slug in options.sections:
        executed = {
            framework: load(layout.derived("executed", framework, slug), "`make book` runs it")
            for framework in options.frameworks
        }
        merged = merge_cells(read_source(slug, layout), executed, environments, f"{slug}.md")
        touch(layout.book() / f"{slug}.ipynb", dump(merged))
    mirror(layout.root / "notebooks", layout.book())
    write_claims(layout.book())


def mirror(source, book):
    """Copy the landing page, the bibliography and the pictures to `book`; remove there what is gone in `source`."""
    for path in [*source.glob("index.md"), *source.glob("references.bib"), *source.glob("img/*")]:
        write(book / path.relative_to(source), path.read_bytes())
    for path in book.glob("img/*"):
        if not (source / path.relative_to(book)).exists():
            path.unlink()
    for path in book.glob("*.ipynb"):
        if not (source / f"{path.stem}.md").exists():
            path.unlink()


def write_claims(book):
    """Write claims.json: the claims of all merged notebooks."""
    from book.merge import all_claims

    found = [claim for path in sorted(book.glob("*.ipynb")) for claim in all_claims(load(path), path.stem)]
    write(book / "claims.json", json.dumps(found, indent=1, ensure_ascii=False) + "\n")


def parser():
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(prog="python -m book", description=__doc__.split("\n")[0])
    made.add_argument("--root", type=Path, default=Path(), help="the folder of the project")
    steps = made.add_subparsers(required=True, metavar="split | card | execute | merge")
    for step in (split, merge):
        command = steps.add_parser(step.__name__, help=step.__doc__)
        command.add_argument("sections", nargs="+", metavar="SECTION")
        command.add_argument("--frameworks", nargs="+", choices=FRAMEWORKS, default=list(FRAMEWORKS))
        command.set_defaults(step=step)
    command = steps.add_parser("card", help=card.__doc__)
    command.add_argument("--frameworks", nargs="+", choices=FRAMEWORKS, default=list(FRAMEWORKS))
    command.add_argument("--anew", action="store_true", help="measure all of it")
    command.set_defaults(step=card)
    command = steps.add_parser("execute", help=execute.__doc__)
    command.add_argument("notebooks", nargs="+", type=Path, metavar="NOTEBOOK")
    command.add_argument("--timeout", type=int, default=300, help="seconds that a cell may take (default: 300)")
    command.set_defaults(step=execute)
    return made


def main(arguments=None):
    """Do one step; return the status to exit with."""
    options = parser().parse_args(arguments)
    try:
        options.step(options, Layout(options.root.resolve()))
    except BookError as error:
        print(f"error: {error}", *getattr(error, "__notes__", []), sep="\n", file=sys.stderr)
        return getattr(error, "status", 1)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
