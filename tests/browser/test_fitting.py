"""The slides of the decks that `make slides` wrote last fit their boxes, and show themselves without the network."""

import os

import pytest
from editions import layouts

from book import FRAMEWORKS, ROOT
from book.slides.deck import deck
from book.slides.overflow import BOX, misfits
from book.slides.writing import page as written

MARGIN = 1.25  # past which a slide fails; `make slides` warns of one that does not fit its box
LISTS = [ROOT / "_build" / "slides" / name / "index.html" for name in FRAMEWORKS]
WRITTEN = [path for path in LISTS if path.exists()]
NEWEST = max(WRITTEN, key=lambda path: path.stat().st_mtime, default=LISTS[0]).parent.name
FRAMEWORK = os.environ.get("D2L_DOCUMENTS") or NEWEST
DECKS = [
    path
    for layout in layouts("slides")
    for path in sorted((layout.derived / "slides" / FRAMEWORK).glob("*.html"))
    if path.stem != "index"
]


@pytest.mark.parametrize("deck", DECKS or [None], ids=lambda path: path and str(path.relative_to(ROOT / "_build")))
def test_each_slide_fits_its_box(open_page, deck):
    if deck is None:
        pytest.fail("no decks: run `make slides FRAMEWORKS=jax`")
    assert misfits(open_page("about:blank", BOX), deck, MARGIN) == []


def test_a_slide_that_does_not_fit_is_named(open_page, tmp_path):
    slide = {"slideshow": {"slide_type": "slide"}}
    texts = {"# Tiny\n\n## Short\n\nA line.": slide, "## Long\n\n" + "A line.\n\n" * 30: slide}
    cells = [{"cell_type": "markdown", "id": "p", "source": text, "metadata": mark} for text, mark in texts.items()]
    path = tmp_path / "tiny.html"
    path.write_text(written(deck(cells, "jax", "about", "tiny.md"), "Tiny"), encoding="utf-8")
    lines = misfits(open_page("about:blank", BOX), path)
    assert lines
    assert all(line.startswith("slide 3, Long: ") and line.endswith("has 700") for line in lines)


def test_letters_shrink_before_code_is_left_out(open_page, tmp_path):
    sizes = []
    for lines in (4, 14, 40):
        printed = {"output_type": "stream", "name": "stdout", "text": "2\n" * lines}
        cell = {
            "cell_type": "code",
            "id": "c",
            "source": "1\n" * 9 + "1",
            "outputs": [printed],
            "execution_count": None,
        }
        cell["metadata"] = {"slideshow": {"slide_type": "slide"}}
        title = {"cell_type": "markdown", "id": "p", "source": "# Tiny", "metadata": {}}
        path = tmp_path / "tiny.html"
        path.write_text(written(deck([title, cell], "jax", "about", "tiny.md"), "Tiny"), encoding="utf-8")
        page = open_page(path.as_uri(), BOX)
        page.wait_for_function("Reveal.isReady()")
        box = page.locator(".box")
        size = box.evaluate("box => parseFloat(getComputedStyle(box).getPropertyValue('--code'))")
        sizes.append((size, box.locator(".code").count()))
    (most, code), (fewer, kept), (_, left) = sizes
    assert most == 24 > fewer >= 14
    assert (code, kept, left) == (1, 1, 0)


def test_a_deck_begins_and_goes_on_with_a_key(open_page):
    if not DECKS:
        pytest.fail("no decks: run `make slides FRAMEWORKS=jax`")
    page = open_page(DECKS[0].as_uri(), BOX)
    page.wait_for_function("Reveal.isReady()")
    title = "Reveal.getCurrentSlide().querySelector('h1, h2').tagName"
    assert page.evaluate(title) == "H1"
    page.keyboard.press("Space")
    assert page.evaluate(title) == "H2"
