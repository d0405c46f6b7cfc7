"""The framework switch: one choice for the whole page, remembered, linkable, and easy on the reader's eyes."""

import pytest
from conftest import SECTIONS
from tiny_book import RUN, Book, notebook, prose


def button(framework):
    return f".framework-switch button[value={framework}]"


def shown(page):
    return page.evaluate("state().shown")


def test_each_framework_shows_its_own_panels_alone(open_page, server, section):
    page = open_page(f"{server}/{section}")
    whole = [{"shown": [name], "pressed": [name], "bars": [name], "lost": []} for name in SECTIONS[section]]
    assert page.evaluate("forEachChoice(state)") == whole


def test_the_address_chooses_the_framework(open_page, server, first):
    assert shown(open_page(f"{server}/{first}?tab=caffe")) == SECTIONS[first][:1]
    for framework in SECTIONS[first]:
        assert shown(open_page(f"{server}/{first}?tab={framework}")) == [framework]


def test_the_choice_is_remembered_over_pages(open_page, address, first):
    last, others = list(SECTIONS.items())[-1]
    chosen = SECTIONS[first][-1]
    page = open_page(f"{address}/{first}", fresh=True)
    page.click(button(chosen))
    assert f"tab={chosen}" in page.url
    page.goto(f"{address}/index.html")
    page.goto(f"{address}/{last}")
    assert shown(page) == [chosen if chosen in others else others[0]]


def test_a_keyboard_presses_the_switch(open_page, server, first):
    page = open_page(f"{server}/{first}")
    page.focus(button(SECTIONS[first][-1]))
    for framework, key in zip(reversed(SECTIONS[first]), ["Enter", "Space"] * 2, strict=False):
        page.keyboard.press(key)
        assert page.evaluate("state().pressed") == [framework]
        page.keyboard.press("Shift+Tab")


@pytest.mark.parametrize("width", [400, 1400])
def test_the_switch_stays_in_view(open_page, server, first, width):
    page = open_page(f"{server}/{first}", {"width": width, "height": 800})
    for step in (0.5, 0.4):  # down, and up again, when some themes bring in bars of their own
        page.evaluate("step => scrollTo({top: document.body.scrollHeight * step, behavior: 'instant'})", step)
        page.wait_for_timeout(100)
        assert all(page.evaluate("switchOnTop()"))
    bar, text = page.locator(".framework-switch").bounding_box(), page.locator("article").bounding_box()
    assert bar["width"] >= text["width"]


def test_the_text_under_the_eyes_stays_when_the_framework_changes(open_page, server, first):
    page = open_page(f"{server}/{first}")
    long = page.evaluate("document.documentElement.scrollHeight > 4 * innerHeight")
    moves = page.evaluate("moves()")
    assert len(moves) > 0 or not long
    assert [move for move in moves if move >= 3] == []


def test_a_link_into_a_panel_shows_the_target_below_the_switch(open_page, server, page_with):
    ran = page_with("colophon")
    page = open_page(f"{server}/{ran}")
    for framework in {SECTIONS[ran][0], SECTIONS[ran][-1]}:
        cell = page.locator(f".only-{framework} .cell[id]").last
        anchor = cell.get_attribute("id")
        for start, ending in ((ran, f"?tab={framework}#{anchor}"), ("index.html", f"#{anchor}")):
            page.goto(f"{server}/{start}")
            page.goto(f"{server}/{ran}{ending}")
            page.wait_for_timeout(50)
            assert shown(page) == [framework]
            bar = page.locator(".framework-switch").bounding_box()
            assert bar["y"] + bar["height"] - 1 <= cell.bounding_box()["y"] < 900
        for other in [name for name in SECTIONS[ran] if name != framework][:1]:
            page.click(button(other))
            assert "#" not in page.url  # the other has no such place


def test_without_scripts_there_are_plain_tabs(open_page, server, first):
    page = open_page(f"{server}/{first}", java_script_enabled=False)
    assert not page.locator(".framework-switch").is_visible()
    sets = page.locator(".frameworks:visible").all()
    assert {tabs.locator("> .panel:visible").count() for tabs in sets} == {1}
    sets[0].locator("> label").last.click()
    assert sets[0].locator("> .panel").last.is_visible()


def test_a_framework_without_words_of_its_own_has_an_empty_tab_that_says_so_without_scripts(open_page, tmp_path):
    cells = prose("# Page"), prose("Torch.", "pytorch"), prose("For all."), prose("JAX.", "jax")
    html = Book(tmp_path, {"page": notebook(*cells, jax=RUN)}).output()
    look = (
        "panels => panels.map(panel => [getComputedStyle(panel).display, getComputedStyle(panel, '::after').content])"
    )
    said = '"Nothing of its own here."'
    for scripts, shown in ((True, ["none", "none"]), (False, ["block", "none"])):
        page = open_page(f"{html.as_uri()}/page.html?tab=pytorch", java_script_enabled=scripts)
        if not scripts:
            page.locator(".frameworks > label", has_text="PyTorch").last.click()
        found = page.locator(".only-pytorch.empty, .only-jax.empty").evaluate_all(look)
        assert sorted(found) == sorted([display, said] for display in shown)


def test_on_paper_stands_the_chosen_framework(open_page, server, first):
    page = open_page(f"{server}/{first}?tab={SECTIONS[first][-1]}")
    page.emulate_media(media="print")
    buttons = page.evaluate("seen('.framework-switch button').map((button) => button.value)")
    assert shown(page) == buttons == SECTIONS[first][-1:]
