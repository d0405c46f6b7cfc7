"""The slides of the decks that `make slides` wrote last fit their boxes, and show themselves without the network."""

from pathlib import Path

import pytest
from editions import layouts
from playwright.sync_api import ViewportSize
from tiny_book import code, prose, shown
from written import last_written

from book import ROOT
from book.slides.deck import deck
from book.slides.writing import page as written
from d2l_lab.instruments.predictions import Comparison

BOX = ViewportSize(width=960, height=700)
MARGIN = 1.25  # times its box, past which a slide fails
SMALLEST = 14  # pixels of a letter of code
LOWEST = 150  # pixels of height that a picture has
MISFITS = Path(__file__).with_name("misfits.js").read_text(encoding="utf-8")
FRAMEWORK = last_written("slides/{}/index.html") or "none"
DECKS = [
    path
    for layout in layouts("slides")
    for path in sorted((layout.derived / "slides" / FRAMEWORK).glob("*.html"))
    if path.stem != "index"
]


def misfits(page, path, margin=1.0):
    """Return a line for each part of the deck at `path` that exceeds `margin` times its room."""
    page.goto(path.as_uri())
    page.wait_for_function("Reveal.isReady()")
    page.add_style_tag(content=".reveal .slides section .fragment { visibility: visible; opacity: 1 }")
    page.evaluate("document.fonts.ready.then(() => null)")
    return page.evaluate(MISFITS, [SMALLEST, LOWEST, margin])


@pytest.mark.parametrize("deck", DECKS or [None], ids=lambda path: path and str(path.relative_to(ROOT / "_build")))
def test_each_slide_fits_its_box(open_page, deck):
    if deck is None:
        pytest.fail("no decks: run `make slides FRAMEWORKS=jax`")
    assert misfits(open_page("about:blank", BOX), deck, MARGIN) == []


def test_a_slide_that_does_not_fit_is_named(open_page, tmp_path):
    mark = {"id": "p", "metadata": {"slideshow": {"slide_type": "slide"}}}
    cells = [prose(text) | mark for text in ("# Tiny\n\n## Short\n\nA line.", "## Long\n\n" + "A line.\n\n" * 30)]
    path = tmp_path / "tiny.html"
    path.write_text(written(deck(cells, "jax", "about", "tiny.md"), "Tiny"), encoding="utf-8")
    lines = misfits(open_page("about:blank", BOX), path)
    assert lines
    assert all(line.startswith("slide 3, Long: ") and line.endswith("has 700") for line in lines)


def test_letters_shrink_before_code_is_left_out(open_page, tmp_path):
    sizes = []
    for lines in (4, 14, 40):
        cell = code("1\n" * 9 + "1", outputs=["2\n" * lines], slideshow={"slide_type": "slide"}) | {"id": "c"}
        title = prose("# Tiny") | {"id": "p"}
        path = tmp_path / "tiny.html"
        path.write_text(written(deck([title, cell], "jax", "about", "tiny.md"), "Tiny"), encoding="utf-8")
        page = open_page(path.as_uri(), BOX)
        page.wait_for_function("Reveal.isReady()")
        box = page.locator(".box")
        size = box.evaluate("box => parseFloat(getComputedStyle(box).getPropertyValue('--code'))")
        sizes.append((size, box.locator(".code").count()))
    assert sizes[0][0] == 24 > sizes[1][0] >= 14
    assert [whole for _, whole in sizes] == [1, 1, 0]


def test_what_was_measured_at_a_stop_appears_with_a_key(open_page, tmp_path):
    compared = Comparison("eight passes", "estimate", "s", 5e-3, 6e-3, 6e-3, 6e-3)
    cell = code("compare()", outputs=[shown(compared), "6.00 ms"], guess="eight *", slideshow={"slide_type": "slide"})
    path = tmp_path / "tiny.html"
    cells = [prose("# Tiny") | {"id": "p"}, cell | {"id": "c"}]
    path.write_text(written(deck(cells, "jax", "about", "tiny.md"), "Tiny"), encoding="utf-8")
    page = open_page(path.as_uri(), BOX)
    page.wait_for_function("Reveal.isReady()")
    found = [page.locator(part) for part in ("td >> nth=0", "td >> nth=1", "td >> nth=2", "pre.output")]
    assert [part.is_visible() for part in found] == [True, False, False, False]
    page.keyboard.press("Space")
    found[1].wait_for()
    assert [part.is_visible() for part in found] == [True] * 4


def test_a_key_turns_to_the_next_slide(open_page):
    if not DECKS:
        pytest.fail("no decks: run `make slides FRAMEWORKS=jax`")
    page = open_page(DECKS[0].as_uri(), BOX)
    page.wait_for_function("Reveal.isReady()")
    title = "Reveal.getCurrentSlide().querySelector('h1, h2').tagName"
    assert page.evaluate(title) == "H1"
    page.keyboard.press("Space")
    assert page.evaluate(title) == "H2"
