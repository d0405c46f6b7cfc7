"""The boxes of the checklist stay ticked, and its buttons leave out what is for other machines."""

import pytest

BOX = "input[data-advice]"


@pytest.fixture
def place(address):
    return f"{address}/back/checklist.html"


def test_a_tick_stays_when_the_page_is_opened_again_and_in_every_framework(open_page, place):
    page = open_page(f"{place}?tab=pytorch", fresh=True)
    box = page.locator(f".only-pytorch {BOX}").first
    name = box.get_attribute("data-advice")
    box.check()
    page.reload()
    twins = page.locator(f'input[data-advice="{name}"]')
    assert {twins.nth(i).is_checked() for i in range(twins.count())} == {True}
    assert page.locator(f"{BOX}:checked").count() == twins.count()
    box.uncheck()
    page.reload()
    assert page.locator(f"{BOX}:checked").count() == 0


@pytest.mark.parametrize("scripts", [True, False])
def test_a_machines_button_leaves_out_what_is_for_others(open_page, server, scripts):
    page = open_page(f"{server}/back/checklist.html?tab=pytorch", java_script_enabled=scripts)
    everything = page.locator(".boxes > li:visible").count()
    for machine in ("cpu", "gpu", "several"):
        page.check(f".machines [value={machine}]")
        left = page.locator(".boxes > li:visible")
        assert 0 < left.count() <= everything
        assert page.locator(f".boxes > li:visible:not(.for-{machine})").count() == 0
        assert page.locator(f".boxes > li.for-{machine}:visible").count() == left.count()
        assert (left.count() == everything) == (machine == "several")  # who has several GPUs has one too


def test_a_link_to_what_is_left_out_shows_it(open_page, server):
    page = open_page(f"{server}/back/checklist.html", fresh=True)
    page.check(".machines [value=cpu]")
    assert not page.locator("#parameterserver").is_visible()
    page.goto(f"{server}/back/checklist.html#parameterserver")
    assert page.locator("#parameterserver").is_visible()


def test_the_choice_of_machines_stays(open_page, place):
    page = open_page(place, fresh=True)
    page.check(".machines [value=gpu]")
    page.reload()
    assert page.locator(".machines [value=gpu]").is_checked()


def test_on_paper_stand_the_boxes_without_the_buttons(open_page, server):
    page = open_page(f"{server}/back/checklist.html")
    page.emulate_media(media="print")
    assert page.locator(f"{BOX}:visible").count() > 0
    assert not page.locator(".machines").is_visible()
