"""The glossary: where a page links a word to it, and where it does not."""

import pytest
from bs4 import BeautifulSoup
from tiny_book import build, code, page_of, prose

from book import ROOT

INDEX = "# Tiny\n\n```{toctree}\npage\nwords\n```\n"
WORDS = """\
# Words

```{glossary}
kernel
kernels
  What a device runs.

cache line
cache lines
  A piece of a cache, 64 bytes, that a kernel reads.

SIMD
  One instruction, many numbers.

page (of memory)
page of memory
  A piece of memory.
```
"""


@pytest.fixture(scope="module")
def article(tmp_path_factory):
    cells = [
        prose("# Kernels\n\n## Of kernels\n\n`kernel` $kernel$ kernelled kernel-like [kernel](https://a.org)"),
        prose("| kernel |\n|---|\n| kernel |"),
        code("kernel", outputs=["kernel\n"]),
        prose("Two *cache lines* for a page. Kernels run. A cache line; a kernel."),
        prose("A simd; the SIMD.", "jax"),
        prose("The SIMD, too.", "pytorch"),
        prose("SIMD again."),
    ]
    folder = tmp_path_factory.mktemp("book")
    page_of(folder, *cells, index=INDEX, files={"words.md": WORDS})
    return BeautifulSoup((folder / "html" / "page.html").read_text(encoding="utf-8"), "html.parser").article


def test_a_word_is_linked_where_it_first_stands_in_a_sentence(article):
    shown = [" ".join(link.get_text().split()) for link in article.select("a.word")]
    assert [word for word in shown if word != "SIMD"] == ["cache lines", "Kernels"]
    assert "Kernels run." in article.select("a.word")[1].parent.get_text()


def test_each_framework_has_its_own_first_place(article):
    links = [link for link in article.select("a.word") if link.get_text() == "SIMD"]
    assert [link.find_parent("p").get_text() for link in links] == ["The SIMD, too.", "A simd; the SIMD."]


def test_a_link_leads_to_the_entry_and_tells_its_meaning(article):
    link = article.select_one("a.word")
    assert link["href"] == "words.html#term-cache-line"
    assert link["title"] == "A piece of a cache, 64 bytes, that a kernel reads."


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    return page_of(
        tmp_path_factory.mktemp("book"), index=INDEX.replace("page\n", ""), files={"words.md": WORDS}, page="words"
    )


def test_the_glossary_shows_the_first_form_of_an_entry(words):
    assert [term.get_text().removesuffix("#") for term in words.select("dt")] == [
        "kernel",
        "cache line",
        "SIMD",
        "page (of memory)",
    ]


def test_a_meaning_links_to_other_entries(words):
    assert [
        (link.get_text(), link.find_parent("dd").find_previous_sibling("dt")["id"]) for link in words.select("a.word")
    ] == [("kernel", "term-cache-line")]


def test_a_changed_meaning_reaches_the_pages_that_hold_the_word_and_no_others(tmp_path):
    files = {"words.md": WORDS, "other.md": "# Other\n\nA cache line.\n"}
    index = INDEX.replace("words", "words\nother")
    build(tmp_path, prose("# Page\n\nA kernel."), builder="html", files=files, index=index)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "html").glob("*.html")}
    (tmp_path / "book" / "words.md").write_text(WORDS.replace("What a device runs", "A function"), encoding="utf-8")
    status, warnings, html = build(tmp_path, builder="html", index=index)
    assert (status, warnings) == (0, "")
    assert 'title="A function."' in (html / "page.html").read_text(encoding="utf-8")
    assert (html / "other.html").stat().st_mtime_ns == before[html / "other.html"]


def test_a_book_without_a_glossary_has_no_such_links(tmp_path):
    assert page_of(tmp_path, prose("# Page\n\nA kernel.")).select("a.word") == []


def test_no_entry_of_the_book_is_longer_than_two_sentences():
    text = (ROOT / "notebooks" / "back" / "glossary.md").read_text(encoding="utf-8").partition(":sorted:\n")[2]
    entries = [entry for entry in text.removesuffix("```\n").split("\n\n") if entry.strip()]
    assert len(entries) > 90
    for entry in entries:
        meaning = " ".join(line for line in entry.split("\n") if line.startswith("  "))
        assert 0 < sum(meaning.count(end) for end in (". ", "? ")) + 1 <= 2 + meaning.count("Of a "), entry
