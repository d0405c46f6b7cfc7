"""Explorables: a text for everybody, and scripts on the pages that have something to play with."""

import pytest
from bs4 import BeautifulSoup
from tiny import NUMBERS
from tiny_book import build, page_of, prose, text_of

from book.pages.explorable import KINDS
from book.plain import PlainError, convert, outline

CAPTION = "A ring of $n$ ranks."
WORDS = "* Every rank sends a chunk.\n* Every rank gets **one**, as {numref}`fig-sum` says."
RING = f":::{{explorable}} ring\n:name: fig-sum\n\n{CAPTION}\n\n{WORDS}\n:::"
HEAD = prose("# Page\n\nAs {numref}`fig-sum` shows.")


def words(element):
    return " ".join(element.get_text().split())


def scripts(folder, *cells, builder="html", page="page.html"):
    """Return the scripts of explorables that a page loads."""
    _, _, output = build(folder, *cells, builder=builder)
    found = BeautifulSoup((output / page).read_text(encoding="utf-8"), "html.parser").select("script[src]")
    return [script["src"].partition("?")[0] for script in found if "explorables" in script["src"]]


def test_a_page_holds_the_text_and_the_numbered_caption_below_it(tmp_path):
    page = page_of(tmp_path, HEAD, prose(RING))
    figure = page.select_one("figure#fig-sum")
    place, caption = figure.find_all(recursive=False)
    assert {"explorable", "ring"} <= set(place["class"])
    assert [words(item) for item in place.select("li")] == [
        "Every rank sends a chunk.",
        "Every rank gets one, as Fig. 1.1 says.",
    ]
    assert caption.select_one(".caption-number").get_text() == "Fig. 1.1 "
    assert caption.select("math")
    assert "As Fig. 1.1 shows." in words(page)


def test_a_page_loads_style_and_scripts_of_its_explorables_and_of_no_others(tmp_path):
    assert scripts(tmp_path, HEAD, prose(RING)) == ["_static/explorables/explorable.js", "_static/explorables/ring.js"]
    html = {name: (tmp_path / "html" / f"{name}.html").read_text(encoding="utf-8") for name in ("page", "index")}
    assert html["page"].count('href="_static/explorables/explorable.css') == 1
    assert "explorables" not in html["index"]


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_a_script(tmp_path, kind):
    loaded = scripts(tmp_path, HEAD, prose(RING.replace("ring", kind)))
    assert [(tmp_path / "html" / path).is_file() for path in loaded] == [True, True]
    assert loaded[-1].endswith(f"{kind}.js")


def test_a_builder_without_scripts_shows_the_text(tmp_path):
    paragraphs = text_of(tmp_path, HEAD, prose(RING))
    start = paragraphs.index("* Every rank sends a chunk.")
    assert paragraphs[start + 2] == "A ring of n ranks."


def test_an_electronic_book_loads_no_script_of_an_explorable(tmp_path):
    assert scripts(tmp_path, HEAD, prose(RING), builder="epub", page="page.xhtml") == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("} ring", "} wheel"), "unknown explorable 'wheel'; known: ring costs"),
        ((":name: fig-sum\n", ""), "explorable ring has no :name:"),
        ((f"\n\n{WORDS}", ""), "explorable ring needs a paragraph as its caption and a text alternative after it"),
        ((f"{CAPTION}\n\n", ""), "explorable ring needs a paragraph as its caption and a text alternative after it"),
    ],
)
def test_what_an_explorable_lacks_is_said_in_plain_words(tmp_path, change, problem):
    status, warnings, _ = build(tmp_path, prose("# Page"), prose(RING.replace(*change)))
    assert status == 1
    assert problem in warnings


def test_a_readers_notebook_has_caption_and_text_and_no_directive():
    expected = "* Every rank sends a chunk.\n* Every rank gets **one**, as Fig. 1.1 says."
    assert convert(RING, NUMBERS).text == f"**Fig. 1.1** A ring of $n$ ranks.\n\n{expected}"


def test_a_readers_notebook_cites_what_the_text_cites():
    assert convert(RING.replace("**one**", "{cite:p}`ada1843`"), NUMBERS).cites == ["ada1843"]


def test_an_explorable_without_a_name_is_refused_in_a_readers_notebook_too():
    with pytest.raises(PlainError, match="^explorable ring has no :name:$"):
        convert(RING.replace(":name: fig-sum\n", ""), NUMBERS)


def test_the_name_of_an_explorable_is_in_the_outline_and_its_words_are_not():
    assert outline(RING) != outline(RING.replace("fig-sum", "fig-other"))
    assert outline(RING) == outline(RING.replace("sends", "gives"))
