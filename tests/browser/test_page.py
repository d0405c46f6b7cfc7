"""What every page keeps: complete, quiet on the network, light, wide or narrow, light or dark."""

import gzip
import posixpath
import re
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest
from conftest import PAGES

WEIGHT_LIMIT = 175  # KiB, compressed, without pictures: 140 have been seen
PICTURES = (".svg", ".png", ".jpg")


class Links(HTMLParser):
    """The ids of a page, and everything that it points at."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.targets = set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        self.ids |= {value for name, value in attributes if name == "id"}
        self.targets += [value for name, value in attributes if name in ("href", "src") and tag != "use"]


def test_every_link_leads_somewhere(book):
    pages, lost = {name: Links(book / name) for name in PAGES}, []
    for name, page in pages.items():
        for target in page.targets:
            parts = urlsplit(target)
            if parts.scheme in ("http", "https", "mailto"):
                continue
            path = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(parts.path)))
            path, anchor = path if parts.path else name, unquote(parts.fragment)
            wrong = anchor and path in pages and anchor not in pages[path].ids
            if wrong or not (book / path).exists():
                lost.append(f"{name}: {target}")
    assert lost == []


def test_a_page_loads_from_disk_whole_its_pictures_have_words_and_no_output_an_address_in_memory(
    open_page, book, page_name
):
    page = open_page(f"{book.as_uri()}/{page_name}")
    assert page.evaluate("seen('math').filter((formula) => !formula.getBoundingClientRect().width).length") == 0
    dumb = "all => all.filter((i) => !i.alt.trim() || !i.naturalWidth).map((i) => i.src)"
    assert page.eval_on_selector_all("img", dumb) == []
    text = (book / page_name).read_text(encoding="utf-8")
    assert re.findall(r"&lt;[^&]* at 0x[0-9a-f]+", text) == []


@pytest.mark.parametrize("width", [400, 1400])
def test_no_page_scrolls_sideways(open_page, server, page_name, width):
    page = open_page(f"{server}/{page_name}", {"width": width, "height": 800})
    assert [view for view in page.evaluate("widths()") if max(view["edge"], view["content"]) > width] == []


def test_no_printed_table_is_wider_than_the_page(open_page, server, section):
    assert open_page(f"{server}/{section}").evaluate("wideTables()") == []


def test_the_reader_turns_the_page_dark_and_the_pictures_with_it(open_page, server, first):
    page = open_page(f"{server}/{first}")
    background = "getComputedStyle(document.body).backgroundColor"
    picture = "getComputedStyle(document.querySelector('article img')).filter"
    light = page.evaluate(background)
    assert page.evaluate(picture) == "none"
    while page.evaluate("document.body.dataset.theme") != "dark":
        page.click(".theme-toggle-content .theme-toggle")
    assert page.evaluate(background) != light
    assert page.evaluate(picture).startswith("invert")


def test_the_copy_button_takes_the_code_alone(open_page, server, either):
    page = open_page(f"{server}/{either}", permissions=["clipboard-read", "clipboard-write"])
    assert page.locator(".cell_output button.copybtn").count() == 0
    cell = page.locator(".cell_input:visible").first
    cell.hover()
    cell.locator("button.copybtn").click()
    assert page.evaluate("navigator.clipboard.readText()").strip() == cell.locator("pre").inner_text().strip()


def test_a_page_weighs_at_most_175_kib(open_page, server, sampled):
    answers = []
    page = open_page("about:blank", fresh=True)  # whose cache is empty
    page.on("response", lambda answer: answers.append(answer))  # Playwright takes no built-in function
    page.goto(f"{server}/{sampled}")
    fetched = [answer for answer in answers if not urlsplit(answer.url).path.endswith(PICTURES)]
    found = {answer.url: len(gzip.compress(answer.body())) / 1024 for answer in fetched}
    assert 0 < sum(found.values()) <= WEIGHT_LIMIT, found
