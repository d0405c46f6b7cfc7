"""Every source can be translated, and the translations that there are have no faults; coverage is nobody's fault."""

import re

import pytest

from book import ROOT
from book.layout import Layout
from book.translations import LANGUAGES, SOURCE
from book.translations.catalogues import sources
from book.translations.checking import check
from book.translations.units import extract, translate

LAYOUT = Layout(ROOT)
TEXTS = sources(LAYOUT)
NOT_PROSE = re.compile(
    r"^---\n.*?\n---\n|^(`{3,}|:{3,}).*?\{(?:code-cell|api|toctree)\}.*?^\1$|^`{3}\w+\n.*?^`{3}$|^\$\$.*?^\$\$|\$\$.*?\$\$",
    re.S | re.M,
)


@pytest.mark.parametrize("name", TEXTS)
def test_a_source_in_its_own_words_is_the_same_byte_for_byte(name):
    assert translate(TEXTS[name], lambda unit: unit.text) == TEXTS[name]


@pytest.mark.parametrize("name", TEXTS)
def test_no_sentence_is_left_out_of_the_units(name):
    blank = translate(TEXTS[name], lambda unit: "\n".join("X" for _ in unit.text.split("\n")))
    left = [line for line in NOT_PROSE.sub("", blank).split("\n") if not line.startswith(("+++", "%", ":"))]
    assert [line for line in left if len(re.findall(r"\b[a-z]{2,}\b", line)) > 3] == []


def test_a_unit_is_more_than_a_sign():
    assert min(len(extract(text)) for text in TEXTS.values()) >= 2


@pytest.mark.parametrize("word", [word for word in LANGUAGES if word != SOURCE])
def test_translations_have_no_faults(word):
    assert "\n".join(map(str, check(LAYOUT, LANGUAGES[word]))) == ""
