"""A reader's own copies of the notebooks, in `work/`: copied once, then never written, moved or removed.

`_build/notebooks` holds the notebooks as the sources say. A notebook in `work/` whose source has changed since stays as
it is, and the new one is put beside it. What somebody has written into a folder of `_build` all the same is moved to
`work/` before anything is written or removed there: `python3 -m book.working_copies`, which make clean runs, does that
alone. Beside the notebooks of a translation lies what their records say, which is the book's own.
"""

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from book import BookError
from book.layout import Edition, dump, own_files
from d2l_lab.files import write_atomically
from d2l_lab.instruments.words import WORDS

FOLDERS = {"notebooks": "", "handouts": "handouts", "bundle": "bundle"}  # below _build: where their files go in work
NAMED = 5  # files that a line names


def version_of(notebook: dict[str, Any]) -> str:
    """Return a hash of what a notebook is made of, for which its own metadata `d2l` does not count."""
    metadata = {name: value for name, value in notebook["metadata"].items() if name != "d2l"}
    return hashlib.sha256(dump(notebook | {"metadata": metadata}).encode()).hexdigest()


def told_version(path: Path) -> str:
    """Return the version from which the notebook at `path` was made, "" if it does not tell."""
    with suppress(OSError, ValueError, AttributeError, TypeError):
        return str(json.loads(path.read_text(encoding="utf-8"))["metadata"]["d2l"]["version"])
    return ""


def is_ours(path: Path, folder: Path) -> bool:
    """Tell whether a file below `folder`, one of FOLDERS, is as the book has written it."""
    if path.suffix == ".zip":
        return path.parent == folder and folder.name == "bundle"
    if path.suffix != ".ipynb":
        return False
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        return bool(notebook["metadata"]["d2l"]["version"] == version_of(notebook))
    except (OSError, ValueError, AttributeError, KeyError, TypeError):
        return False


def rescue(root: Path) -> list[Path]:
    """Move what somebody has written into folders of `_build` to `work`, and say so in a line; return the new paths.

    Raises
    ------
    BookError
        If a file cannot be moved: nothing may be written or removed then.
    """
    moved = []
    for name, place in FOLDERS.items():
        folder = root / "_build" / name
        for path in [path for path in sorted(folder.rglob("*")) if path.is_file() and not is_ours(path, folder)]:
            target = next(free(root / "work" / place / path.relative_to(folder)))
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.move(path, target)
            except OSError as error:
                reason = error.strerror or error
                raise BookError(f"{path} is yours and cannot be moved to {target} ({reason}): move it") from None
            moved.append(target)
    if moved:
        more = f" and {len(moved) - NAMED} more" if len(moved) > NAMED else ""
        names = ", ".join(str(path.relative_to(root)) for path in moved[:NAMED])
        print(f"yours, and moved out of _build: {names}{more}", flush=True)
    return moved


def free(path: Path) -> Iterator[Path]:
    """Yield those of `path`, name-2, name-3, … at which there is nothing yet."""
    for number in count(1):
        other = path if number == 1 else path.with_stem(f"{path.stem}-{number}")
        if not os.path.lexists(other):
            yield other


def copy_notebooks(edition: Edition, frameworks: Sequence[str]) -> None:
    """Copy the readers' notebooks of a language to `work` where they are new, and say in a line where they lie.

    A notebook that is missing there is copied. One whose version was never copied is put beside the reader's own.
    """
    if edition.language:
        from book.translations.kernel_words import words_of  # with Babel, which English does without

        for framework in frameworks:
            write_atomically(edition.working_copy(framework, "index").with_name(WORDS), words_of(edition))
    record = edition.root / "work" / ".copied.json"
    try:
        copied: dict[str, list[str]] = json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # there is none, or it was damaged: then the notebooks themselves tell
        copied = {}
    newer = []
    for framework in frameworks:
        for path in own_files(edition.notebook("notebooks", framework, "index").parent, "*.ipynb"):
            own = edition.working_copy(framework, path.stem)
            name, version = own.relative_to(edition.root).as_posix(), told_version(path)
            known = copied.setdefault(name, [])
            if own.exists():
                known += {told_version(each) for each in own.parent.glob(f"{own.stem}*.ipynb")} - {"", *known}
            if not own.exists() or version not in known:
                target = next(free(own))
                write_atomically(target, path.read_bytes())
                known += {version} - {*known}
                newer += [target] if target != own else []
    write_atomically(record, dump(copied))
    places = [edition.working_copy(framework, "index").parent for framework in frameworks]
    print("your notebooks:", ", ".join(str(place.relative_to(edition.root)) for place in places))
    if newer:
        names = ", ".join(str(path.relative_to(edition.root)) for path in newer)
        print(f"newer versions, beside your own, which stay as they are: {names}")


if __name__ == "__main__":
    try:
        rescue(Path().resolve())
    except BookError as error:
        sys.exit(f"error: {error}")
