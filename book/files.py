"""Notebooks and other derived files on disk, and where they lie."""

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from book import MODULES, BookError


@dataclass(frozen=True)
class Layout:
    """The folders of a project."""

    root: Path

    def source(self, slug):
        return self.root / "notebooks" / f"{slug}.md"

    def parsed(self, slug):
        return self.root / "_build" / "source" / f"{slug}.json"

    def numbers(self):
        return self.root / "_build" / "numbers.json"

    def derived(self, stage, framework, slug):
        """Return the notebook of `stage` (notebooks, executed or failed)."""
        return self.root / "_build" / stage / framework / f"{slug}.ipynb"

    def card(self):
        """Return the file that tells what this machine is and can do."""
        return self.root / "_build" / "machine.json"

    def book(self):
        return self.root / "_build" / "book"


def load(path, cure=""):
    """Return the JSON of `path`, the sources of a notebook joined; raise BookError with `cure` if it is missing."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BookError(f"{path} is missing{cure and ': ' + cure}") from None
    except json.JSONDecodeError as error:
        raise BookError(f"{path} is damaged ({error}): delete it and run make again") from None
    for cell in content.get("cells", []):
        cell["source"] = "".join(cell["source"])
    return content


def dump(content):
    """Return `content` as JSON text, the same for the same content."""
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def write(path, content):
    """Put the text or bytes `content` into `path` in one step; leave the file alone when it is the same already."""
    data = content.encode() if isinstance(content, str) else content
    if path.exists() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_bytes(data)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def touch(path, content):
    """Like `write`, but the file counts as new for make in any case."""
    write(path, content)
    os.utime(path)


def environment(root, framework):
    """Return a hash of what a kernel of `framework` can import: its pins, its part of d2l_utils and the tables."""
    others = {f"{module}.py" for name, module in MODULES.items() if name != framework}
    utilities = [path for path in sorted((root / "d2l_utils").rglob("*.py")) if path.name not in others]
    tables = sorted((root / "notebooks" / "data").glob("*.csv"))
    digest = hashlib.sha256()
    for path in [root / "requirements" / f"{framework}.txt", *utilities, *tables]:
        digest.update(f"{path.relative_to(root).as_posix()}\0".encode())
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()
