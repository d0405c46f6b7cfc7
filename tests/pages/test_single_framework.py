"""The e-book of one framework: what it holds, where its answers stand, and that nothing is left of the others."""

import json
import xml.etree.ElementTree as ET
from zipfile import ZIP_STORED, ZipFile

import pytest
from bs4 import BeautifulSoup
from test_claims_page import claim
from test_machine_profile import FILES as MACHINE
from test_page_info import LATER
from tiny_book import RUN, Book, code, notebook, outline, prose, shown, words

ENVELOPE = ":::{admonition} Back-of-the-envelope problem: a sum\nHow long?\n\n```{dropdown} Answer\n10 s\n```\n:::"
EXERCISE = "## Exercises\n\n1. Try it."
MOVING = ":::{explorable} ring\n:name: fig-ring\n\nA ring.\n\n* It turns.\n:::"
FLOW = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path id="blank"/></svg>'
PICTURE = shown({"image/svg+xml": FLOW})
SECTION = notebook(
    prose("# Section\n\nIt costs $x$ seconds, see {doc}`list`."),
    prose("Torch is eager.", "pytorch"),
    code("import torch", "pytorch"),
    prose("JAX is lazy.", "jax"),
    code("import jax", "jax"),
    code("plot()", outputs=[PICTURE], mystnb={"image": {"alt": "A blank."}}),
    prose(f"{ENVELOPE}\n\n{MOVING}\n\n{EXERCISE}"),
    prose("Because of $n$.", "solution"),
    code("solve()", "solution", outputs=["solved\n"]),
    pytorch=LATER,
    jax=RUN,
)
LISTS = "# Lists\n\n```{claims}\n```\n\n```{machine}\n```\n\n```{problems}\n```\n"
CLAIMS = [claim("section", "jax", True), claim("section", "pytorch", True), claim("section", "pytorch", False)]
BESIDE = MACHINE | {"claims.json": json.dumps(CLAIMS)}


@pytest.fixture(scope="module")
def edition(tmp_path_factory):
    """The folder of a tiny book in JAX, as an e-book."""
    folder = tmp_path_factory.mktemp("edition")
    book = Book(folder, {"section": SECTION, "list": LISTS}, BESIDE)
    assert book.build("epub", only="jax") == (0, "")
    return folder / "epub"


def read(path):
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser").select_one(".body")


def test_a_section_reads_as_the_text_of_one_framework_with_its_answers_at_the_end(edition, outlines):
    assert outline(read(edition / "section.xhtml")) == outlines["edition"]


def test_a_problem_has_links_to_its_answer_in_the_same_framework(edition):
    page = read(edition / "section.xhtml")
    for here, there in zip(page.select(".to-note"), page.select(".endnote"), strict=True):
        assert here.a["href"] == f"#{there['id']}"
        assert there.a["href"] == f"#{here['id']}"
    page = read(edition / "list.xhtml")
    text = words(page)
    assert "1 of 1 claims held" in text
    assert "All claims" not in text
    assert "JAX 1.2" in text
    assert not [row for row in page.select("tr, li") if "PyTorch" in row.get_text()]
    assert "on the GPU" not in text  # where the other framework alone had found one


def test_all_files_are_packed_behind_their_type_without_scripts(edition):
    package = (edition / "content.opf").read_text(encoding="utf-8")
    assert 'properties="mathml" href="section.xhtml"' in package
    assert "Tiny" not in package
    assert "<dc:title>Computational Performance in JAX</dc:title>" in package
    with ZipFile(edition / "computational-performance-jax.epub") as packed:
        first, *others = packed.infolist()
        assert (first.filename, first.compress_type) == ("mimetype", ZIP_STORED)
        assert {"section.xhtml", "list.xhtml", "_static/epub.css"} <= {file.filename for file in others}
        assert not [file.filename for file in others if file.filename.endswith((".js", ".html"))]
    head = (edition / "section.xhtml").read_text(encoding="utf-8").partition("</head>")[0]
    assert head.count("stylesheet") == 2
    assert "<script" not in head
    (picture,) = (edition / "_images").glob("*.svg")
    assert [node.get("d") for node in ET.parse(picture).getroot()] == ["M0 0"]


def test_a_link_that_leads_nowhere_is_a_warning(tmp_path):
    book = Book(tmp_path, {"page": "# Page\n\n<a href='other.html#x'>there</a>\n"})
    status, warnings = book.build("epub", only="jax")
    assert status == 1
    assert "page.xhtml: nothing is at other.xhtml#x" in warnings
