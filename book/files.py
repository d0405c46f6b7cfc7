"""Notebooks and other derived files on disk, and where they lie."""

import fcntl
import json
import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from book import BookError


@dataclass(frozen=True)
class Layout:
    """The folders of a project."""

    root: Path

    @property
    def sources(self):
        return self.root / "notebooks"

    @property
    def build(self):
        return self.root / "_build"

    @property
    def profile(self):
        """The file that tells what this machine is and can do."""
        return self.build / "machine.json"

    def source(self, slug):
        return self.sources / f"{slug}.md"

    def notebook(self, stage, framework, slug):
        """Return the path of a notebook of `stage`: notebooks (the reader's), executed or failed."""
        return self.build / stage / framework / f"{slug}.ipynb"


def load(path, cure=""):
    """Return the JSON object in `path`, cells' sources joined; raise BookError with `cure` if it is missing."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise ValueError("it holds no object")
    except FileNotFoundError:
        raise BookError(f"{path} is missing{cure and ': ' + cure}") from None
    except ValueError as error:  # of the text's coding or of JSON
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


@contextmanager
def alone(folder):
    """Wait until no other build of the project runs: two at once would spoil each other's measurements."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("another build of this project is running: waiting until it is done", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
