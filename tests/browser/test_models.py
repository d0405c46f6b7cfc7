"""How good the models are: each mark is a link with a name, for the mouse and for keyboards, and tables fold."""

import pytest
from conftest import PAGES

MODELS = "back/models.html"
MARKS = ".scatter a"


def test_a_marks_name_appears_while_it_is_pointed_at_or_has_the_focus(open_page, server):
    assert PAGES.get(MODELS), "the page shows no predictions: run `make book`"
    page = open_page(f"{server}/{MODELS}?tab={PAGES[MODELS][-1]}")
    names = f"seen('{MARKS} .words').map((words) => words.parentNode.getAttribute('aria-label'))"
    assert page.evaluate(names) == []
    first = page.locator(f"{MARKS}:visible").first
    label = first.get_attribute("aria-label")
    first.locator(".model, .estimate").hover(force=True)  # before the focus scrolls the page, which takes a while
    assert len(page.evaluate(names)) == 1  # of this mark, or of one that lies on it
    page.mouse.move(0, 0)
    first.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    assert page.evaluate(names) == [label]


@pytest.mark.parametrize(
    ("kind", "label"), [("comparisons", "predicted"), ("promises", "a step"), ("running-total", "a step")]
)
def test_tables_of_figures_fold_on_a_narrow_screen(open_page, server, page_with, kind, label):
    name = "index.html" if kind == "running-total" else page_with(kind)
    page = open_page(f"{server}/{name}", {"width": 400, "height": 800})
    cut, labels = page.evaluate("tables", f"table.{kind}")
    assert cut == 0
    assert set(labels) == {f'"{label} "'}
    page.set_viewport_size({"width": 1400, "height": 800})
    assert set(page.evaluate("tables", f"table.{kind}")[1]) == {"none"}
