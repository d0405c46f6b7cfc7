"""The e-book and the PDF that `make epub` and `make pdf` wrote last; D2L_DOCUMENTS names another framework."""

import os
import xml.etree.ElementTree as ET
from zipfile import ZipFile

import pytest
from pypdf import PdfReader

from book import FRAMEWORKS, ROOT

PATHS = {
    name: [ROOT / "_build" / f"computational-performance-{name}.{kind}" for kind in ("epub", "pdf")]
    for name in FRAMEWORKS
}


@pytest.fixture(scope="session")
def framework():
    found = [name for name, paths in PATHS.items() if paths[0].exists()]
    if not found:
        pytest.fail("no documents: run `make epub pdf FRAMEWORKS=jax`")
    return os.environ.get("D2L_DOCUMENTS") or max(found, key=lambda name: PATHS[name][0].stat().st_mtime)


@pytest.fixture(scope="session")
def epub(framework):
    return PATHS[framework][0]


@pytest.fixture(scope="session")
def pages(epub):
    """The pages of the e-book by their paths."""
    with ZipFile(epub) as packed:
        names = [name for name in packed.namelist() if name.endswith(".xhtml") and name != "nav.xhtml"]
        return {name: ET.fromstring(packed.read(name)) for name in names}


@pytest.fixture(scope="session")
def printed(framework, chromium_path):
    return PATHS[framework][1]


@pytest.fixture(scope="session")
def pdf(printed):
    return PdfReader(printed)
