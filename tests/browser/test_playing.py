"""The explorables of the book: right, and for keyboards too; test_axe looks at them."""

import math

import pytest

from d2l_utils.collectives import cost_model

UNITS = {"GB": 1e9, "MB": 1e6, "kB": 1e3, "GB/s": 1e9, "MB/s": 1e6, "s": 1, "ms": 1e-3, "µs": 1e-6, "": 1}
NAMES = ("n", "S", "alpha", "b", "inside", "r")
# Where the sliders stand, and what values they have there: first all the least, then all the most, as the text says.
SETTINGS = [
    ((3, 30, -63, 80, 80, 1), [2, 1e3, 5e-7, 1e8, 1e8]),
    ((40, 100, -30, 120, 120, 64), [10**4, 1e10, 1e-3, 9e11, 9e11]),
    ((30, 82, -50, 104, 116, 8), [1000, 1.6e8, 1e-5, 2.5e10, 4e11]),
    ((10, 30, -30, 119, 120, 16), [10, 1e3, 1e-3, 7.9e11, 9e11]),
    ((37, 100, -63, 91, 84, 4), [5000, 1e10, 5e-7, 1.3e9, 2.5e8]),
]


def value(words):
    """Return the number that '160 MB' stands for."""
    number, _, unit = words.strip().partition(" ")
    return float(number.replace(",", "")) * UNITS[unit]


def expected(n, S, alpha, b, inside, r):
    """Return the seconds of each algorithm as the chapter's own formulas have them."""
    return {
        "star": cost_model.star_time(n, S, alpha, b),
        "tree": cost_model.tree_time(n, S, alpha, b),
        "ring": cost_model.ring_time(n, S, alpha, b),
        "hierarchical": cost_model.hierarchical_time(r, math.ceil(n / r), S, (alpha, inside), (alpha, b)),
        "n servers": cost_model.server_time(n, n, S, alpha, b),
    }


@pytest.mark.parametrize("n", range(2, 7))
def test_each_step_of_the_ring_follows_from_the_one_before_and_the_last_has_every_sum(open_page, server, page_with, n):
    page = open_page(f"{server}/{page_with('explorable ring')}")
    page.locator(".ring select").first.select_option(str(n))
    before = page.evaluate("ring()")["cells"]
    assert before == [[[rank]] * n for rank in range(n)]
    for number in range(1, 2 * n - 1):
        page.locator(".ring button", has_text="Step").first.click()
        shown = page.evaluate("ring()")
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


def test_the_ring_is_stepped_by_keys_and_a_button_with_nothing_to_do_keeps_the_focus(open_page, address, page_with):
    page = open_page(f"{address}/{page_with('explorable ring')}")

    def press(*keys):
        for key in keys:
            page.keyboard.press(key)
        return page.evaluate("[document.activeElement.textContent, ring().words.split(/[:,]/)[0]]")

    page.locator(".ring select").first.focus()
    page.keyboard.press("Home")
    assert len(page.evaluate("ring()")["cells"]) == 2
    assert press("Tab", "Enter") == ["Back", "Start"]
    assert press("Tab", "Enter") == ["Step", "Step 1 of 2"]
    assert press("Space", "Space", "Space") == ["Step", "Step 2 of 2"]
    assert press("Shift+Tab", "Enter") == ["Back", "Step 1 of 2"]
    assert press("Tab", "Tab", "Enter") == ["Reset", "Start"]
    assert page.evaluate("ring().cells") == [[[0], [0]], [[1], [1]]]


@pytest.mark.parametrize(("wish", "moving"), [("no-preference", 4), ("reduce", 0)])
def test_the_chunks_that_arrive_move_unless_the_reader_wants_no_motion(open_page, server, page_with, wish, moving):
    page = open_page(f"{server}/{page_with('explorable ring')}", reduced_motion=wish)
    page.locator(".ring button", has_text="Step").first.click()
    assert page.evaluate("document.querySelector('.ring').getAnimations({ subtree: true }).length") == moving


@pytest.mark.parametrize(("places", "values"), SETTINGS)
def test_the_sliders_show_what_the_formulas_of_the_chapter_give(open_page, address, page_with, places, values):
    page = open_page(f"{address}/{page_with('explorable costs')}")
    for name, place in zip(NAMES, places, strict=True):
        page.locator(f".costs [name={name}]").evaluate("set", place)
    *words, hosts = page.locator(".costs .value").all_inner_texts()
    assert [value(word) for word in words] == pytest.approx(values)
    assert [slider.get_attribute("aria-valuetext") for slider in page.locator(".costs input").all()] == words
    n, r = values[0], min(values[0], places[-1])
    assert value(hosts.split()[0]) == math.ceil(n / r)
    times = expected(*values, r)
    rows = page.locator(".costs tbody tr:not(.scale)")
    names, seconds = (rows.locator(cell).all_inner_texts() for cell in ("th", "td:last-child"))
    assert dict(zip(names, map(value, seconds), strict=True)) == pytest.approx(times, rel=0.006)
    fastest = [name for name in times if times[name] == pytest.approx(min(times.values()))]
    sentence = f"Fastest: {' and '.join(fastest)}, {seconds[names.index(fastest[0])]}."
    assert page.locator(".costs p").inner_text().startswith(sentence)
    assert page.locator(".costs .fastest th").all_inner_texts() == fastest


def test_a_slider_moves_by_keys(open_page, server, page_with):
    page = open_page(f"{server}/{page_with('explorable costs')}")
    page.get_by_label("Bytes to sum, S").first.focus()
    for key, words in (("Home", "1 kB"), ("ArrowRight", "1.3 kB")):
        page.keyboard.press(key)
        assert page.locator(".costs .value").nth(1).inner_text() == words
