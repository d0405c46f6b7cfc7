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
UNITS = {"GB": 1e9, "MB": 1e6, "kB": 1e3, "GB/s": 1e9, "MB/s": 1e6, "s": 1, "ms": 1e-3, "µs": 1e-6, "": 1}
NAMES = ("n", "S", "alpha", "b", "inside", "r")
LEAST, MOST = (3, 30, -63, 80, 80, "1"), (40, 100, -30, 120, 120, "64")
ENDS = {LEAST: [2, 1e3, 5e-7, 1e8, 1e8], MOST: [10**4, 1e10, 1e-3, 9e11, 9e11]}  # as the text names them
SETTINGS = [LEAST, MOST, (30, 82, -50, 104, 116, "8"), (10, 30, -30, 119, 120, "16"), (37, 100, -63, 91, 84, "4")]


@pytest.fixture
def pages(book):
    """The page with the first explorable of each kind."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(book.glob("*.html"))}
    return {kind: next(name for name in texts if f'class="explorable {kind} ' in texts[name]) for kind in KINDS}


def ring(open_page, address, n, steps=0, **window):
    """Return the page of the ring with n ranks, after some steps."""
    page = open_page(address, **window)
    page.locator(".ring select").first.select_option(str(n))
    for _ in range(steps):
        page.locator(".ring button", has_text="Step").first.click()
    return page


def costs(open_page, address, places, **window):
    """Return the page of the sliders, which stand at these places."""
    page = open_page(address, **window)
    for setting in zip(NAMES, places, strict=True):
        page.evaluate(MOVE, setting)
    return page


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
    page = ring(open_page, f"{server}/{pages['ring']}", n)
    before = page.evaluate(READ)["cells"]
    assert before == [[[rank]] * n for rank in range(n)]
    for number in range(1, 2 * n - 1):
        page.locator(".ring button", has_text="Step").first.click()
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

    def press(*keys):
        for key in keys:
            page.keyboard.press(key)
        shown = page.evaluate(READ)
        return page.evaluate("document.activeElement.textContent"), shown["words"].partition(",")[0], shown

    page.locator(".ring select").first.focus()
    *_, start = press("Home")
    assert len(start["cells"]) == 2
    assert press("Tab", "Enter")[0] == "Back"
    assert press("Tab", "Enter")[:2] == ("Step", "Step 1 of 2")
    assert press("Space", "Space", "Space")[:2] == ("Step", "Step 2 of 2")
    assert press("Shift+Tab", "Enter")[:2] == ("Back", "Step 1 of 2")
    focused, _, shown = press("Tab", "Tab", "Enter")
    assert (focused, shown) == ("Reset", start)


@pytest.mark.parametrize(("wish", "moving"), [("no-preference", 4), ("reduce", 0)])
def test_the_chunks_that_arrive_move_unless_the_reader_wants_no_motion(open_page, server, pages, wish, moving):
    page = ring(open_page, f"{server}/{pages['ring']}", 4, steps=1, reduced_motion=wish)
    assert page.evaluate("document.querySelector('.ring').getAnimations({ subtree: true }).length") == moving


@pytest.mark.parametrize("places", SETTINGS, ids=str)
def test_the_sliders_show_what_the_formulas_of_the_chapter_give(open_page, server, pages, places):
    page = costs(open_page, f"{server}/{pages['costs']}", places)
    *words, hosts = page.locator(".costs .value").all_inner_texts()
    values = [value(word) for word in words]
    assert values == ENDS.get(places, values)
    times = expected(*values, int(places[-1]))
    rows = page.locator(".costs tbody tr:not(.scale)")
    names, seconds = (rows.locator(cell).all_inner_texts() for cell in ("th", "td:last-child"))
    assert dict(zip(names, map(value, seconds), strict=True)) == pytest.approx(times, rel=0.006)
    assert value(hosts.split()[0]) == math.ceil(values[0] / min(values[0], int(places[-1])))
    fastest = [name for name in times if times[name] == pytest.approx(min(times.values()))]
    sentence = f"Fastest: {' and '.join(fastest)}, {seconds[names.index(fastest[0])]}."
    assert page.locator(".costs p").inner_text().startswith(sentence)
    assert page.locator(".costs .fastest th").all_inner_texts() == fastest


def test_a_slider_moves_by_keys_and_says_its_value_with_its_unit(open_page, address, pages):
    page = open_page(f"{address}/{pages['costs']}")
    slider = page.get_by_label("Bytes to sum, S").first
    slider.focus()
    for key, words in (("Home", "1 kB"), ("ArrowRight", "1.3 kB")):
        page.keyboard.press(key)
        assert slider.get_attribute("aria-valuetext") == words
    assert page.locator(".costs .value").nth(1).inner_text() == words


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1400])
def test_axe_finds_nothing_in_an_explorable_and_it_fits(open_page, server, pages, kind, scheme, width):
    window = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    address = f"{server}/{pages[kind]}"
    page = ring(open_page, address, 6, 7, **window) if kind == "ring" else costs(open_page, address, MOST, **window)
    page.evaluate(AXE_SCRIPT)
    assert page.evaluate(AXE) == []
    assert [view for view in page.evaluate(WIDTHS) if max(view["edge"], view["content"]) > width] == []


@pytest.mark.parametrize("kind", KINDS)
def test_without_scripts_the_text_stands_in_its_place(open_page, address, pages, kind):
    page = open_page(f"{address}/{pages[kind]}", java_script_enabled=False)
    place = page.locator(f".explorable.{kind}").first
    assert place.inner_text().strip()
    assert place.locator("button, input, select").count() == 0
    assert page.locator("figure", has=place).locator("figcaption").is_visible()
