"""The explorables of the book: right, and for keyboards too; test_axe looks at them."""

import math
import re

import pytest

UNITS = {"TB": 1e12, "GB": 1e9, "MB": 1e6, "kB": 1e3, "s": 1, "ms": 1e-3, "µs": 1e-6, "": 1}


def value(words):
    """Return the number that '160 MB' or '0' stands for."""
    number, _, unit = words.partition(" ")
    return float(number.replace(",", "")) * UNITS[unit]


def table(page, kind):
    """Return the figures of an explorable's table by their names, and the shares of its bars."""
    found = page.evaluate("kind => bars(kind)", kind)
    return {name: value(words) for name, (words, _) in found.items()}, [share for _, share in found.values()]


def fill(page, kind, settings):
    for name, setting in settings.items():
        place = page.locator(f".{kind} [name={name}]")
        if place.evaluate("element => element.matches('select')"):
            place.select_option(setting)
        else:
            place.evaluate("set", setting)


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


@pytest.mark.parametrize(
    ("rows", "width", "alpha", "b", "P"),
    [(0, 6, 10, 50, 200), (0, 12, 10, 50, 200), (10, 12, 10, 50, 200), (12, 13, 0.5, 3e3, 4e5)],
)
def test_the_bounds_of_a_product_are_those_of_the_text(open_page, address, page_with, rows, width, alpha, b, P):
    page = open_page(f"{address}/{page_with('explorable bounds')}")
    fill(page, "bounds", {"rows": rows, "width": width, "alpha": alpha, "b": b, "P": P})
    B, n = 2**rows, 2**width
    terms = [alpha / 1e6, 4 * (n**2 + 2 * B * n) / (b * 1e9), 2 * B * n**2 / (P * 1e9)]
    found, shares = table(page, "bounds")
    assert list(found.values()) == pytest.approx([*terms, max(terms), sum(terms)], rel=0.006)
    assert shares == pytest.approx([term / sum(terms) for term in [*terms, max(terms), sum(terms)]], abs=0.01)
    longest = ["dispatch", "memory", "arithmetic"][terms.index(max(terms))]
    assert page.locator(".bounds p[aria-live]").inner_text().endswith(f"The longest: {longest}.")
    assert page.locator(".bounds .most th").inner_text().startswith(longest)


def test_the_bounds_start_from_the_profile_of_the_framework_that_is_shown_until_the_reader_types(
    open_page, server, page_with
):
    page = open_page(f"{server}/{page_with('explorable bounds')}")
    figures = page.evaluate("JSON.parse(document.querySelector('script[data-figures]').dataset.figures)")
    shown = lambda: float(page.locator(".bounds [name=alpha]").input_value())  # noqa: E731
    choices = page.locator(".framework-switch button")
    for choice in choices.all():
        choice.click()
        assert shown() == pytest.approx(1e6 * figures[choice.get_attribute("value")]["alpha"], rel=0.006)
    page.locator(".bounds [name=alpha]").fill("123")
    choices.first.click()
    assert shown() == 123
    page.locator(".bounds [name=alpha]").fill("0")
    assert page.locator(".bounds [aria-invalid=true]").count() == 1
    assert table(page, "bounds")[0]["dispatch, α"] == pytest.approx(123e-6)


MEMORY = [  # the opening's; a head of 131,072 classes in mixed precision with checkpoints; more than the card can hold
    ({}, (16, 12, 16, 0, 32, 8, 0, 24e9)),
    ({"layers": "64", "classes": "131,072", "bits": "mixed, 16 bits", "every": "every 8 layers", "card": "80 GB"},
     (64, 12, 16, 2**17, 16, 8, 8, 80e9)),
    ({"layers": "64", "width": 14, "state": "SGD", "examples": 0, "card": "8 GB"}, (64, 14, 0, 0, 32, 0, 0, 8e9)),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "values"), MEMORY)
def test_the_memory_of_a_step_is_what_the_sections_formulas_give(open_page, address, page_with, settings, values):
    n, width, examples, classes, bits, state, k, card = values
    page = open_page(f"{address}/{page_with('explorable memory')}")
    fill(page, "memory", settings)
    w, B = 2**width, 2**examples
    N, u = n * w**2 + w * classes, n / k + k if k else n + 1
    fixed, each = [(6 if bits == 16 else 4) * N, 4 * N, state * N], [bits / 8 * w * u, 8 * classes]
    terms = [*fixed, *(B * part for part in each)]
    found, shares = table(page, "memory")
    assert list(found.values()) == pytest.approx([*terms, sum(terms), card], rel=0.006)
    assert max(shares) == pytest.approx(1, abs=0.01)
    most = math.floor((card - sum(fixed)) / sum(each))
    words = page.locator(".memory p[aria-live]").inner_text()
    if most < 0:
        assert "what they need alone is more than" in words
    else:
        assert words.endswith(f"this step {'fits' if most >= B else 'does not fit'}; at most {most:,} examples do.")


@pytest.mark.parametrize(("kind", "label"), [("bounds", "Rows"), ("memory", "Examples")])
def test_a_slider_moves_by_keys_and_says_its_value(open_page, server, page_with, kind, label):
    page = open_page(f"{server}/{page_with(f'explorable {kind}')}")
    slider = page.locator(f".{kind}").get_by_label(label)
    slider.focus()
    for key, words in (("Home", "1"), ("ArrowRight", "2"), ("ArrowUp", "4")):
        page.keyboard.press(key)
        assert slider.get_attribute("aria-valuetext") == words
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.explorable') !== null")


@pytest.mark.parametrize("kind", ["bounds", "memory"])
def test_sliders_and_bars_fit_a_narrow_screen(open_page, server, page_with, kind):
    page = open_page(f"{server}/{page_with(f'explorable {kind}')}", viewport={"width": 400, "height": 800})
    box = page.locator(f".explorable.{kind}")
    assert box.evaluate("box => box.scrollWidth - box.clientWidth") <= 1
    assert page.locator(f".{kind} :is(input, select)").evaluate_all(
        "all => all.every(input => input.getBoundingClientRect().right <= innerWidth)"
    )


@pytest.mark.parametrize(("kind", "words"), [("bounds", "最长的是"), ("memory", "样本")])
def test_explorables_say_the_words_of_their_page(open_page, server, page_with, translated, kind, words):
    page = open_page(f"{server}/{translated}/{page_with(f'explorable {kind}')}")
    assert words in page.locator(f".{kind} p[aria-live]").inner_text()


@pytest.mark.parametrize("kind", ["bounds", "memory", "ring"])
def test_the_paper_has_the_text_and_nothing_to_press(open_page, server, page_with, kind):
    page = open_page(f"{server}/{page_with(f'explorable {kind}')}")
    parts = page.locator(f".{kind} > *")
    shown = "all => all.map(part => [part.className, part.checkVisibility()])"
    assert [name for name, visible in parts.evaluate_all(shown) if not visible] == ["still"]
    page.emulate_media(media="print")
    assert [name for name, visible in parts.evaluate_all(shown) if visible] == ["still"]
    assert page.locator(f".{kind} .still li").count() >= 2


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
    assert (round(p50[1], 2), round(p95[1], 2)) == (0.1, 0.35)  # as the text alternative says


def test_the_text_alternative_of_the_slots_has_the_figures_of_the_simulation(open_page, server, page_with):
    page = open_page(f"{server}/{page_with('explorable slots')}")
    page.locator("details", has=page.locator(".slots")).evaluate_all("folds => folds.forEach(fold => fold.open = true)")
    machine, slots, load, way = (page.locator(".slots select").nth(place) for place in range(4))

    def shown(number, percent, batching):
        slots.select_option(number)
        load.select_option(percent)
        way.select_option(label=batching)
        return page.locator(".slots p").first.inner_text()

    assert "at 135 tokens a second" in shown("1", "100", "continuous")
    assert "at 1623 tokens a second" in shown("32", "100", "continuous")
    assert "; 36 % of the slots' steps" in shown("8", "60", "static")
    machine.select_option("1")
    assert "32 sequences of 500 tokens: 8.38 GB" in shown("32", "80", "continuous")
