"""Reading with keys and links: boxes that scroll, the table of contents, what folds."""

import pytest
from conftest import SECTIONS
from test_switch import button

WIDER = "article pre { letter-spacing: .4em !important; }"  # as a font with wider letters would be


def test_only_what_scrolls_takes_the_focus_whatever_the_font(open_page, server, numbered):
    page = open_page(f"{server}/{numbered}")
    before, amiss = page.evaluate("focus()")
    page.add_style_tag(content=WIDER)
    page.evaluate("unfold()")
    unfolded, _ = page.evaluate("focus()")
    page.keyboard.press("Tab")
    after, still_amiss = page.evaluate("focus()")
    assert before < unfolded < after
    page.click(button(SECTIONS[numbered][-1]))
    page.evaluate("settled()")
    assert amiss + still_amiss + page.evaluate("focus()")[1] == []


def test_the_table_of_contents_marks_the_heading_that_any_link_leads_to(open_page, server, section):
    found = open_page(f"{server}/{section}").evaluate("follow()")
    assert found == [[link, link, True] for link, _, _ in found]
    assert found != []
    page = open_page(f"{server}/{section}")
    wanted = page.evaluate("contents().at(-2).hash")
    page.goto("about:blank")
    page.goto(f"{server}/{section}{wanted}")
    page.wait_for_function("wanted => marked().join() === wanted", arg=wanted)
    page.evaluate("settled()")
    assert page.evaluate("marked()") == [wanted]


@pytest.mark.parametrize("ending", ["#%", "#%E0%A4%A", "#nothing-of-this-name"])
def test_an_address_that_names_nothing_harms_nothing(open_page, server, first, ending):
    page = open_page(f"{server}/{first}{ending}")
    page.click(button(SECTIONS[first][-1]))
    page.add_style_tag(content=WIDER)
    page.keyboard.press("Tab")
    assert page.evaluate("focus()")[0] > 0
    assert page.evaluate("state().pressed") == SECTIONS[first][-1:]


def test_claims_are_seen_as_lines_above_their_folded_code(open_page, server, section):
    page = open_page(f"{server}/{section}")
    ran = page.locator(".colophon").count() == 1
    found = page.evaluate("forEachChoice(claims)")
    assert any(found) == (page.locator(".tag_claims").count() > 0)  # a section may state none
    for cells in found:
        for lines, code, unfolded in cells:
            assert (lines > 0, code, unfolded) == ((True, 0, 1) if ran else (False, 1, 1))


def test_a_solution_is_one_fold_with_all_of_it_inside(open_page, server, numbered):
    for found in open_page(f"{server}/{numbered}").evaluate("forEachChoice(solutions)"):
        assert found["places"] != []
        assert found["loose"] == 0
        gaps = [below[0] - above[1] for above, below in zip(found["places"], found["places"][1:], strict=False)]
        assert [gap for gap in gaps if gap < 30] == []  # an exercise stands between


def test_what_checks_an_answer_is_folded_above_the_solution(open_page, server, numbered):
    for boxes in open_page(f"{server}/{numbered}").evaluate("forEachChoice(foldedChecks)"):
        assert boxes
        pairs = (2, 4)  # a stub and its check, of a function, of a prediction, or of both
        assert [box for box in boxes if box not in [[True, 0, cells, True] for cells in pairs]] == []
