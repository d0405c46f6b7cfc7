"""What stands in the style of the e-book, which the PDF has too, as Chromium shows it."""

from book import ROOT
from book.record_html import comparisons

STYLES = [ROOT / "book" / place for place in ("pages/_epub/epub.css", "paper/paper.css")]
RECORD = {"name": "eight passes", "kind": "model", "unit": "s", "predicted": 1e-3, "measured": 9e-3, "low": 9e-3}


def shown(open_page, body, width=600):
    page = open_page("about:blank", {"width": width, "height": 600})
    page.set_content(f"<style>{''.join(path.read_text(encoding='utf-8') for path in STYLES)}</style>{body}")
    return page


def test_no_line_is_ruled_through_the_explanation_of_a_missed_prediction_or_above_a_box(open_page):
    table = comparisons([RECORD | {"high": 9e-3, "if_missed": "Look at the cache."}])
    page = shown(open_page, table + '<div class="admonition note">A box.</div><div class="endnote">An answer.</div>')
    width = "nodes => nodes.map(node => getComputedStyle(node).borderTopWidth)"
    assert page.locator(".note").evaluate_all(width) == ["0px", "0px"]
    assert page.locator(".endnote").evaluate_all(width) == ["1px"]


def test_no_head_of_a_column_breaks_within_a_word(open_page):
    head = "".join(f"<th>{word}</th>" for word in ("section", "minutes", "sentences"))
    cells = "<td>a-name-that-has-no-blank-in-it-and-is-wider-than-the-page-leaves</td><td>8</td><td>9</td>"
    page = shown(open_page, f"<table><thead><tr>{head}</tr></thead><tbody><tr>{cells}</tr></tbody></table>", 300)
    lines = "heads => heads.map(head => [...head.childNodes].flatMap(text => { const all = document.createRange();"
    lines += " all.selectNodeContents(text); return [...all.getClientRects()]; }).length)"
    assert page.locator("th").evaluate_all(lines) == [1, 1, 1]
