"""The pipeline of the chapter: one source per section, four notebooks out of it, one page out of those."""

import platform
import sys
from pathlib import Path
from typing import Any

if sys.version_info < (3, 11):  # noqa: UP036  (said before the import below fails)
    sys.exit(
        f"error: Python 3.11 or newer is needed, this is {platform.python_version()}: "
        "install one and call make PYTHON=python3.11"
    )

import tomllib  # noqa: E402  (it came with Python 3.11)

ROOT = Path(__file__).resolve().parents[1]


def project() -> dict[str, Any]:
    """Return the content of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


_tables: dict[str, dict[str, Any]] = project()["tool"]["d2l"]["frameworks"]
FRAMEWORKS: dict[str, str] = {name: table["title"] for name, table in _tables.items()}
MODULES: dict[str, str] = {name: table["module"] for name, table in _tables.items()}


def keep_grammars_out() -> None:
    """Save this process a second, by an import that fails: for programs, to be called before they import nbformat.

    It would have jsonschema build 39 grammars of addresses with that module; notebooks hold none.
    """
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]


class BookError(Exception):
    """What went wrong, where, and how to mend it: lines for the user, who sees no traceback."""

    status = 1  # to exit with
