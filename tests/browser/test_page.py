"""What every page keeps: complete, quiet on the network, light, wide or narrow, light or dark."""

import gzip
import json
import posixpath
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from conftest import PAGES, SECTIONS, launch_options

WEIGHT_LIMIT = 150  # KiB, compressed, without pictures
PICTURES = (".svg", ".png", ".jpg")
# How far to the right each framework's text goes, and how wide the window's content is.
# furo clips what is too wide: measure the text itself, apart from what scrolls within its own place.
WIDTHS = """() => {
    document.querySelectorAll('article details').forEach((fold) => { fold.open = true; });
    const apart = 'pre, .table-wrapper, .math-wrapper, math, .headerlink, svg, button';
    const buttons = [...document.querySelectorAll('.framework-switch button')];
    return (buttons.length ? buttons : [document.body]).map((button) => {
        button.click();
        const text = [...document.querySelectorAll('article > section *')].filter((e) => !e.closest(apart));
        const drawn = text.filter((e) => e.getClientRects().length);
        const edge = Math.max(0, ...drawn.map((e) => e.getBoundingClientRect().right));
        return { framework: button.value, edge, content: document.documentElement.scrollWidth };
    });
}"""


class Links(HTMLParser):
    """The ids of a page, everything that it points at, and which of that a browser saves."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.targets, self.saved = set(), [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids.add(attributes.get("id"))
        if tag != "use":
            self.targets += [attributes[name] for name in ("href", "src") if name in attributes]
        if "download" in attributes:
            self.saved.append(attributes["href"])


def test_only_root_starts_chromium_without_its_sandbox():
    assert [launch_options(user)["chromium_sandbox"] for user in (0, 1000)] == [False, True]
    assert "--no-sandbox" not in launch_options(0)["args"]


def test_every_link_leads_somewhere(book):
    pages, lost = {name: Links(book / name) for name in PAGES}, []
    for name, page in pages.items():
        for target in page.targets:
            parts = urlsplit(target)
            if parts.scheme in ("http", "https", "mailto"):
                continue
            path = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(parts.path)))
            path = path if parts.path else name
            known = pages[path].ids if path in pages and parts.fragment else {unquote(parts.fragment)}
            if not (book / path).exists() or unquote(parts.fragment) not in known:
                lost.append(f"{name}: {target}")
    assert lost == []


def test_a_section_that_ran_offers_the_notebook_of_each_framework(book, section):
    ran = 'class="colophon' in (book / section).read_text(encoding="utf-8")
    notebooks = [book / unquote(target) for target in Links(book / section).saved]
    kernels = [json.loads(path.read_text(encoding="utf-8"))["metadata"]["kernelspec"]["name"] for path in notebooks]
    expected = [(Path(section).stem, f"d2l-{name}") for name in SECTIONS[section]] if ran else []
    assert list(zip([path.stem for path in notebooks], kernels, strict=True)) == expected


def test_a_page_loads_from_disk_and_its_pictures_say_what_they_show(open_page, book, page_name):
    page = open_page(f"{book.as_uri()}/{page_name}")
    dumb = "all => all.filter((i) => !i.alt.trim() || !i.naturalWidth).map((i) => i.src)"
    assert page.eval_on_selector_all("img", dumb) == []


def test_no_output_shows_where_an_object_lies_in_memory(book, page_name):
    text = (book / page_name).read_text(encoding="utf-8")
    assert re.findall(r"&lt;[^&]* at 0x[0-9a-f]+", text) == []


@pytest.mark.parametrize("width", [400, 1400])
def test_no_page_scrolls_sideways(open_page, server, page_name, width):
    page = open_page(f"{server}/{page_name}", viewport={"width": width, "height": 800})
    assert [view for view in page.evaluate(WIDTHS) if max(view["edge"], view["content"]) > width] == []


def test_the_reader_turns_the_page_dark_and_the_pictures_with_it(open_page, server, first):
    page = open_page(f"{server}/{first}")
    background = "getComputedStyle(document.body).backgroundColor"
    picture = "getComputedStyle(document.querySelector('article img')).filter"
    light = page.evaluate(background)
    assert page.evaluate(picture) == "none"
    for _ in range(3):
        if page.evaluate("document.body.dataset.theme") != "dark":
            page.click(".theme-toggle-content .theme-toggle")
    assert page.evaluate(background) != light
    assert page.evaluate(picture).startswith("invert")


def test_the_search_finds_a_section_by_its_title(open_page, address, first):
    title = open_page(f"{address}/{first}").evaluate("document.querySelector('h1').firstChild.nextSibling.data.trim()")
    page = open_page(f"{address}/search.html?q={title.split()[0]}")
    page.wait_for_selector("#search-results a", timeout=5000)
    targets = page.eval_on_selector_all("#search-results a", "links => links.map((a) => a.getAttribute('href'))")
    assert first in [urlsplit(target).path for target in targets]


def test_the_copy_button_takes_the_code_alone(open_page, server, first):
    page = open_page(f"{server}/{first}", permissions=["clipboard-read", "clipboard-write"])
    assert page.locator(".cell_output button.copybtn").count() == 0
    cell = page.locator(".cell_input:visible").first
    cell.hover()
    cell.locator("button.copybtn").click()
    assert page.evaluate("navigator.clipboard.readText()").strip() == cell.locator("pre").inner_text().strip()


def test_formulas_are_drawn_by_the_browser(open_page, server, section):
    page = open_page(f"{server}/{section}")
    widths = "all => all.filter((m) => m.checkVisibility()).map((m) => m.getBoundingClientRect().width)"
    assert min(page.eval_on_selector_all("math", widths)) > 0


def test_a_page_weighs_at_most_150_kib(open_page, server, page_name):
    answers = []
    page = open_page("about:blank", fresh=True)  # whose cache is empty
    page.on("response", lambda answer: answers.append(answer))  # Playwright takes no built-in function
    open_page(f"{server}/{page_name}", page)
    fetched = [answer for answer in answers if not urlsplit(answer.url).path.endswith(PICTURES)]
    found = {answer.url: len(gzip.compress(answer.body())) / 1024 for answer in fetched}
    assert 0 < sum(found.values()) <= WEIGHT_LIMIT, found
