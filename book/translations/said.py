"""The texts that our own programs say, read from their files."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from babel.messages.extract import extract_javascript, extract_python
from jinja2.ext import babel_extract

from book.layout import own_files

PACKAGES = ("book", "d2l_utils", "d2l_lab")  # where `say` is called
METHODS: dict[str, Callable[..., Iterable[Any]]] = {
    ".py": extract_python,
    ".html": babel_extract,
    ".js": extract_javascript,
}
SAID = ("say", "say_each", "say_line")  # functions whose texts are fixed


def fixed_texts(package: Path, functions: Sequence[str] = SAID) -> list[tuple[str, str]]:
    """Return the texts in calls of these functions in the files of a package, each with its file."""
    paths = [path for ending in METHODS for path in own_files(package, f"**/*{ending}")]
    return [(text, path.relative_to(package.parent).as_posix()) for path in paths for text in said(path, functions)]


def said(path: Path, functions: Sequence[str] = SAID) -> list[str]:
    """Return the texts in calls of these functions in a file."""
    result = list[str]()
    with path.open("rb") as file:
        for _, function, found, _ in METHODS[path.suffix](file, functions, [], {}):
            texts = found if isinstance(found, tuple) else (found,)
            result += filter(None, texts if function == "say_each" else texts[:1])
    return result
