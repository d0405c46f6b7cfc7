"""The explorables of the book: right, for keyboards too, readable, and a text where no script runs."""

import math

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from test_page import WIDTHS

from book.pages.explorable import KINDS
from d2l_utils.collectives import cost_model

READ = """() => ({
    cells: [...document.querySelectorAll('.ring tbody tr')].map((row) => [...row.cells].slice(1).map((cell) =>
        cell.textContent.split('+').map(Number))),
    moved: [...document.querySelectorAll('.ring .moved')].map((cell) =>
        [cell.parentNode.rowIndex - 1, cell.cellIndex - 1]),
    words: document.querySelector('.ring p').textContent,
})"""
MOVE = """([name, place]) => {
    const input = document.querySelector(`.costs [name=${name}]`);
    input.value = place;
    input.dispatchEvent(new Event(input.matches('select') ? 'change' : 'input'));
}"""
AXE = """async () => (await axe.run('.explorable')).violations.flatMap((fault) =>
    fault.nodes.map((node) => `${fault.id}: ${node.html}`))"""
FOCUS = "document.activeElement.textContent"
NARROW = {"width": 400, "height": 800}
UNITS = {"GB": 1e9, "MB": 1e6, "kB": 1e3, "GB/s": 1e9, "MB/s": 1e6, "s": 1, "ms": 1e-3, "µs": 1e-6, "": 1}
NAMES = ("n", "S", "alpha", "b", "inside", "r")
LEAST, MOST = (3, 30, -63, 80, 80, "1"), (40, 100, -30, 120, 120, "64")
SETTINGS = [LEAST, MOST, (30, 82, -50, 104, 116, "8"), (10, 30, -30, 119, 120, "16"), (37, 100, -63, 91, 84, "4")]


@pytest.fixture
def pages(book):
    """The address of the page with the first explorable of each kind."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(book.glob("*.html"))}
    shown = {kind: [name for name in texts if f'class="explorable {kind} ' in texts[name]] for kind in KINDS}
    assert all(shown.values()), shown
    return {kind: names[0] for kind, names in shown.items()}


def step(page, times):
    for _ in range(times):
        page.locator(".ring button", has_text="Step").first.click()


def choose(page, n):
    page.locator(".ring select").first.select_option(str(n))


def value(words):
    """Return the number that '160 MB' stands for."""
    number, _, unit = words.strip().partition(" ")
    return float(number.replace(",", "")) * UNITS[unit]


def expected(n, S, alpha, b, inside, r):
    """Return the seconds of each algorithm as the chapter's own formulas have them."""
    r = min(r, n)
    return {
        "star": cost_model.star_time(n, S, alpha, b),
        "tree": cost_model.tree_time(n, S, alpha, b),
        "ring": cost_model.ring_time(n, S, alpha, b),
        "hierarchical": cost_model.hierarchical_time(r, math.ceil(n / r), S, (alpha, inside), (alpha, b)),
        "n servers": cost_model.server_time(n, n, S, alpha, b),
    }


@pytest.mark.parametrize("n", range(2, 7))
def test_each_step_of_the_ring_follows_from_the_one_before_and_the_last_has_every_sum(open_page, server, pages, n):
    page = open_page(f"{server}/{pages['ring']}")
    choose(page, n)
    before = page.evaluate(READ)["cells"]
    assert before == [[[rank]] * n for rank in range(n)]
    for number in range(1, 2 * n - 1):
        step(page, 1)
        shown = page.evaluate(READ)
        assert sorted(rank for rank, _ in shown["moved"]) == list(range(n))
        after = [list(chunks) for chunks in before]
        for rank, chunk in shown["moved"]:
            own = before[rank][chunk] if number < n else []
            after[rank][chunk] = sorted(own + before[rank - 1][chunk])
        assert shown["cells"] == after
        assert f"Step {number} of {2 * (n - 1)}, {'reduce-scatter' if number < n else 'all-gather'}" in shown["words"]
        assert f"{number}/{n} · S = {number / n:.2f} S" in shown["words"]
        before = after
    assert before == [[list(range(n))] * n] * n
    assert shown["words"].endswith("Every rank holds every sum.")


def test_the_ring_is_stepped_by_keys_and_a_button_with_nothing_to_do_keeps_the_focus(open_page, address, pages):
    page = open_page(f"{address}/{pages['ring']}")
    page.locator(".ring select").first.focus()
    page.keyboard.press("Home")
    start = page.evaluate(READ)
    assert len(start["cells"]) == 2
    for name, key in (("Back", "Enter"), ("Step", "Enter")):
        page.keyboard.press("Tab")
        page.keyboard.press(key)
        assert page.evaluate(FOCUS) == name
    for _ in range(3):
        page.keyboard.press("Space")
    assert page.evaluate(FOCUS) == "Step"
    assert page.evaluate(READ)["words"].startswith("Step 2 of 2")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    assert page.evaluate(READ)["words"].startswith("Step 1 of 2")
    for _ in range(2):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert (page.evaluate(FOCUS), page.evaluate(READ)) == ("Reset", start)


def test_the_chunks_that_arrive_move_unless_the_reader_wants_no_motion(open_page, server, pages):
    for wish, moving in (("no-preference", 4), ("reduce", 0)):
        page = open_page(f"{server}/{pages['ring']}", reduced_motion=wish)
        choose(page, 4)
        step(page, 1)
        assert page.evaluate("document.querySelector('.ring').getAnimations({ subtree: true }).length") == moving


@pytest.mark.parametrize("places", SETTINGS, ids=str)
def test_the_sliders_show_what_the_formulas_of_the_chapter_give(open_page, server, pages, places):
    page = open_page(f"{server}/{pages['costs']}")
    for setting in zip(NAMES, places, strict=True):
        page.evaluate(MOVE, setting)
    *values, hosts = page.locator(".costs .value").all_inner_texts()
    n, S, alpha, b, inside = map(value, values)
    times = expected(int(n), S, alpha, b, inside, int(places[-1]))
    rows = page.locator(".costs tbody tr:not(.scale)")
    shown = dict(
        zip(rows.locator("th").all_inner_texts(), rows.locator("td:last-child").all_inner_texts(), strict=True)
    )
    assert {name: value(words) for name, words in shown.items()} == pytest.approx(times, rel=0.006)
    assert value(hosts.split()[0]) == math.ceil(n / min(n, int(places[-1])))
    fastest = min(times.values())
    names = [name for name in times if times[name] == pytest.approx(fastest)]
    assert page.locator(".costs p").inner_text().startswith(f"Fastest: {' and '.join(names)}, {shown[names[0]]}.")
    assert page.locator(".costs .fastest th").all_inner_texts() == names


def test_the_sliders_reach_the_ends_that_the_text_names(open_page, server, pages):
    page = open_page(f"{server}/{pages['costs']}")
    ends = []
    for places in (LEAST, MOST):
        for setting in zip(NAMES, places, strict=True):
            page.evaluate(MOVE, setting)
        ends.append([value(words) for words in page.locator(".costs .value").all_inner_texts()[:5]])
    assert ends == [[2, 1e3, 5e-7, 1e8, 1e8], [10**4, 1e10, 1e-3, 9e11, 9e11]]


def test_a_slider_moves_by_keys_and_says_its_value_with_its_unit(open_page, address, pages):
    page = open_page(f"{address}/{pages['costs']}")
    slider = page.get_by_label("Bytes to sum, S").first
    slider.focus()
    page.keyboard.press("Home")
    assert slider.get_attribute("aria-valuetext") == "1 kB"
    page.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == "1.3 kB"
    assert page.locator(".costs .value").nth(1).inner_text() == "1.3 kB"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [NARROW, {"width": 1400, "height": 900}], ids=["narrow", "wide"])
def test_axe_finds_nothing_in_an_explorable_and_it_fits(open_page, server, pages, kind, scheme, viewport):
    page = open_page(f"{server}/{pages[kind]}", viewport=viewport, color_scheme=scheme)
    if kind == "ring":
        choose(page, 6)
        step(page, 7)
    else:
        for setting in zip(NAMES, MOST, strict=True):
            page.evaluate(MOVE, setting)
    page.evaluate(AXE_SCRIPT)
    assert page.evaluate(AXE) == []
    assert [view for view in page.evaluate(WIDTHS) if max(view["edge"], view["content"]) > viewport["width"]] == []


@pytest.mark.parametrize("kind", KINDS)
def test_without_scripts_the_text_stands_in_its_place(open_page, address, pages, kind):
    page = open_page(f"{address}/{pages[kind]}", java_script_enabled=False)
    place = page.locator(f".explorable.{kind}").first
    assert place.inner_text().strip()
    assert place.locator("button, input, select").count() == 0
    assert page.locator("figure", has=place).locator("figcaption").is_visible()
