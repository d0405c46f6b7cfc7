"""The e-book and the PDF that `make epub` and `make pdf` wrote last, in each language.

D2L_DOCUMENTS names another framework.
"""

import xml.etree.ElementTree as ET
from zipfile import ZipFile

import pytest
from editions import layout_of
from pypdf import PdfReader
from written import last_written

from book import ROOT

layout = layout_of("epub")


@pytest.fixture(scope="module")
def framework():
    return last_written("computational-performance-{}.epub") or pytest.fail(
        "no documents: run `make epub pdf FRAMEWORKS=jax`"
    )


@pytest.fixture(scope="module")
def path(layout, framework):
    """The path of the documents, without what tells their kind."""
    ending = f"-{layout.language.code}" if layout.language else ""
    return ROOT / "_build" / f"computational-performance-{framework}{ending}"


@pytest.fixture(scope="module")
def epub(path):
    return path.with_suffix(".epub")


@pytest.fixture(scope="module")
def pages(epub):
    """The pages of the e-book by their paths."""
    with ZipFile(epub) as packed:
        names = [name for name in packed.namelist() if name.endswith(".xhtml") and name != "nav.xhtml"]
        return {name: ET.fromstring(packed.read(name)) for name in names}


@pytest.fixture(scope="module")
def printed(path, chromium_path):
    return path.with_suffix(".pdf")


@pytest.fixture(scope="module")
def pdf(printed):
    return PdfReader(printed)
