"""The running total: promised beside obtained in a section, the one total on the landing page."""

import json

from tiny_book import code, notebook, outline, prose, shown, words

from book.outputs import RUNNING_TOTAL
from book.pages.records.running_total import taught_in
from book.record_html import lever, total_figures


def row(lever, seconds, promised=None, verdict="gains", loss=2.0):
    about = {"lever": lever, "seconds": seconds, "low": seconds, "high": seconds, "promised": promised}
    learned = {"learns": loss == 2.0, "losses": [loss, 2.0]}
    return about | {"kept": verdict == "gains", "verdict": verdict} | learned


WRITTEN = row("the loop as written", 0.02)
COMPILED = row("compiled step", 0.01, promised=0.012)
LONGEST = {
    "rows": [
        WRITTEN,
        COMPILED,
        row("deferred loss read", 0.0125, verdict="loses"),
        row("background loading", 0.008, loss=2.11),
    ],
    "steps": 20,
    "until": [3.2, None],
    "limit": 12,
}
TRIED = {"rows": [row | {"learns": None, "losses": None} for row in LONGEST["rows"]], "items": 1000, "unit": "tokens"}
TOTALS = [{"section": "summing", "framework": "jax", "cell": "c2"} | LONGEST]
TOTALS.append({"section": "trying", "framework": "jax", "cell": "c1"} | TRIED)
SHOWN = shown({RUNNING_TOTAL: LONGEST, "text/plain": "a table"})
PAGES = {
    "gains": "# Gains\n\n```{running-total}\n```\n",
    "picture": "# Picture\n\n```{running-total}\n:picture:\n```\n",
    "adding": notebook(prose("# Adding")),
    "summing": notebook(prose("# Summing"), code("d2l.running_total()", "jax", outputs=[SHOWN])),
    "trying": notebook(prose("# Trying"), code("levers.show()", "jax", outputs=[shown({RUNNING_TOTAL: TRIED})])),
}
FILES = {"running-totals.json": json.dumps(TOTALS)}


def test_a_running_total_shows_promised_beside_obtained(book, outlines):
    page = book.article("summing")
    assert outline(page) == outlines["summing"]
    assert words(page.select_one("th:has(.left-out)")) == "deferred loss read slower here: left out"
    page = book.article("gains")
    assert outline(page) == outlines["gains"]
    assert [(link["href"], link.get_text()) for link in page.select("table a")] == [
        ("summing.html?tab=jax#c2", "compiled step"),
        ("summing.html?tab=jax#c2", "deferred loss read"),
        ("summing.html?tab=jax#c2", "background loading"),
    ]


def test_the_picture_has_two_bars_for_each_framework_and_says_what_they_show(book):
    drawing = book.article("picture").svg
    assert [float(bar["width"]) for bar in drawing.select("rect")] == [74.7, 280.0]  # 3.2 s and the limit, 12 s
    assert [text.get_text() for text in drawing.select("text")] == ["JAX", "3.20 s", "> 12 s"]
    assert drawing["aria-label"].endswith("with the levers kept: JAX 3.20 s → > 12 s")


def test_what_levers_saved_on_another_loop_is_no_total_of_the_book(book):
    rows = [[words(cell) for cell in row.select("th, td")] for row in book.article("trying").select("tr")]
    assert rows[0] == ["lever", "a step", "promised", "obtained", "gain", "tokens/s"]
    assert rows[2] == ["compiled step", "10.0 ms", "12.0 ms", "10.0 ms", "2.00 ×", "100,000"]
    assert [cell["data-column"] for cell in book.article("trying").select("tr:last-child td")] == rows[0][1:]
    assert not book.article("gains").select("a[href*=trying]")


def test_a_lever_within_the_noise_is_left_out_and_says_so():
    assert "within the noise: left out" in lever(row("bfloat16", 0.01, verdict="within the noise"))


def test_a_lever_leads_to_where_it_was_promised_by_itself():
    for frameworks, address in ((), "summing.html?tab=jax#c2"), (["jax", "pytorch"], "adding.html?tab=jax#c1"):
        promises = [{"name": "compiled step", "section": "adding", "framework": x, "cell": "c1"} for x in frameworks]
        assert taught_in(TOTALS[0], promises)["compiled step"] == address
    assert taught_in(TOTALS[0], promises[1:])["compiled step"] == "adding.html?tab=jax"  # JAX has no such cell


def test_a_lever_may_promise_to_lose():
    (_, _), (_, figures) = total_figures([WRITTEN, row("background loading", 0.022, promised=-0.002)])
    assert figures[1] == "−2.00 ms"
