"""The text of drawings, in the fonts of this machine: no label reaches beyond its drawing, in any language."""

import pytest
from conftest import BOOK, TRANSLATIONS

MARGIN = 1.25  # times narrower, so it would be inside: other machines have other fonts, wider or narrower
BEYOND = """([drawing, margin]) => {
  document.body.innerHTML = drawing;
  const frame = document.querySelector('svg').getBoundingClientRect();
  const found = [];
  for (const text of document.querySelectorAll('svg text:not(defs *)')) {
    const {left, right, top, bottom, width, height} = text.getBoundingClientRect();
    const beyond = (before, after, length) => Math.max(before, after) > (1 - 1 / margin) * length;
    if (beyond(frame.left - left, right - frame.right, width) || beyond(frame.top - top, bottom - frame.bottom, height))
      found.push(text.textContent);
  }
  return found;
}"""


@pytest.mark.parametrize("folder", ["", *TRANSLATIONS])
def test_no_label_reaches_beyond_its_drawing(open_page, folder):
    page = open_page("about:blank")
    paths = sorted((BOOK / folder / "_images").glob("*.svg"))
    assert len(paths) > 100, "run `make book`"
    found = {path.name: page.evaluate(BEYOND, [path.read_text(encoding="utf-8"), MARGIN]) for path in paths}
    assert {name: labels for name, labels in found.items() if labels} == {}


def test_a_label_that_does_is_named(open_page):
    drawing = '<svg viewBox="0 0 90 20" width="90"><text y="15">inside</text><text x="80" y="15">beyond</text></svg>'
    assert open_page("about:blank").evaluate(BEYOND, [drawing, MARGIN]) == ["beyond"]
