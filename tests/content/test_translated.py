"""Every source can be translated, and the translations that there are have no slips; coverage is not tested."""

import re

import pytest

from book import ROOT
from book.layout import Layout
from book.translations import LANGUAGES
from book.translations.catalogues import sources
from book.translations.check import check
from book.translations.units import apply

LAYOUT = Layout(ROOT)
SOURCES = sources(LAYOUT)
NO_PROSE = re.compile(
    r"\A---\n.*?\n---\n"  # the header
    r"|^(`{3,}|:{3,})\{(?:code-cell|api|toctree)\}.*?^\1$"
    r"|^`{3}\w+\n.*?^`{3}$"  # code that is shown, not run
    r"|\$\$.*?\$\$"
    r"|^(?:\+\+\+|%).*?$"
    r"|^\([\w-]+\)=$"  # a label
    r"|^:::\{figure\} \S+$|^:(?:name|filter): .*?$",
    re.DOTALL | re.MULTILINE,
)


@pytest.mark.parametrize("name", SOURCES)
def test_units_translated_by_themselves_give_the_source_byte_for_byte(name):
    assert apply(SOURCES[name], lambda text: text) == SOURCES[name]


@pytest.mark.parametrize("name", SOURCES)
def test_no_sentence_is_left_out_of_the_units(name):
    blank = apply(SOURCES[name], lambda text: "\n".join("X" for _ in text.split("\n")))
    lines = NO_PROSE.sub("", blank).split("\n")
    assert [line for line in lines if len(re.findall(r"\b[A-Za-z][a-z]+\b", line)) > 3] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_translation_is_faulty_or_against_the_rules(language):
    assert "\n".join(map(str, check(LAYOUT, LANGUAGES[language]))) == ""
