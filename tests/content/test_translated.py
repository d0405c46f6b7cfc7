"""Every source can be translated, and the translations that there are have no slips; coverage is not tested."""

import json
import re

import pytest

from book import ROOT
from book.layout import Edition
from book.translations import LANGUAGES
from book.translations.catalogues import sources
from book.translations.check import check
from book.translations.lookup import Translations
from book.translations.record_texts import OURS
from book.translations.record_texts import extract as records
from book.translations.translate import write_sources
from book.translations.units import WORD, WORDS_IN_FORMULA, apply, extract, join_lines
from d2l_lab.instruments.words import pattern

LAYOUT = Edition(ROOT)
SOURCES = sources(LAYOUT)
NO_PROSE = re.compile(
    r"\A---\n.*?\n---\n"  # the header
    r"|^(`{3,}|:{3,})\{(?:code-cell|api|toctree)\}.*?^\1$"
    r"|^`{3}\w+\n.*?^`{3}$"  # code that is shown, not run
    r"|\$\$.*?\$\$"
    r"|^(?:\+\+\+|%).*?$"
    r"|^\([\w-]+\)=$"  # a label
    r"|^:::\{figure\} \S+$|^:(?:name|filter|without|with-[a-z]+): .*?$",
    re.DOTALL | re.MULTILINE,
)


@pytest.mark.parametrize("name", SOURCES)
def test_each_sentence_is_in_a_unit(name):
    assert apply(SOURCES[name], lambda text: text) == SOURCES[name]
    blank = apply(SOURCES[name], lambda text: "\n".join("X" for _ in text.split("\n")))
    lines = NO_PROSE.sub("", blank).split("\n")
    assert [line for line in lines if len(re.findall(r"\b[A-Za-z][a-z]+\b", line)) > 3] == []


def holds_words(kind, text):
    """Tell whether a translated unit is still one, as 环 is not, nor a formula without a long English word."""
    return WORDS_IN_FORMULA.search(text) if kind == "formula" else WORD.search(text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_translated_source_has_the_units_of_the_english_one(language):
    translations = Translations(Edition(ROOT, LANGUAGES[language]), LANGUAGES[language])
    for name, source in SOURCES.items():
        translate = translations.of(name)
        texts = [(unit.kind, join_lines(translate(unit.text) or unit.text)) for unit in extract(source)]
        found = [(unit.kind, join_lines(unit.text)) for unit in extract(apply(source, translate))]
        wanted = [(kind, text) for kind, text in texts if holds_words(kind, text)]
        assert found == wanted, name


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_translation_is_faulty_or_against_the_rules(language):
    assert "\n".join(map(str, check(LAYOUT, LANGUAGES[language]))) == ""


def test_no_title_stands_naked_in_a_chinese_sentence(tmp_path):
    language = LANGUAGES["zh"]
    (tmp_path / "notebooks").symlink_to(ROOT / "notebooks")
    edition = Edition(tmp_path, language)
    write_sources(edition)
    naked = re.compile(r"(?<!“)\{(?:ref|doc)\}`[^`<>]+`(?!：)")
    for path in edition.sources.rglob("*.md"):
        for unit in extract(path.read_text(encoding="utf-8")):
            sentence = re.sub(r"（[^（）]*）", "", unit.text)
            assert unit.kind == "row" or not naked.search(sentence), unit.text
            assert unit.kind == "row" or not re.search(r"(?<!式 )(?<!式)\{eq\}", unit.text), unit.text
            assert "节一节" not in sentence


@pytest.mark.slow
def test_a_translator_finds_all_that_the_records_of_the_built_book_say():
    texts = set[str]()
    for name, fields in {"claims": ("sentence", "note"), "predictions": ("name", "if_missed")}.items():
        for record in json.loads((ROOT / "_build" / "book" / f"{name}.json").read_text(encoding="utf-8")):
            texts |= {record[field] for field in fields if record[field]}
    assert texts, "run `make book`"
    patterns = [pattern(text) for text in [*OURS, *(text for source in SOURCES.values() for text in records(source))]]
    assert [text for text in sorted(texts) if not any(each.fullmatch(text) for each in patterns)] == []
