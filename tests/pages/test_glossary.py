"""The glossary: where a page links a word to it, and where it does not."""

import pytest
from tiny_book import Book, code, notebook, prose, words

from book.pages.glossary import letter, pattern

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
PAGES = {
    "glossed": notebook(
        prose("# Kernels\n\n## Of kernels\n\n`kernel` $kernel$ kernelled kernel-like [kernel](https://a.org)"),
        prose("| kernel |\n|---|\n| kernel |"),
        code("kernel", outputs=["kernel\n"]),
        prose("Two *cache lines* for a page. Kernels run. A cache line; a kernel."),
        prose("A simd; the SIMD.", "jax"),
        prose("The SIMD, too.", "pytorch"),
        prose("SIMD again."),
    ),
    "words": WORDS,
}


def test_a_word_is_linked_where_it_first_stands(book):
    links = book.article("glossed").select("a.word")
    assert [words(link) for link in links if words(link) != "SIMD"] == ["cache lines", "Kernels"]
    assert "Kernels run." in links[1].parent.get_text()
    assert links[0]["href"] == "words.html#term-cache-line"
    assert links[0]["title"] == "A piece of a cache, 64 bytes, that a kernel reads."
    places = [link.find_parent("p").get_text() for link in links if words(link) == "SIMD"]
    assert places == ["The SIMD, too.", "A simd; the SIMD."]
    page = book.article("words")
    terms = [term.get_text().removesuffix("#") for term in page.select("dt")]
    assert terms == ["kernel", "cache line", "SIMD", "page (of memory)"]
    (link,) = page.select("a.word")
    assert (words(link), link.find_parent("dd").find_previous_sibling("dt")["id"]) == ("kernel", "term-cache-line")


def test_chinese_words_are_found_within_a_text_the_longest_first():
    finder = pattern(["流水线", "流", "缓存", "缓存行", "rank", "GPU 内存"])
    text = "放入流水线的缓存行，数据流，rank 与 ranked，GPU 内存不够"
    assert finder.findall(text) == ["流水线", "缓存行", "rank", "GPU 内存"]


def test_a_changed_meaning_reaches_only_the_pages_that_hold_the_word(tmp_path):
    pages = {"page": "# Page\n\nA kernel.\n", "other": "# Other\n\nA cache line.\n"}
    book = Book(tmp_path, pages)
    assert book.article("page").select("a.word") == []  # there is no glossary yet
    book = Book(tmp_path, pages | {"words": WORDS})
    before = (book.output() / "other.html").stat().st_mtime_ns
    book.write("words", WORDS.replace("What a device runs", "A function"))
    assert book.build() == (0, "")
    assert book.article("page").select_one("a.word")["title"] == "A function."
    assert (book.output() / "other.html").stat().st_mtime_ns == before


def test_the_letters_above_the_entries_lead_to_the_first_entry_with_each(book):
    (line,) = book.article("words").select("p.letters:not(.rubric)")
    assert [(words(link), link["href"]) for link in line.select("a")] == [
        ("K", "#term-kernel"),
        ("C", "#term-cache-line"),
        ("S", "#term-SIMD"),
        ("P", "#term-page-of-memory"),
    ]


@pytest.mark.parametrize(
    ("term", "expected"), [("all-reduce", "A"), ("SIMD", "S"), ("缓存行", "H"), ("重叠", "C"), ("GPU 内存", "G")]
)
def test_a_chinese_term_stands_under_the_letter_of_its_pinyin(term, expected):
    assert letter(term) == expected


CHINESE_WORDS = """\
# 术语表

```{glossary}
SIMD
  一条指令，许多数。

同步（调用）
同步调用
synchronous
  返回时工作已经完成。

全归约
all-reduce
all-reduces
  每个 rank 都得到总和。

屏障
barrier
  等待一切。
```
"""


def test_a_chinese_term_has_its_english_name_and_its_place_by_pinyin(tmp_path):
    page = "# 页\n\n优化屏障不是屏障。all-reduces，同步调用。\n"
    book = Book(tmp_path, {"page": page, "words": CHINESE_WORDS})
    book.warnings["html"] = book.build(unlinked="优化屏障")
    article = book.article("words")
    terms = [term.get_text().removesuffix("#") for term in article.select("dt")]
    assert terms == ["屏障（barrier）", "全归约（all-reduce）", "SIMD", "同步（synchronous；调用）"]
    assert [words(mark) for mark in article.select("p.rubric.letters")] == ["P", "Q", "S", "T"]
    links = {words(link): link["title"] for link in book.article("page").select("a.word")}
    assert links == {
        "屏障": "barrier：等待一切。",
        "all-reduces": "all-reduce：每个 rank 都得到总和。",
        "同步调用": "synchronous：返回时工作已经完成。",
    }
    assert "优化屏障不是" in book.article("page").get_text()
    assert book.article("page").select_one("a.word").previous_sibling.endswith("不是")
