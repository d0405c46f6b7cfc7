"""Where the project's files lie, which of them are its own, and notebooks on disk as JSON."""

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from book import BookError
from book.translations import Language

OWN = re.compile(r"[a-z0-9_][a-z0-9_-]*\.[a-z]+")  # the names of the project's files


def own_files(folder: Path, *patterns: str) -> list[Path]:
    """Return the files of the project that match one of these patterns in a folder, sorted.

    Others, such as `.#page.md`, `._page.md`, `page copy.md` and `Thumbs.db`, are those of an editor or a system.
    """
    found = [path for pattern in patterns for path in folder.glob(pattern)]
    seen = [path for path in found if not any(part.startswith(".") for part in path.relative_to(folder).parts)]
    return sorted(path for path in seen if OWN.fullmatch(path.name) and path.is_file())


def remove_others(folder: Path, kept: Collection[Path]) -> None:
    """Remove all files from a folder and those in it but the ones that are kept; folders stay."""
    for path in {*folder.glob("*.*"), *folder.glob("*/*.*")}.difference(kept):
        if path.is_symlink() or not path.is_dir():
            path.unlink()


@dataclass(frozen=True)
class Edition:
    """The English book or its translation into a language: the folders of a project whose root is `root`.

    What depends on no language, such as executed notebooks, lies in the same place for all.
    """

    root: Path
    language: Language | None = None

    @property
    def sources(self) -> Path:
        """The folder of the sections' sources, which `book.translations.translate` writes for a translation."""
        return self.derived / "sources" if self.language else self.root / "notebooks"

    @property
    def build(self) -> Path:
        """The folder of all that is derived."""
        return self.root / "_build"

    @property
    def derived(self) -> Path:
        """The folder of what is derived in this language."""
        return self.build / self.code

    @property
    def code(self) -> str:
        """The code of the language in paths, "" for English."""
        return self.language.code if self.language else ""

    @property
    def suffix(self) -> str:
        """What names of files in this language end with, "" in English."""
        return f"-{self.code}" if self.language else ""

    @property
    def lang(self) -> str:
        """The language as HTML and EPUB name it, such as zh-CN."""
        return self.language.locale.replace("_", "-") if self.language else "en"

    @property
    def catalogues(self) -> Path:
        return self.root / "notebooks" / "locale"

    @property
    def profile(self) -> Path:
        """The file that tells what this machine is and can do."""
        return self.build / "machine.json"

    def notebook(self, stage: str, framework: str, slug: str) -> Path:
        """Return the path of a notebook of `stage`: notebooks (the reader's), handouts, executed or failed."""
        code = self.code if stage in ("notebooks", "handouts") else ""
        return self.build / stage / code / framework / f"{slug}.ipynb"

    def working_copy(self, framework: str, slug: str) -> Path:
        """Return the path of a reader's own copy of a notebook."""
        return self.root / "work" / self.code / framework / f"{slug}.ipynb"

    def left(self, framework: str, slug: str) -> Path:
        """Return the folder of the files that a notebook's run left."""
        return self.build / "left" / framework / slug


def read_json(path: Path, cure: str = "") -> dict[str, Any]:
    """Return the JSON object in a file; BookError if it is missing (`cure` helps) or damaged."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise ValueError("it holds no object")
    except FileNotFoundError:
        raise BookError(f"{path} is missing{cure and ': ' + cure}") from None
    except ValueError as error:  # of the text's coding or of JSON
        raise BookError(f"{path} is damaged ({error}): delete it and run make again") from None
    return content


def read_notebook(path: Path, cure: str = "") -> dict[str, Any]:
    """Return the notebook in a file as `read_json` does, with each cell's source as one text."""
    notebook = read_json(path, cure)
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])
    return notebook


def dump(content: object) -> str:
    """Return `content` as JSON text, the same for the same content."""
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def up_to_date(path: Path, key: str) -> dict[str, Any] | None:
    """Return the notebook at `path` if it was made from what has this key, else None."""
    notebook = read_notebook(path) if path.exists() else {}
    return notebook if notebook.get("metadata", {}).get("d2l", {}).get("key") == key else None
