"""Whether the slides of a deck fit their boxes, as a browser lays them out."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Error, ViewportSize, sync_playwright

from book.setup.system_tools import find_browser

BOX = ViewportSize(width=960, height=700)
SMALLEST = 14  # pixels of a letter of code
LOWEST = 150  # pixels of height that a picture has
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


def misfits(page: Any, path: Path, margin: float = 1.0) -> list[str]:
    """Return a line for each part of the deck at `path` that exceeds `margin` times its room.

    The deck is opened in `page`, one of Playwright's of the size `BOX`.
    """
    page.goto(path.resolve().as_uri())
    page.wait_for_function("Reveal.isReady()")
    page.add_style_tag(content=".reveal .slides section .fragment { visibility: visible; opacity: 1 }")
    page.evaluate("document.fonts.ready.then(() => null)")
    found: list[str] = page.evaluate(MEASURE, [SMALLEST, LOWEST, margin])
    return found


def all_misfits(paths: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """Yield each deck with each line on what does not fit in it; nothing where there is no browser to ask."""
    browser = find_browser()
    if browser is None:
        return
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, chromium_sandbox=os.geteuid() != 0)
        page = chromium.new_page(viewport=BOX)
        for path in paths:
            try:
                lines = misfits(page, path)
            except Error as error:
                lines = [f"the browser cannot measure it: {error.message.splitlines()[0]}"]
            for line in lines:
                yield path, line
