"""Each slide of the decks that `make slides` wrote last fits its box, and shows itself without the network."""

import os

import pytest

from book import FRAMEWORKS, ROOT

BOX = {"width": 960, "height": 700}
SMALLEST = 14  # pixels of a letter of code
LOWEST = 150  # pixels of height that a picture has
MARGIN = 1.25  # of a box's size: other fonts are larger
FOLDERS = [ROOT / "_build" / "slides" / name for name in FRAMEWORKS]
WRITTEN = [folder for folder in FOLDERS if (folder / "index.html").exists()]
CHOSEN = os.environ.get("D2L_DOCUMENTS")
FOLDER = (
    ROOT / "_build" / "slides" / CHOSEN
    if CHOSEN
    else max(WRITTEN, key=lambda folder: (folder / "index.html").stat().st_mtime, default=FOLDERS[0])
)
DECKS = sorted(path.stem for path in FOLDER.glob("*.html") if path.stem != "index")
MEASURE = """([smallest, lowest, margin]) => {
  const found = [];
  for (const [place, slide] of Reveal.getSlides().entries()) {
    const {h, v} = Reveal.getIndices(slide);
    Reveal.slide(h, v);
    const inside = slide.querySelector('.box').clientWidth - 60;  // its padding
    const name = `slide ${place + 1}, ${slide.querySelector('h1, h2').textContent}`;
    for (const part of [slide, ...slide.querySelectorAll('.box, .code, pre, table, .picture')]) {
      const what = `${name}: ${part.tagName.toLowerCase()}.${part.className}`;
      if (part.tagName !== 'TABLE' && part.scrollHeight > margin * part.clientHeight)
        found.push(`${what} is ${part.scrollHeight} high, has ${part.clientHeight}`);
      const [width, room] = part.tagName === 'TABLE'
        ? [part.offsetWidth, inside] : [part.scrollWidth, part.clientWidth];
      if (width > margin * room) found.push(`${what} is ${width} wide, has ${room}`);
      if (part.matches('pre') && parseFloat(getComputedStyle(part).fontSize) < smallest)
        found.push(`${what} has letters of ${getComputedStyle(part).fontSize}`);
      if (part.matches('.picture') && part.clientHeight < lowest)
        found.push(`${what} is only ${part.clientHeight} high`);
    }
  }
  return found;
}"""


@pytest.mark.parametrize("deck", DECKS or [None])
def test_each_slide_fits_its_box(open_page, deck):
    if deck is None:
        pytest.fail("no decks: run `make slides FRAMEWORKS=jax`")
    page = open_page((FOLDER / f"{deck}.html").as_uri(), BOX)
    page.wait_for_function("Reveal.isReady()")
    page.add_style_tag(content=".reveal .slides section .fragment { visibility: visible; opacity: 1 }")
    assert page.evaluate(MEASURE, [SMALLEST, LOWEST, MARGIN]) == []


def test_a_deck_begins_and_goes_on_with_a_key(open_page):
    if not DECKS:
        pytest.fail("no decks: run `make slides FRAMEWORKS=jax`")
    page = open_page((FOLDER / f"{DECKS[0]}.html").as_uri(), BOX)
    page.wait_for_function("Reveal.isReady()")
    title = "Reveal.getCurrentSlide().querySelector('h1, h2').tagName"
    assert page.evaluate(title) == "H1"
    page.keyboard.press("Space")
    assert page.evaluate(title) == "H2"
