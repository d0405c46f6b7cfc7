"""The links between the languages: to the same page, with its framework and place, on disk and without scripts too."""

import pytest
from conftest import PAGES, WINDOW
from test_switch import button, shown


def follow(page, link=".sidebar-sticky a.language"):
    """Click a link, and wait for the page to which it leads."""
    with page.expect_navigation():
        page.click(link)


@pytest.mark.parametrize("name", ["index.html", "back/glossary.html", "search.html?q=GPU"])
def test_the_links_lead_to_the_same_page_in_each_language(open_page, address, translated, name):
    page = open_page(f"{address}/{name}")
    for folder in (f"{translated}/", ""):
        follow(page)
        assert page.url.startswith(f"{address}/{folder}{name}")
        assert page.evaluate("document.documentElement.lang").startswith("zh" if folder else "en")


def test_without_scripts_the_link_leads_to_the_same_page(open_page, server, first, translated):
    page = open_page(f"{server}/{first}", java_script_enabled=False)
    follow(page)
    assert page.url == f"{server}/{translated}/{first}"


def test_on_a_narrow_screen_the_link_stays_in_the_header(open_page, server, first, translated):
    page = open_page(f"{server}/{first}", {"width": 400, "height": 800})
    page.evaluate("scrollTo({top: document.body.scrollHeight / 2, behavior: 'instant'})")
    follow(page, ".mobile-header a.language")
    assert page.url.startswith(f"{server}/{translated}/{first}?")


@pytest.mark.parametrize("width", [320, 400])
def test_the_name_of_a_language_stands_on_one_line(open_page, server, translated, width):
    page = open_page(f"{server}/back/checklist.html", {"width": width, "height": 800})
    name = page.locator(".mobile-header a.language")
    assert name.bounding_box()["height"] < 2 * name.evaluate("link => parseFloat(getComputedStyle(link).fontSize)")


def test_chinese_emphasis_has_dots_and_is_not_bold(open_page, address, translated):
    page = open_page(f"{address}/{translated}/index.html")
    look = "node => { const own = getComputedStyle(node); return [own.textEmphasisStyle, own.fontWeight] }"
    (dots, weight), (none, bold) = (page.locator(f"article p {tag}").first.evaluate(look) for tag in ("em", "strong"))
    assert ("dot" in dots, none) == (True, "none")
    assert int(weight) < int(bold)
    assert "PingFang SC" in page.evaluate("getComputedStyle(document.body).fontFamily")


@pytest.mark.parametrize("share", [0, 0.2, 0.5, 0.8])
def test_the_reader_stays_at_the_same_paragraph(open_page, address, first, translated, share):
    page = open_page(f"{address}/{first}", fresh=True)
    framework = PAGES[first][-1]
    page.click(button(framework))
    line, before = WINDOW["height"] / 3, page.evaluate("paragraphs()")
    number = int(share * len(before))
    if number:
        page.evaluate("by => scrollBy({top: by, behavior: 'instant'})", sum(before[number]) / 2 - line)
    for folder in (f"{translated}/", ""):
        follow(page)
        assert page.url.startswith(f"{address}/{folder}{first}?tab={framework}")
        page.wait_for_function("!location.search.includes('at=')")
        assert shown(page) == [framework]
        found = page.evaluate("paragraphs()")
        assert len(found) == len(before)
        if number:
            assert found[number][0] - 2 <= line <= found[number][1] + 2
        else:
            assert page.evaluate("scrollY") == 0
