"""Links that open a notebook on a hosted Jupyter, once pyproject.toml names the book's repository.

Binder builds the repository itself; Colab takes the notebooks of the bundles, unzipped on the branch `bundle`.
"""

import re
from typing import Any

from book import BookError, project
from book.words import current, say

ADDRESS = re.compile(r"https://github\.com/([\w.-]+/[\w.-]+?)(?:\.git)?/?")


def repository(content: dict[str, Any] | None = None) -> str:
    """Return the "owner/name" of the repository on GitHub that pyproject.toml names, "" where it names none."""
    address = (content or project())["tool"]["d2l"]["repository"]
    found = ADDRESS.fullmatch(address)
    if address and not found:
        raise BookError(
            f"[tool.d2l] repository = {address!r}: Colab and Binder open https://github.com/OWNER/NAME; "
            "write it so in pyproject.toml, or leave it empty for no links"
        )
    return found[1] if found else ""


def bundle_name(framework: str) -> str:
    return f"d2l-{framework}{current().suffix}"


def links(name: str, framework: str, slug: str) -> dict[str, str]:
    """Return the address at which each service opens a notebook of the repository `name`; none where it is ""."""
    if not name:
        return {}
    path = current().working_copy(framework, slug).relative_to(current().root)
    return {
        "Colab": f"https://colab.research.google.com/github/{name}/blob/bundle/{bundle_name(framework)}/{slug}.ipynb",
        "Binder": f"https://mybinder.org/v2/gh/{name}/HEAD?urlpath=lab/tree/{path}",
    }


def linked(notebook: dict[str, Any], name: str, framework: str, slug: str) -> dict[str, Any]:
    """Return a notebook that begins with its links, if it has any."""
    found = links(name, framework, slug)
    if not found:
        return notebook
    listed = say(" or ").join(f"[{service}]({address})" for service, address in found.items())
    sentence = say("Open this notebook in {services}.", services=listed)
    cell = {"cell_type": "markdown", "id": "hosted", "metadata": {}, "source": sentence}
    return notebook | {"cells": [cell, *notebook["cells"]]}
