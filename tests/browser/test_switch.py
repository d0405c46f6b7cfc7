"""The framework switch: one choice for the whole page, remembered, linkable, and easy on the reader's eyes."""

import pytest
from conftest import SECTIONS

# What the page shows: frameworks with anything drawn, the button pressed, where the hidden tab bars stand,
# and the kinds of content that the chosen framework has, but of which nothing is drawn.
STATE = """() => {
    const all = (selector) => [...document.querySelectorAll(selector)];
    const buttons = all('.framework-switch button');
    const drawn = (name) => all(`.only-${name}:not(:empty)`).some((panel) => panel.checkVisibility());
    const bars = all('.frameworks > input:checked + label').map((label) => label.dataset.syncId);
    const pressed = buttons.filter((b) => b.matches('[aria-pressed="true"]')).map((b) => b.value);
    const lost = (kind) => {
        const found = all(`.only-${pressed} ${kind}`);
        return found.length && !found.some((element) => element.checkVisibility());
    };
    return {
        shown: buttons.map((b) => b.value).filter(drawn), pressed, bars: [...new Set(bars)],
        lost: ['.prose', '.cell_input', '.cell_output'].filter(lost),
    };
}"""
PRESS_EACH = f"""() => [...document.querySelectorAll('.framework-switch button')].map((button) => {{
    button.click();
    return ({STATE})();
}})"""
# By how much blocks of common text move when another framework is chosen while they stand under the reader's eyes.
# Near the end of the page the window must move, because a shorter text has no such place.
MOVES = """() => {
    const blocks = [...document.querySelectorAll('article section > p, article section > h2')];
    const buttons = [...document.querySelectorAll('.framework-switch button')].reverse();
    const step = Math.max(1, Math.floor(blocks.length / 8));
    const moves = [];
    for (let place = 1; place < blocks.length; place += step) {
        const top = () => blocks[place].getBoundingClientRect().top;
        scrollTo({ top: top() + scrollY - innerHeight / 3 + 4, behavior: 'instant' });
        if (scrollY + innerHeight > document.documentElement.scrollHeight - 900) break;
        const before = top();
        for (const button of buttons) {
            button.click();
            moves.push(Math.abs(top() - before));
        }
    }
    return moves;
}"""
# How many panels each set of tabs shows.
PANELS = """() => [...document.querySelectorAll('.frameworks')].filter((set) => set.checkVisibility()).map((set) =>
    [...set.querySelectorAll(':scope > .panel')].filter((panel) => panel.checkVisibility()).length)"""
# Where on the screen the switch can be pressed.
ON_TOP = """() => [...document.querySelectorAll('.framework-switch button')].map((button) => {
    const box = button.getBoundingClientRect();
    return box.top < 120 && document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2) === button;
})"""


def shown(page):
    """Return the frameworks of which the page shows anything."""
    return page.evaluate(STATE)["shown"]


def button(framework):
    """Return the selector of a framework's button."""
    return f".framework-switch button[value={framework}]"


def test_each_framework_shows_its_own_panels_alone(open_page, server, section):
    page = open_page(f"{server}/{section}")
    whole = [{"shown": [name], "pressed": [name], "bars": [name], "lost": []} for name in SECTIONS[section]]
    assert page.evaluate(PRESS_EACH) == whole


def test_the_address_chooses_the_framework_and_an_unknown_one_is_as_none(open_page, server, first):
    assert shown(open_page(f"{server}/{first}?tab=caffe")) == SECTIONS[first][:1]
    for framework in SECTIONS[first]:
        assert shown(open_page(f"{server}/{first}?tab={framework}")) == [framework]


def test_the_choice_goes_into_the_address_and_is_remembered_over_pages(open_page, address, first):
    last, others = list(SECTIONS.items())[-1]
    chosen = SECTIONS[first][-1]
    page = open_page(f"{address}/{first}", fresh=True)
    page.click(button(chosen))
    assert f"tab={chosen}" in page.url
    open_page(f"{address}/index.html", page)
    open_page(f"{address}/{last}", page)
    assert shown(page) == [chosen if chosen in others else others[0]]


def test_a_keyboard_reaches_and_presses_the_switch(open_page, server, first):
    page = open_page(f"{server}/{first}")
    page.focus(button(SECTIONS[first][-1]))
    for framework, key in zip(reversed(SECTIONS[first]), ["Enter", "Space"] * 2, strict=False):
        page.keyboard.press(key)
        assert page.evaluate(STATE)["pressed"] == [framework]
        page.keyboard.press("Shift+Tab")


@pytest.mark.parametrize("width", [400, 1400])
def test_the_switch_stays_in_view(open_page, server, first, width):
    page = open_page(f"{server}/{first}", viewport={"width": width, "height": 800})
    for step in (0.5, 0.4):  # down, and up again, when some themes bring in bars of their own
        page.evaluate("step => scrollTo({top: document.body.scrollHeight * step, behavior: 'instant'})", step)
        page.wait_for_timeout(100)
        assert all(page.evaluate(ON_TOP))
    bar, text = page.locator(".framework-switch").bounding_box(), page.locator("article").bounding_box()
    assert bar["width"] >= text["width"]


def test_the_text_under_the_eyes_stays_when_the_framework_changes(open_page, server, first):
    page = open_page(f"{server}/{first}")
    long = page.evaluate("document.documentElement.scrollHeight > 4 * innerHeight")
    moves = page.evaluate(MOVES)
    assert len(moves) > 0 or not long
    assert [move for move in moves if move >= 3] == []


def test_a_link_into_a_panel_shows_its_framework_and_the_target(open_page, server, book):
    ran = next(name for name in SECTIONS if "colophon" in (book / name).read_text(encoding="utf-8"))
    page = open_page(f"{server}/{ran}")
    for framework in {SECTIONS[ran][0], SECTIONS[ran][-1]}:
        anchor = page.evaluate("name => [...document.querySelectorAll(`.only-${name} .cell[id]`)].pop().id", framework)
        for start, ending in ((ran, f"?tab={framework}#{anchor}"), ("index.html", f"#{anchor}")):
            open_page(f"{server}/{start}", page)
            open_page(f"{server}/{ran}{ending}", page)
            page.wait_for_timeout(50)
            assert shown(page) == [framework]
            box = page.locator(f"[id='{anchor}']").bounding_box()
            bar = page.locator(".framework-switch").bounding_box()
            assert bar["y"] + bar["height"] - 1 <= box["y"] < 900


def test_without_scripts_there_are_plain_tabs(open_page, server, first):
    page = open_page(f"{server}/{first}", java_script_enabled=False)
    assert not page.locator(".framework-switch").is_visible()
    assert set(page.evaluate(PANELS)) == {1}
    tabs = page.locator(".frameworks").first
    tabs.locator("> label").last.click()
    assert tabs.locator("> .panel").last.is_visible()


def test_on_paper_stands_the_chosen_framework(open_page, server, first):
    page = open_page(f"{server}/{first}?tab={SECTIONS[first][-1]}")
    page.emulate_media(media="print")
    seen = "all => all.filter((b) => b.checkVisibility()).map((b) => b.value)"
    buttons = page.eval_on_selector_all(".framework-switch button", seen)
    assert shown(page) == buttons == SECTIONS[first][-1:]
