"""Where a reader may guess first: two or three predictions of each section in each framework."""

import pytest
from written import SECTIONS

from book import FRAMEWORKS, ROOT
from book.cells import expand, of
from book.layout import Edition
from book.sources import read


@pytest.mark.parametrize("slug", SECTIONS)
def test_each_section_has_two_or_three_stops_in_each_framework(slug):
    entries = expand(read(slug, Edition(ROOT))["notebook"])
    found = {name: sum(len(entry.stops) for entry in of(entries, name)) for name in FRAMEWORKS}
    assert {name: number for name, number in found.items() if number not in (2, 3)} == {}
