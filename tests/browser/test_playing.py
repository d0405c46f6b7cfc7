"""The explorables of the book: right, and for keyboards too; test_axe looks at them."""

import re

import pytest


@pytest.mark.parametrize("n", range(2, 7))
def test_the_steps_of_the_ring_lead_to_every_sum(open_page, server, page_with, n):
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


def test_the_ring_is_stepped_by_keys(open_page, address, page_with):
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


def test_the_ring_says_the_words_of_its_page(open_page, server, page_with, translated):
    page = open_page(f"{server}/{translated}/{page_with('explorable ring')}")
    assert page.locator(".ring button").all_inner_texts() == ["上一步", "下一步", "重置"]
    assert page.locator(".ring tbody th").first.inner_text() == "rank 0"


@pytest.mark.parametrize(
    ("side", "holds", "slowest"),
    [
        ("1", "L1 cache", "fetching tiles from memory"),
        ("16", "L1 cache", "using tiles in: L1 cache"),
        ("64", "L2 cache", "using tiles in: L2 cache"),
        ("2048", "memory", "using tiles in: memory"),
    ],
)
def test_a_side_of_the_tiles_has_a_level_and_a_slowest_part(open_page, server, page_with, side, holds, slowest):
    page = open_page(f"{server}/{page_with('explorable tiles')}")
    page.locator("details", has=page.locator(".tiles")).evaluate_all("folds => folds.forEach(fold => fold.open = true)")
    page.locator(".tiles select").first.select_option(side)
    shown = page.locator(".tiles p").first.inner_text()
    assert f"fit in: {holds}." in shown
    assert f"serves {float(side) / 4:g} flops. Longest: {slowest}." in shown
    seconds = [float(cell) for cell in page.locator(".tiles td:last-child").all_inner_texts()]
    assert float(page.locator(".tiles .longest").first.inner_text()) == max(seconds)


def test_slots_that_are_refilled_answer_sooner_and_write_more(open_page, server, page_with):
    page = open_page(f"{server}/{page_with('explorable slots')}")
    page.locator("details", has=page.locator(".slots")).evaluate_all("folds => folds.forEach(fold => fold.open = true)")
    shown = {}
    for way in ("static", "continuous"):
        page.locator(".slots select").nth(3).select_option(label=way)
        words = page.locator(".slots p").first.inner_text()
        figures = re.search(r"at most ([\d.]+) s, 95 % at most ([\d.]+) s, at (\d+) tokens a second; (\d+) %", words)
        shown[way] = [float(figure) for figure in figures.groups()]
        assert page.locator(".slots .bars span").count() == 60
    p50, p95, rate, useful = zip(shown["static"], shown["continuous"], strict=True)
    assert p50[0] > p50[1]
    assert p95[0] > p95[1]
    assert rate[0] < rate[1]
    assert useful[0] < useful[1]
    assert (round(p50[1], 2), round(p95[1], 2)) == (0.09, 0.32)  # as the text alternative says


def test_the_text_alternative_of_the_slots_has_the_figures_of_the_simulation(open_page, server, page_with):
    page = open_page(f"{server}/{page_with('explorable slots')}")
    page.locator("details", has=page.locator(".slots")).evaluate_all("folds => folds.forEach(fold => fold.open = true)")
    machine, slots, load, way = (page.locator(".slots select").nth(place) for place in range(4))

    def shown(number, percent, batching):
        slots.select_option(number)
        load.select_option(percent)
        way.select_option(label=batching)
        return page.locator(".slots p").first.inner_text()

    assert "at 130 tokens a second" in shown("1", "100", "continuous")
    assert "at 1566 tokens a second" in shown("32", "100", "continuous")
    assert "; 36 % of the slots' steps" in shown("8", "60", "static")
    machine.select_option("1")
    assert "32 sequences of 500 tokens: 8.38 GB" in shown("32", "80", "continuous")
