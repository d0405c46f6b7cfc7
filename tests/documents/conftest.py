"""The e-book and the PDF that `make epub` and `make pdf` wrote last, in each language.

D2L_DOCUMENTS names another framework.
"""

import os
import xml.etree.ElementTree as ET
from pathlib import Path
from zipfile import ZipFile

import pytest
from editions import layout_of
from pypdf import PdfReader

from book import FRAMEWORKS, ROOT

PATHS = {name: ROOT / "_build" / f"computational-performance-{name}" for name in FRAMEWORKS}
layout = layout_of("epub")


@pytest.fixture(scope="module")
def framework():
    """The framework whose documents are read."""
    found = {name: path.with_suffix(".epub") for name, path in PATHS.items() if path.with_suffix(".epub").exists()}
    if not found:
        pytest.fail("no documents: run `make epub pdf FRAMEWORKS=jax`")
    return os.environ.get("D2L_DOCUMENTS") or max(found, key=lambda name: found[name].stat().st_mtime)


@pytest.fixture(scope="module")
def path(layout, framework):
    """The path of the documents, without what tells their kind."""
    return PATHS[framework] if layout.language is None else Path(f"{PATHS[framework]}-{layout.language.code}")


@pytest.fixture(scope="module")
def epub(path):
    """The path of the e-book."""
    return path.with_suffix(".epub")


@pytest.fixture(scope="module")
def pages(epub):
    """The pages of the e-book by their paths."""
    with ZipFile(epub) as packed:
        names = [name for name in packed.namelist() if name.endswith(".xhtml") and name != "nav.xhtml"]
        return {name: ET.fromstring(packed.read(name)) for name in names}


@pytest.fixture(scope="module")
def printed(path, chromium_path):
    """The path of the PDF, which a browser printed."""
    return path.with_suffix(".pdf")


@pytest.fixture(scope="module")
def pdf(printed):
    """The PDF."""
    return PdfReader(printed)
