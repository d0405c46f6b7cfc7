"""The e-book and the PDF that `make epub` and `make pdf` wrote last; D2L_DOCUMENTS names another framework."""

import xml.etree.ElementTree as ET
from zipfile import ZipFile

import pytest
from pypdf import PdfReader
from written import last_written

from book import ROOT


def path(framework, kind):
    return ROOT / "_build" / f"computational-performance-{framework}.{kind}"


@pytest.fixture(scope="session")
def framework():
    return last_written("computational-performance-{}.epub") or pytest.fail(
        "no documents: run `make epub pdf FRAMEWORKS=jax`"
    )


@pytest.fixture(scope="session")
def epub(framework):
    return path(framework, "epub")


@pytest.fixture(scope="session")
def pages(epub):
    """The pages of the e-book by their paths."""
    with ZipFile(epub) as packed:
        names = [name for name in packed.namelist() if name.endswith(".xhtml") and name != "nav.xhtml"]
        return {name: ET.fromstring(packed.read(name)) for name in names}


@pytest.fixture(scope="session")
def printed(framework, chromium_path):
    return path(framework, "pdf")


@pytest.fixture(scope="session")
def pdf(printed):
    return PdfReader(printed)
