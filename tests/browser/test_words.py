"""Words of the glossary: their meaning is a key, a pointer or a tap away, moves nothing, and needs no script."""

import pytest
from test_axe import look

NARROW = {"width": 400, "height": 800}
NOTE = ".meaning:popover-open"
PLACES = "seen('article p').map((each) => Math.round(each.getBoundingClientRect().top + scrollY))"


@pytest.fixture
def word(open_page, server, first):
    """Return a function that opens a page and returns it with a word on it, the last that the reader sees."""

    def find(**options):
        page = open_page(f"{server}/{first}", **options)
        found = page.locator("article a.word:visible").last
        found.scroll_into_view_if_needed()
        return page, found

    return find


def meaning(page, word):
    """Return the words that describe a word, which its note has."""
    return page.locator(f"#{word.get_attribute('aria-describedby')}").text_content()


@pytest.mark.parametrize("viewport", [NARROW, {"width": 1400, "height": 900}])
def test_the_focus_of_the_keyboard_opens_the_note_within_the_window(word, viewport):
    page, found = word(viewport=viewport)
    found.focus()  # as a script gives it, which is not that of the keyboard in all browsers
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    assert page.locator(NOTE).text_content() == meaning(page, found)
    with_note = page.evaluate(PLACES)
    box = page.locator(NOTE).bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= viewport["width"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("widestNote()") <= viewport["width"] - 8
    page.keyboard.press("Escape")
    assert page.locator(NOTE).count() == 0
    assert page.evaluate(PLACES) == with_note
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    assert page.locator(NOTE).count() == 1
    page.keyboard.press("Tab")
    assert page.locator(NOTE).filter(has_text=meaning(page, found)).count() == 0


def test_a_word_of_the_glossary_is_underlined(word):
    _, found = word()
    assert found.evaluate("word => getComputedStyle(word).textDecorationLine") == "underline"


def test_the_note_stays_while_the_pointer_is_on_the_word_or_on_the_note(word):
    page, found = word()
    found.hover()
    note = page.locator(NOTE)
    box = note.bounding_box()
    between = box["y"] - 3 if box["y"] > found.bounding_box()["y"] else box["y"] + box["height"] + 3
    page.mouse.move(box["x"] + 9, between)
    page.wait_for_timeout(50)  # on the way
    note.hover()
    page.wait_for_timeout(400)  # longer than a note waits for the pointer
    assert note.text_content() == meaning(page, found)
    page.mouse.move(1, 1)
    note.wait_for(state="detached")


def test_the_note_of_a_word_at_the_foot_of_the_window_stands_above_it(word):
    page, found = word()
    down = "word => scrollBy({ top: word.getBoundingClientRect().bottom + 4 - innerHeight, behavior: 'instant' })"
    found.evaluate(down)
    found.hover()
    box = page.locator(NOTE).bounding_box()
    assert 0 <= box["y"] < box["y"] + box["height"] <= found.bounding_box()["y"]


def test_the_second_tap_leads_to_the_glossary(word):
    page, found = word(viewport=NARROW, has_touch=True, is_mobile=True)
    address = page.url
    found.tap()
    assert page.locator(NOTE).text_content() == meaning(page, found)
    page.locator("h1").first.dispatch_event("pointerdown", {"pointerType": "touch", "bubbles": True})
    assert page.locator(NOTE).count() == 0
    found.tap()
    assert page.url == address
    found.tap()
    page.wait_for_url("**/back/glossary.html#term-*")


def test_without_scripts_the_word_leads_to_the_glossary(word):
    page, found = word(java_script_enabled=False)
    assert len(found.get_attribute("title")) > 10
    found.click()
    assert "/back/glossary.html#term-" in page.url


def test_axe_finds_nothing_while_a_note_is_open(open_page, server, first):
    assert look(open_page, f"{server}/{first}", "openNote", "prepareForAxe", viewport=NARROW) == []


def test_each_letter_of_the_glossary_leads_to_the_first_entry_with_it(open_page, server):
    page = open_page(f"{server}/back/glossary.html", NARROW)
    links = page.locator(".letters a")
    assert links.count() > 15
    for place in (0, links.count() - 1):
        name = links.nth(place).text_content()
        links.nth(place).click()
        assert page.evaluate("document.querySelector(':target').textContent")[0].upper() == name
    assert page.locator(":target").bounding_box()["y"] < NARROW["height"]
