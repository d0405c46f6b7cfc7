"""The framework switch: one choice for the whole page, remembered, linkable, and easy on the reader's eyes."""

import pytest

VISIBLE = """() => {
    const panels = (name) => [...document.querySelectorAll(`.only-${name}:not(:empty)`)];
    const drawn = (name) => panels(name).some((panel) => panel.getClientRects().length);
    return [...document.querySelectorAll('.framework-switch button')].map((button) => button.value).filter(drawn);
}"""
CHECKED = """() => [...new Set(
    [...document.querySelectorAll('.frameworks > input:checked + label')].map((label) => label.dataset.syncId))]"""
# The kinds of content that the framework has on the page, but of which nothing is drawn.
MISSING = """(name) => ['.prose', '.cell_input', '.cell_output'].filter((kind) => {
    const all = [...document.querySelectorAll(`.only-${name} ${kind}`)];
    return all.length && !all.some((element) => element.getClientRects().length);
})"""


def shown(page):
    """Return the frameworks of which the page shows anything."""
    return page.evaluate(VISIBLE)


def pressed(page):
    return page.eval_on_selector_all('.framework-switch [aria-pressed="true"]', "buttons => buttons.map(b => b.value)")


def checked(page):
    """Return the frameworks that the hidden tab bars stand at."""
    return page.evaluate(CHECKED)


def first_section(sections):
    return next(iter(sections))


def last_section(sections):
    return list(sections)[-1]


def test_each_framework_shows_its_own_panels_alone(open_page, address, sections):
    for name, frameworks in sections.items():
        page = open_page(f"{address}/{name}")
        for framework in frameworks:
            page.click(f".framework-switch button[value={framework}]")
            assert shown(page) == pressed(page) == checked(page) == [framework]
            assert page.evaluate(MISSING, framework) == []


def test_the_address_chooses_the_framework(open_page, address, sections):
    for name, frameworks in sections.items():
        for framework in frameworks:
            assert shown(open_page(f"{address}/{name}?tab={framework}")) == [framework]


def test_an_unknown_framework_in_the_address_is_as_none(open_page, server, sections):
    name, frameworks = next(iter(sections.items()))
    assert shown(open_page(f"{server}/{name}?tab=caffe")) == frameworks[:1]


def test_the_choice_goes_into_the_address_and_is_remembered_over_pages(open_page, address, sections):
    page = open_page(f"{address}/{first_section(sections)}")
    framework = sections[first_section(sections)][-1]
    page.click(f".framework-switch button[value={framework}]")
    assert f"tab={framework}" in page.url
    open_page(f"{address}/index.html", page)
    open_page(f"{address}/{last_section(sections)}", page)
    wanted = framework if framework in sections[last_section(sections)] else sections[last_section(sections)][0]
    assert shown(page) == [wanted]


def test_a_keyboard_reaches_and_presses_the_switch(open_page, server, sections):
    page = open_page(f"{server}/{first_section(sections)}")
    second = sections[first_section(sections)][1]
    page.focus(f".framework-switch button[value={second}]")
    page.keyboard.press("Enter")
    assert pressed(page) == [second]
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")
    assert pressed(page) == sections[first_section(sections)][:1]


@pytest.mark.parametrize("width", [400, 1400])
def test_the_switch_stays_in_view(open_page, server, sections, width):
    page = open_page(f"{server}/{first_section(sections)}", viewport={"width": width, "height": 800})
    for step in (0.5, 0.4):  # down, and up again, when some themes bring in bars of their own
        page.evaluate("step => scrollTo({top: document.body.scrollHeight * step, behavior: 'instant'})", step)
        page.wait_for_timeout(100)
        on_top = page.evaluate("""() => [...document.querySelectorAll('.framework-switch button')].map((button) => {
            const box = button.getBoundingClientRect();
            return box.top < 120 && document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2) === button;
        })""")
        assert all(on_top)
    bar, text = page.locator(".framework-switch").bounding_box(), page.locator("article").bounding_box()
    assert bar["width"] >= text["width"]


def test_the_text_under_the_eyes_stays_when_the_framework_changes(open_page, server, sections):
    page = open_page(f"{server}/{first_section(sections)}?tab={sections[first_section(sections)][0]}")
    blocks = page.locator("article section > p, article section > h2")
    for number in range(1, blocks.count(), max(1, blocks.count() // 8)):
        block = blocks.nth(number)
        block.evaluate(
            "b => scrollTo({top: b.getBoundingClientRect().top + scrollY - innerHeight / 3 + 4, behavior: 'instant'})"
        )
        before = block.bounding_box()["y"]
        if page.evaluate("scrollY + innerHeight > document.documentElement.scrollHeight - 900"):
            break  # a shorter text has no such place: near the end of the page the window must move
        for framework in reversed(sections[first_section(sections)]):
            page.click(f".framework-switch button[value={framework}]")
            assert abs(block.bounding_box()["y"] - before) < 3, (number, framework)


def test_a_link_into_a_panel_shows_its_framework_and_the_target(open_page, address, sections):
    name, frameworks = next(iter(sections.items()))
    for framework in (frameworks[0], frameworks[-1]):
        page = open_page(f"{address}/{name}?tab={framework}")
        anchors = page.eval_on_selector_all(f".only-{framework} .cell[id]", "cells => cells.map(c => c.id)")
        for ending in (f"?tab={framework}#{anchors[-1]}", f"#{anchors[-1]}"):
            page = open_page(f"{address}/{name}{ending}")
            page.wait_for_timeout(50)
            assert shown(page) == [framework]
            box = page.locator(f"#{anchors[-1]}").bounding_box()
            bar = page.locator(".framework-switch").bounding_box()
            assert bar["y"] + bar["height"] - 1 <= box["y"] < 900


def test_without_scripts_there_are_plain_tabs(open_page, address, sections):
    page = open_page(f"{address}/{first_section(sections)}", java_script_enabled=False)
    assert not page.locator(".framework-switch").is_visible()
    sets = page.locator(".frameworks")
    for number in range(sets.count()):
        panels = sets.nth(number).locator("> .panel")
        assert sum(panels.nth(k).is_visible() for k in range(panels.count())) == 1
    last = sets.first.locator("> label").last
    last.click()
    assert sets.first.locator("> .panel").last.is_visible()


def test_on_paper_stands_the_chosen_framework(open_page, server, sections):
    page = open_page(f"{server}/{first_section(sections)}?tab={sections[first_section(sections)][-1]}")
    page.emulate_media(media="print")
    assert shown(page) == sections[first_section(sections)][-1:]
    buttons = page.locator(".framework-switch button")
    assert [buttons.nth(k).is_visible() for k in range(buttons.count())] == [False] * (buttons.count() - 1) + [True]
