"""Guess first: a stop covers its row and what its cell shows, nothing else, and nothing moves when it opens."""

import json

import pytest
from conftest import ENGLISH, SECTIONS

FORM = "tr.stop .guess:visible"
SIZES = [{"width": 400, "height": 800}, {"width": 1400, "height": 900}]


@pytest.fixture
def stopped(open_page, server, page_with):
    """Return a function that opens a section with stops, has its reader guess first, and returns page and first row."""

    def open_(place="", framework="", viewport=SIZES[1], folder="", **profile):
        name = page_with("stop")
        framework = framework or SECTIONS[name][0]
        page = open_page(f"{server}/{folder}{name}?tab={framework}{place}", viewport, **profile)
        page.click('.guess-offer .ask button[value="on"]')
        return page, page.locator("tr.stop:visible").first

    return open_


def answer(page, row, text):
    row.locator("input").fill(text)
    page.keyboard.press("Enter")


def kept(page):
    return [each["guess"] for each in json.loads(page.evaluate("localStorage.getItem('d2l-guesses')") or "{}").values()]


def test_a_reader_who_has_not_chosen_to_guess_sees_everything(open_page, server, page_with):
    page = open_page(f"{server}/{page_with('stop')}")
    assert page.evaluate("covered()") == []
    assert page.locator("tr.stop form").count() == 0
    page.click('.guess-offer .ask button[value="off"]')
    page.reload()
    assert page.locator(".guess-offer p:visible").count() == 0  # it is offered once
    assert page.evaluate("covered()") == []


@pytest.mark.parametrize("viewport", SIZES)
def test_a_stop_covers_its_row_and_what_its_cell_shows_and_nothing_else(stopped, viewport):
    page, row = stopped(viewport=viewport)
    key = row.get_attribute("data-guess")
    assert {each for each, _ in page.evaluate("covered()")} == set(
        page.locator("tr.stop:visible").evaluate_all("rows => rows.map((row) => row.dataset.guess)")
    )
    assert row.locator("th").is_visible()
    page.locator(FORM).first.get_by_text("Show me").click()
    assert key not in {each for each, _ in page.evaluate("covered()")}
    assert row.locator("td").nth(1).is_visible()


@pytest.mark.parametrize("viewport", SIZES)
def test_nothing_moves_when_a_stop_opens(stopped, viewport):
    page, row = stopped(viewport=viewport)
    row.scroll_into_view_if_needed()
    before = page.evaluate("layout()")
    row.locator("input").fill("12 ms")
    assert page.evaluate("layout()") == before
    page.keyboard.press("Enter")
    assert row.locator("td").first.is_visible()  # the prediction
    assert not row.locator("td").nth(1).is_visible()  # and not yet the measurement
    assert page.evaluate("layout()") == before
    row.locator("td").nth(1).wait_for()
    assert page.evaluate("layout()") == before


def test_a_reload_keeps_the_choice_and_what_was_guessed_and_nothing_moves_then(stopped):
    page, row = stopped()
    answer(page, row, "12 ms")
    row.locator("td").nth(1).wait_for()
    said, before = row.locator("output").inner_text(), page.evaluate("layout()")
    assert said.startswith("▼ Your guess, 12.0 ms, is off by ")
    page.reload()
    assert row.locator("output").inner_text() == said
    assert page.evaluate("layout()") == before
    assert kept(page) == [pytest.approx(0.012)]
    page.click('.guess-offer .on button[value="off"]')
    assert page.evaluate("covered()") == []
    assert row.locator("form").is_hidden()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12 ms", 0.012),
        ("12ms", 0.012),
        ("0,5 s", 0.5),
        ("1,200 us", 1.2e-3),
        ("35 µs", 3.5e-5),
        ("1.5e-3 s", 1.5e-3),
        ("90 ns", 9e-8),
        ("2 min", 120),
        ("12", None),
        ("0 ms", None),
        ("12 MB", None),
        ("soon", None),
    ],
)
def test_a_time_is_written_with_its_unit(stopped, text, value):
    page, row = stopped()
    row.evaluate("row => { row.dataset.unit = 's'; row.openStop = undefined; row.querySelector('form').remove(); }")
    page.click('.guess-offer .on button[value="off"]')
    page.evaluate("document.querySelector('.guess-offer .ask button[value=\"on\"]').click()")
    answer(page, row, text)
    message = "" if value else "Write a number above 0 and its unit, such as 12 ms."
    assert row.locator("input").evaluate("input => input.validationMessage") == message
    assert kept(page) == ([pytest.approx(value)] if value else [])


@pytest.mark.parametrize(
    ("unit", "text", "value"),
    [
        ("B", "71.3 MB", 71.3e6),
        ("B", "4 MiB", 4 * 2**20),
        ("B", "64kb", 64e3),
        ("B", "12 bytes", 12),
        ("B/s", "70 GB/s", 70e9),
        ("flop", "2 Gflop", 2e9),
        ("flop/s", "2.5 TFLOPS", 2.5e12),
        ("×", "1.5", 1.5),
        ("×", "2 x", 2),
        ("", "4 %", 0.04),
        ("", "35", 35),
    ],
)
def test_other_figures_have_units_of_their_own(stopped, unit, text, value):
    page, row = stopped()
    row.evaluate(
        "(row, unit) => { row.dataset.unit = unit; row.openStop = undefined; row.querySelector('form').remove(); }",
        unit,
    )
    page.click('.guess-offer .on button[value="off"]')
    page.evaluate("document.querySelector('.guess-offer .ask button[value=\"on\"]').click()")
    answer(page, row, text)
    assert kept(page) == [pytest.approx(value)]


def test_keys_move_the_guess_and_escape_shows_the_figures(stopped):
    page, row = stopped()
    line = row.get_by_role("slider")
    line.focus()
    assert line.get_attribute("aria-valuetext") == "no guess yet"
    found = []
    for key in ("Home", "PageUp", "ArrowRight", "ArrowLeft", "PageDown", "End"):
        page.keyboard.press(key)
        found.append((key, float(line.get_attribute("aria-valuenow"))))
    low, high = (float(line.get_attribute(name)) for name in ("aria-valuemin", "aria-valuemax"))
    places = [low, low + 1, low + 1.05, low + 1, low, high]
    assert [at for _, at in found] == pytest.approx(places)
    assert line.get_attribute("aria-valuetext") == row.locator("input").input_value()
    page.keyboard.press("Escape")
    assert row.locator("td").nth(1).is_visible()
    assert row.locator("output").inner_text() == ""
    assert kept(page) == [None]


def test_a_click_on_the_line_is_a_guess_of_that_place(stopped):
    page, row = stopped()
    line = row.get_by_role("slider")
    box = line.bounding_box()
    line.click(position={"x": box["width"] / 2, "y": 5})
    low, high = (float(line.get_attribute(name)) for name in ("aria-valuemin", "aria-valuemax"))
    assert float(line.get_attribute("aria-valuenow")) == pytest.approx((low + high) / 2, abs=0.05)
    row.get_by_role("button", name="Guess").click()
    row.locator("td").nth(1).wait_for()
    assert row.locator(".line > .own, .line > .predicted, .line > .measured").count() == 3


def test_a_link_to_its_cell_opens_a_stop(stopped):
    page, row = stopped()
    cell = row.evaluate("row => row.closest('.cell').id")
    page.evaluate("id => { location.hash = id }", cell)
    assert row.locator("td").nth(1).is_visible()
    assert kept(page) == []
    page.evaluate("location.hash = ''")
    page.reload()
    assert not row.locator("td").nth(1).is_visible()
    page.evaluate("id => { location.hash = id }", cell)
    page.reload()
    assert row.locator("td").nth(1).is_visible()


def test_nothing_is_covered_on_paper_or_without_scripts(stopped, open_page, server, page_with):
    page, _ = stopped()
    page.emulate_media(media="print")
    assert page.evaluate("covered()") == []
    assert page.locator(".guess:visible, .guess-offer p:visible").count() == 0
    plain = open_page(f"{server}/{page_with('stop')}", java_script_enabled=False)
    assert plain.locator(".guess-offer p:visible").count() == 0
    assert plain.locator("tr.stop:visible td").nth(1).is_visible()


def test_the_page_of_models_has_marks_of_the_guesses_and_says_how_good_they_are(open_page, server):
    page = open_page(f"{server}/back/models.html?tab={ENGLISH['back/models.html'][0]}")
    page.evaluate("""() => {
      const found = {};
      const links = [...document.querySelectorAll(".scatter a[data-guess]")].filter((link) => link.checkVisibility());
      links.slice(0, 5).forEach(({ dataset }, place) => {
        found[dataset.guess] = { guess: dataset.measured * [8, 1, 1/4, 2, 1.5][place], at: place };
      });
      found["a/stop/of/another build"] = { guess: 1, at: 9 };
      localStorage.setItem("d2l-guesses", JSON.stringify(found));
    }""")
    page.reload()
    assert page.locator(".scatter path.own:visible").count() == 5
    said = page.locator(".guess-score p:visible").inner_text()
    assert said == (
        "✕ You have guessed 5 times: the median is off by 2.00 ×, in the first half by 4.50 ×, in the second by 2.00 ×."
    )


def test_a_stop_speaks_the_language_of_its_page(stopped, translated):
    _, row = stopped(folder=f"{translated}/")
    assert row.get_by_role("button").all_inner_texts() == ["猜", "直接显示"]
