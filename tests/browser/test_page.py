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
    """The ids of a page, everything that it points at, and its pictures without words."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.targets, self.dumb = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag == "img" and not (dict(attributes).get("alt") or "").strip():
            self.dumb.append(self.get_starttag_text())
        self.ids |= {value for name, value in attributes if name == "id"}
        self.targets += [value for name, value in attributes if name in ("href", "src") and tag != "use"]


@pytest.fixture(scope="module")
def texts(book):
    """The HTML of all pages by their names."""
    return {name: (book / name).read_text(encoding="utf-8") for name in PAGES}


@pytest.fixture(scope="module")
def links(texts):
    return {name: Links(text) for name, text in texts.items()}


def test_every_link_leads_somewhere(book, links):
    pages, lost = links, []
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


def test_every_picture_has_words(links):
    assert {name: page.dumb for name, page in links.items() if page.dumb} == {}


def test_no_output_shows_an_address_in_memory(texts):
    found = {name: re.findall(r"&lt;[^&]* at 0x[0-9a-f]+", text) for name, text in texts.items()}
    assert {name: addresses for name, addresses in found.items() if addresses} == {}


def test_a_page_loads_from_disk_with_its_formulas_and_pictures(open_page, book, sampled):
    page = open_page(f"{book.as_uri()}/{sampled}")
    assert page.evaluate("seen('math').filter((formula) => !formula.getBoundingClientRect().width).length") == 0
    assert page.eval_on_selector_all("img", "all => all.filter((i) => !i.naturalWidth).map((i) => i.src)") == []


@pytest.mark.parametrize("width", [400, 1400])
def test_no_page_scrolls_sideways(open_page, server, sampled, width):
    page = open_page(f"{server}/{sampled}", {"width": width, "height": 800})
    assert [view for view in page.evaluate("widths()") if max(view["edge"], view["content"]) > width] == []


def test_no_printed_table_is_wider_than_the_page(open_page, server, section):
    assert open_page(f"{server}/{section}").evaluate("wideTables()") == []


def test_pictures_turn_dark_with_the_page(open_page, server, first):
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
