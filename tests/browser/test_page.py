"""What every page keeps: complete, quiet on the network, light, readable by everybody, wide or narrow."""

import gzip
import json
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe

WEIGHT_LIMIT = 150  # KiB, compressed, without pictures
PICTURES = (".svg", ".png", ".jpg")
# furo clips what is too wide: measure the text itself, apart from what scrolls within its own place.
RIGHT_EDGE = """() => Math.max(0, ...[...document.querySelectorAll('article > section *')]
    .filter((e) => !e.closest('pre, .table-wrapper, .math-wrapper, math, .headerlink, svg, button'))
    .filter((e) => e.getClientRects().length)
    .map((e) => e.getBoundingClientRect().right))"""


def pages(book):
    return sorted(path.name for path in book.glob("*.html"))


class Links(HTMLParser):
    """The ids of a page and everything that it points at."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.targets = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.ids.add(value)
            elif name in ("href", "src") and tag != "use":
                self.targets.append(value)


def test_every_link_leads_somewhere(book):
    found = {name: Links((book / name).read_text(encoding="utf-8")) for name in pages(book)}
    lost = []
    for name, links in found.items():
        for target in links.targets:
            parts = urlsplit(target)
            if parts.scheme in ("http", "https", "mailto"):
                continue
            path = unquote(parts.path) or name
            if (
                not (book / path).exists()
                or parts.fragment
                and path in found
                and unquote(parts.fragment) not in found[path].ids
            ):
                lost.append(f"{name}: {target}")
    assert lost == []


def test_each_section_offers_its_notebooks(book, sections):
    for name, frameworks in sections.items():
        for framework in frameworks:
            path = book / "notebooks" / framework / name.replace(".html", ".ipynb")
            assert isinstance(json.loads(path.read_text(encoding="utf-8")), dict)


def test_pages_load_without_trouble_and_their_pictures_say_what_they_show(open_page, address, book):
    for name in pages(book):
        page = open_page(f"{address}/{name}")
        assert (
            page.eval_on_selector_all("img", "all => all.filter(i => !i.alt.trim() || !i.naturalWidth).map(i => i.src)")
            == []
        )


def violations(page, within="html", **options):
    """Return a line for each element in which axe finds a fault."""
    found = Axe().run(page, context=within, options={"resultTypes": ["violations"]} | options).response["violations"]
    return [f"{page.url}: {fault['id']}: {node['html'][:120]}" for fault in found for node in fault["nodes"]]


def unfold(page):
    page.evaluate("document.querySelectorAll('article details').forEach(fold => { fold.open = true; })")


# What depends on the colours alone is looked at in the dark, everything in the light: a page is the same in both.
COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}


@pytest.mark.parametrize(("scheme", "options"), [("light", {}), ("dark", COLOURS)])
def test_axe_finds_nothing_in_any_tab(open_page, server, book, sections, scheme, options):
    faults = []
    for name in pages(book):
        page = open_page(f"{server}/{name}", color_scheme=scheme)
        unfold(page)
        faults += violations(page, **options)
        for framework in sections.get(name, [])[1:]:  # what they share with the first has been looked at
            page.click(f".framework-switch button[value={framework}]")
            faults += violations(page, within=f".only-{framework}", **options)
    assert faults == []


def test_axe_finds_nothing_on_a_narrow_screen(open_page, server, sections):
    page = open_page(f"{server}/{next(iter(sections))}", viewport={"width": 400, "height": 800})
    assert violations(page) == []


@pytest.mark.parametrize("width", [400, 1400])
def test_no_page_scrolls_sideways(open_page, server, book, sections, width):
    for name in pages(book):
        page = open_page(f"{server}/{name}", viewport={"width": width, "height": 800})
        for framework in sections.get(name, [None]):
            if framework:
                page.click(f".framework-switch button[value={framework}]")
            unfold(page)
            assert page.evaluate(RIGHT_EDGE) <= width, (name, framework)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, framework)


def test_the_reader_turns_the_page_dark_and_the_pictures_with_it(open_page, address, sections):
    page = open_page(f"{address}/{next(iter(sections))}", color_scheme="light")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    picture = "getComputedStyle(document.querySelector('article img')).filter"
    assert page.evaluate(picture) == "none"
    for _ in range(3):
        if page.evaluate("document.body.dataset.theme") == "dark":
            break
        page.click(".theme-toggle-content .theme-toggle")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    assert page.evaluate(picture).startswith("invert")


def test_the_search_finds_a_section(open_page, address, sections):
    page = open_page(f"{address}/search.html?q=asynchronous")
    page.wait_for_selector("#search-results a", timeout=5000)
    targets = page.eval_on_selector_all("#search-results a", "links => links.map(a => a.getAttribute('href'))")
    assert any(target.split("?")[0].split("#")[0] in sections for target in targets)


def test_the_copy_button_takes_the_code_alone(open_page, server, chromium, sections):
    page = open_page(f"{server}/{next(iter(sections))}", permissions=["clipboard-read", "clipboard-write"])
    assert page.locator(".cell_output button.copybtn").count() == 0
    cell = page.locator(".cell_input:visible").first
    cell.hover()
    cell.locator("button.copybtn").click()
    assert page.evaluate("navigator.clipboard.readText()").strip() == cell.locator("pre").inner_text().strip()


def test_formulas_are_drawn_by_the_browser(open_page, server, sections):
    for name in sections:
        page = open_page(f"{server}/{name}")
        drawn = page.eval_on_selector_all(
            "math", "all => all.filter(m => m.getClientRects().length).map(m => m.getBoundingClientRect().width)"
        )
        assert all(width > 0 for width in drawn)


def weights(open_page, address):
    """Return the compressed size in KiB of everything that a page fetches, apart from pictures, by address."""
    answers = []
    page = open_page("about:blank")
    page.on("response", lambda answer: answers.append(answer))  # Playwright takes no built-in function
    open_page(address, page)
    fetched = [answer for answer in answers if not urlsplit(answer.url).path.endswith(PICTURES)]
    return {answer.url: len(gzip.compress(answer.body())) / 1024 for answer in fetched}


def test_a_page_weighs_at_most_150_kib(open_page, server, book, capsys):
    for name in pages(book):
        found = weights(open_page, f"{server}/{name}")
        with capsys.disabled():
            print(f"\n{name}: {sum(found.values()):.0f} KiB compressed, without pictures", end="")
        assert sum(found.values()) <= WEIGHT_LIMIT, found
