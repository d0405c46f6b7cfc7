"""The book on paper: pages joined into one document, and its numbers of pages."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from editions import speaking

from book import ROOT
from book.layout import Edition
from book.paper.__main__ import main
from book.paper.joining import UNKNOWN, About, find, joined, numbered, words
from book.translations import CHINESE

ABOUT = About("A Book", "An author", "1 May 2026", "Measured on an abacus")
FIRST = """<section id="one"><h1>1. One</h1><section id="part"><h2>1.1. Part</h2>
<p><a href="back/two.xhtml#two">there</a> <a href="https://example.org">out</a> <img src="_images/x.svg"/></p>
<details class="how"><pre>check()</pre></details><details><summary>Old</summary></details>
<p class="to-note" id="to-answer-1"><a href="#answer-1">Answer</a></p></section>
<section id="answers" class="answers"><h2>Answers and Solutions</h2>
<div class="endnote" id="answer-1"><p class="note-title"><a href="#to-answer-1">Problem</a></p></div></section>
</section>"""
SECOND = '<section id="two"><h1>Two "quoted"</h1><p><a href="../one.xhtml">back</a></p></section>'


def page(content):
    body = f'<body><div class="body">{content}</div></body>'
    return ET.fromstring(f'<html xmlns="http://www.w3.org/1999/xhtml">{body}</html>')


@pytest.fixture
def document():
    return joined({"one.xhtml": page(FIRST), "back/two.xhtml": page(SECOND)}, ABOUT, "pages", [])


def test_the_document_is_whole_on_paper(document):
    lines = [words(line).removesuffix(f" {UNKNOWN}") for line in next(find(document, "div", "contents"))]
    assert lines == ["Contents", "1. One", "1.1. Part", 'Two "quoted"', "Appendix: Answers and Solutions", "1. One"]
    assert [fold.get("open") for fold in find(document, "details")] == ["open"]
    assert "check()" not in words(document)
    *chapters, appendix = find(document, "div", "chapter")
    assert "Problem" not in words(chapters[0])
    assert words(appendix) == f"Appendix: Answers and Solutions 1. One Problem, page {UNKNOWN}"
    assert words(next(find(document, "p", "to-note"))) == f"Answer, page {UNKNOWN}"
    places = {node.get("id") for node in document.iter()}
    addresses = [link.get("href") for link in find(document, "a")]
    assert {address[1:] for address in addresses if address.startswith("#")} <= places
    assert [address for address in addresses if not address.startswith("#")] == ["https://example.org"]
    assert [picture.get("src") for picture in find(document, "img")] == ["pages/_images/x.svg"]


def test_a_number_that_is_filled_in_again_has_not_changed(document):
    places = {span.get("title")[1:]: 7 for span in find(document, "span", "number")}
    assert [numbered(document, places), numbered(document, places)] == [True, False]


def test_a_translated_book_says_what_paper_adds_in_its_language():
    with speaking(Edition(ROOT, CHINESE)):
        document = joined({"one.xhtml": page(FIRST)}, replace(ABOUT, language="zh-CN"), "pages", [])
    assert document.get("lang") == "zh-CN"
    assert words(next(find(document, "p", "to-note"))) == f"Answer，第 {UNKNOWN} 页"
    assert [words(heading) for heading in find(document, "h1")] == ["目录", "1. One", "附录：答案与解答"]


def test_a_folder_without_an_e_book_is_an_error_with_its_cure(tmp_path, capsys):
    assert main([str(tmp_path), str(tmp_path / "book.pdf")]) == 1
    assert capsys.readouterr().err == f"error: {tmp_path} holds no e-book: make epub writes it\n"
