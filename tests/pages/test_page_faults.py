"""A fault on a page stops the build, which names the page and the cause."""

import pytest
from test_explorables import CAPTION, RING, TEXT
from test_page_info import CELLS
from test_tabs import PICTURE
from tiny_book import RUN, Book, code, notebook, prose, shown

NO_PARTS = "needs a paragraph as its caption and a text alternative after it"
TEXTS = {
    "no-such-name": ("```{api} measure Spam\n```", "d2l has no Spam; known: Timer"),
    "unknown-explorable": (RING.replace("} ring", "} wheel"), "unknown explorable 'wheel'; known: bounds memory ring"),
    "nameless-explorable": (RING.replace(":name: fig-sum\n", ""), "explorable ring has no :name:"),
    "explorable-without-text": (RING.replace(f"\n\n{TEXT}", ""), NO_PARTS),
    "explorable-without-caption": (RING.replace(f"{CAPTION}\n\n", ""), NO_PARTS),
    "wrong-tex-inline": ("Good.\n\n$\\nosuchcommand$", "wrong TeX"),
    "wrong-tex-displayed": ("Good.\n\n$$\n\\frac{1}{\n$$", "wrong TeX"),
    "dangling-reference": ("See {numref}`fig-none`.", "fig-none"),
    "unknown-work": ("{cite:p}`nobody1999`", "nobody1999"),
    "unknown-directive": (":::{figment} x\n:::", "figment"),
}


def odd(mime, data):
    """Return a cell that displays data of a type."""
    return code("show()", outputs=[shown({mime: data})], mystnb={"image": {"alt": "A line."}})


FAULTS = {name: (notebook(prose("# Page"), prose(text)), cause) for name, (text, cause) in TEXTS.items()} | {
    "picture-without-words": (notebook(prose("# Page"), code("plot()", outputs=[PICTURE])), "without alternative"),
    "no-drawing": (notebook(prose("# Page"), odd("image/svg+xml", "<b>")), "cell 2 shows image/svg+xml that holds no"),
    "no-picture": (notebook(prose("# Page"), odd("image/png", "<b>")), "cell 2 shows image/png that is not in base64"),
    "too-deep": (notebook(prose("# Page"), odd("text/html", "<div>" * 1000)), "cell 2 shows text/html that is nested"),
    "missing-notebook": (notebook(*CELLS, jax=RUN), "notebooks/jax/missing-notebook.ipynb"),
}


@pytest.fixture(scope="module")
def complaints(tmp_path_factory):
    """The lines that the build of all pages with faults prints."""
    book = Book(tmp_path_factory.mktemp("faulty"), {name: page for name, (page, _) in FAULTS.items()})
    (book.folder / "notebooks" / "jax" / "missing-notebook.ipynb").unlink()
    status, warnings = book.build()
    assert status == 1
    return warnings.splitlines()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_stops_the_build_which_names_its_cause(complaints, fault):
    assert any(FAULTS[fault][1] in line for line in complaints if f"/{fault}." in line)
