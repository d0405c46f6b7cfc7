"""Names in tables of records, some of which lead to their cells."""

import pytest

from book.record_html import link


@pytest.mark.parametrize(
    ("address", "shown"),
    [("a.html?tab=jax#c1", '<a class="reference internal" href="a.html?tab=jax#c1">1 &lt; 2</a>'), ("", "1 &lt; 2")],
)
def test_a_name_is_no_markup_and_leads_to_its_cell_if_it_has_an_address(address, shown):
    assert link("1 < 2", address) == shown
