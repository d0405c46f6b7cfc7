"""Each section has a colour of its own in the pictures of predictions, which can be seen in both schemes."""

import re
from importlib.resources import files

from wcag import contrast

from book import ROOT
from book.layout import Edition
from book.pages.records.colours import colour
from book.pages.records.scatter import Dot, factors, key, times
from book.sources import slugs
from d2l_lab.instruments.predictions import Comparison

MORE = 40  # sections, far more than there are
VISIBLE = 3  # the contrast that WCAG asks of graphics


def backgrounds():
    """Return the colours of a page in the light and in the dark, from the theme's style sheet."""
    sheet = (files("furo") / "theme" / "furo" / "static" / "styles" / "furo.css").read_text(encoding="utf-8")
    found = set(re.findall(r"--color-background-primary: ?(#\w+|\w+)", sheet))
    assert len(found) == 2
    return found


def test_each_section_has_a_colour_that_can_be_seen():
    assert len(slugs(Edition(ROOT))) < MORE
    colours = [colour(place) for place in range(MORE)]
    assert len(set(colours)) == MORE
    for background in backgrounds():
        assert min(contrast(each, background) for each in colours) >= VISIBLE


def test_every_mark_has_its_sections_colour():
    one = Comparison("one", "estimate", "s", 1, 1, 1, 1)
    dots = [Dot(one, f"s{place}", place, "") for place in range(MORE)]
    expected = [colour(place) for place in range(MORE)]
    for picture in (times(dots), factors(dots), "".join(key("model", place) for place in range(MORE))):
        assert re.findall('<g color="(#[0-9a-f]{6})">', picture) == expected
    assert "color=" not in key("model")  # which stands for no section
    for sheet in (ROOT / "book" / "pages").glob("*/*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert not re.search(r"\.colour|--colour", text)  # a list that could run out
