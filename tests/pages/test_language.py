"""Pages in another language: the words of the project, lists that are gathered by them, and the ids of the English."""

import json
from copy import copy
from datetime import date
from zipfile import ZipFile

import pytest
from bs4 import BeautifulSoup
from editions import speaking
from test_checklist import compared
from tiny_book import Book, claim, code, notebook, prose

from book import ROOT
from book.layout import Edition
from book.pages.text import HAN_CHARACTER
from book.translations import LANGUAGES
from book.words import say_date

ENGLISH = """---
jupytext: {}
---

# Waiting

## Two `x` of $n$

### Exercises

## Exercises
"""
CHINESE = notebook(
    prose("# 等待\n\n见{ref}`这一节 <sec-two>`。"),
    prose(
        "(sec-two)=\n## 两个 `x`\n\n**在你自己的训练循环里**：先等待，再停表。\n% gain: waiting for each → waiting once"
    ),
    prose(":::{admonition} 估算题：要多久？\n很久吗？\n\n```{dropdown} 答案\n10 s\n```\n:::"),
    code("x = 1", "jax", outputs=[claim("The three forms agree", figure="2.31", above="2")]),
    prose(":::{explorable} ring\n:name: fig-ring\n\n一个环。\n\n每个 rank 发送一个块。\n:::"),
    prose("### 别的\n\n一句话。\n\nThis is not translated yet.\n\n## 练习\n\n1. 先做这个。再做那个。\n"),
)

LISTS = "# 列表\n" + "".join(f"\n```{{{name}}}\n```\n" for name in ("problems", "checklist", "claims", "models"))
PREDICTIONS = [
    compared(name, seconds) | {"section": "page", "title": "等待", "cell": "c3"}
    for name, seconds in (("waiting for each", 8e-3), ("waiting once", 2e-3))
]
COLLECTED = {
    "predictions.json": PREDICTIONS,
    "claims.json": [PREDICTIONS[0] | {"held": True, "sentence": "The three forms agree"}],
    "coverage.json": {name: {"words": 300, "translated_words": n} for name, n in {"page": 245, "lists": 300}.items()},
}


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A small book in Chinese."""
    folder = tmp_path_factory.mktemp("chinese")
    (folder / "english").mkdir()
    for name, text in {"page": ENGLISH, "lists": LISTS.replace("列表", "Lists")}.items():
        (folder / "english" / f"{name}.md").write_text(text, encoding="utf-8")
    files = {name: json.dumps(content) for name, content in COLLECTED.items()}
    return Book(folder, {"page": CHINESE, "lists": LISTS}, files)


def build(book, builder, **settings):
    """Build the book; return the folder of what was written."""
    settings |= {"language": "zh_CN", "english": book.folder / "english"}
    assert book.build(builder, **settings) == (0, "")
    return book.folder / builder


@pytest.fixture(scope="module")
def pages(book):
    paths = build(book, "html").glob("*.html")
    return {path.stem: BeautifulSoup(path.read_text("utf-8"), "lxml") for path in paths}


def test_sections_have_the_ids_of_the_english_page(pages):
    ids = [section["id"] for section in pages["page"].select("article section")]
    assert ids[:3] == ["waiting", "sec-two", "exercises"]  # a label comes first, as in English
    assert ids[3] not in ids[:3]  # of two sections with one title, the first has its id
    assert pages["page"].select_one("#sec-two > #two-x-of-n + h2").text.startswith("1.1. 两个")
    assert pages["page"].select_one("a.internal[href='#sec-two']").text == "这一节"


def test_sections_that_a_list_adds_to_a_page_have_one_id_in_all_languages(pages):
    ids = [section["id"] for section in pages["lists"].select("article section")]
    assert ids == ["lists", "page", "gained", "times", "farthest", "all"]


def test_what_is_not_translated_is_marked_as_english(pages):
    assert pages["page"].html["lang"] == "zh-CN"
    assert [node.text for node in pages["page"].select("article [lang=en]:not(a)")] == ["This is not translated yet."]


def test_a_page_says_how_much_of_it_is_translated_unless_all_is(pages):
    said = {name: [line.text for line in page.select(".coverage")] for name, page in pages.items()}
    assert said == {"page": ["本页已译 81%，其余为英文原文"], "lists": [], "index": [], "search": []}


def test_what_the_theme_says_is_in_the_language_too(pages):
    ours = "article, script, style, .sidebar-tree, .toc-tree, .related-pages .title, a.language"
    for page in map(copy, pages.values()):
        assert "计算性能" in page.title.text
        for element in page.select(ours):
            element.clear()
        words = [*page.body.stripped_strings, *(each["aria-label"] for each in page.select("[aria-label]"))]
        assert [text for text in words if not HAN_CHARACTER.search(text)] == ["Sphinx", "@pradyunsg", "Furo"]


def test_lists_are_gathered_by_the_words_of_the_language(pages):
    words = " ".join(pages["lists"].select_one("article").text.split())
    for found in ("要多久？", "很久吗？", "练习 1", "先做这个。再做那个。", "先等待，再停表。"):
        assert found in words
    assert "10 s" not in words


def test_what_is_made_by_programs_speaks_the_language_of_the_page(pages):
    lists = pages["lists"].article
    assert pages["page"].select_one(".claim").text == "✓ 三种形式的结果一致（2.31；论断：高于 2）"
    gain = "这台机器上测得：逐个等待：8.00 ms → 只等一次：2.00 ms，4.00\xa0×"
    assert lists.select_one(".only-jax .gains").text == gain
    assert lists.select_one("ul.claims a").text == "三种形式的结果一致"
    assert lists.select_one("table.comparisons th a").text == "只等一次"
    assert lists.select_one(".scatter a")["aria-label"].startswith("逐个等待（等待）")
    (words,) = [json.loads(script["data-words"]) for script in pages["page"].select("script[data-words]")]
    assert words["Step"] == "下一步"


def test_a_date_has_the_spaces_that_sentences_have():
    with speaking(Edition(ROOT, LANGUAGES["zh"])):
        assert say_date(date(2026, 11, 26)) == "2026 年 11 月 26 日"


def test_an_e_book_speaks_its_language(book):
    with ZipFile(build(book, "epub", only="jax") / "computational-performance-jax-zh.epub") as packed:
        package = packed.read("content.opf").decode()
        style = packed.read("_static/epub.css").decode()
        assert packed.read("_static/NotoSerifSC-Regular.woff")
    assert "<dc:language>zh-CN</dc:language>" in package
    assert "<dc:title>计算性能（JAX 版）</dc:title>" in package
    assert "url(NotoSansSC-Regular.woff)" in style
