"""Citations in Chinese sentences: their words and brackets are Chinese, and no space stands behind a bracket."""

import pytest
from docutils import nodes
from docutils.utils import new_document

from book import ROOT
from book.layout import Edition
from book.pages.bibliography import CloseUp, RoundBrackets
from book.translations import CHINESE
from book.words import set_language


@pytest.fixture
def chinese():
    set_language(Edition(ROOT, CHINESE))
    yield
    set_language(Edition(ROOT))


def parts():
    style = RoundBrackets()
    return str(style.person.sep2), str(style.person.other), style.text_reference_sep, style.author_year_sep


def test_english_has_its_words_and_spaces():
    assert parts() == (" and ", " et al.", " ", ", ")


def test_chinese_has_its_own(chinese):
    assert parts() == (" 和 ", " 等", "", "，")


@pytest.mark.parametrize(("cited", "behind"), [("Li 等（2020）", "用了"), ("Li et al. (2020)", " 用了")])
def test_no_space_stands_behind_a_full_width_bracket(cited, behind):
    document = new_document("page")
    document += nodes.paragraph("", "", nodes.inline("", cited), nodes.Text(" 用了"))
    CloseUp(document).run()
    assert document[0][1] == behind
