"""Every source can be translated, and the translations that there are have no slips; coverage is not tested.

But each comment of the code has its translation, and the code is the same without them.
"""

import ast
import json
import re
from io import StringIO
from tokenize import COMMENT, NL, STRING, generate_tokens
from unicodedata import east_asian_width
from xml.etree import ElementTree

import jupytext
import pytest

from book import ROOT
from book.layout import Edition, own_files
from book.outputs import SVG
from book.translations import LANGUAGES, comments
from book.translations.catalogues import COMMENTS, sources
from book.translations.check import check
from book.translations.figures import TEXT
from book.translations.lookup import Translations
from book.translations.record_texts import OURS
from book.translations.record_texts import extract as records
from book.translations.terms import read_terms
from book.translations.translate import write_sources
from book.translations.units import WORD, WORDS_IN_FORMULA, apply, extract, join_lines
from d2l_lab.instruments.words import pattern

LAYOUT = Edition(ROOT)
SOURCES = sources(LAYOUT)
LATIN = re.compile(r"[A-Za-z]{3,}\d*")  # shorter ones are units and symbols
NAMES = {"Gflop", "KiB", "CPU", "GPU", "SSD", "XLA", "float32", "bfloat16", "rank", "Simple"}
NAMES |= {"cpu", "pinned"}  # as MXNet's profiler calls devices
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


def cells(source):
    return [cell["source"] for cell in jupytext.reads(source, fmt="md:myst")["cells"] if cell["cell_type"] == "code"]


def bare(code):
    """Return the tokens of a cell without comments and docstrings, and what Python makes of them."""
    magic = re.match(r"%%.*\n", code)
    first, rest = (magic[0], code[magic.end() :]) if magic else ("", code)
    if re.match(r"%%writefile .*\.(c|h|cc)\n", first):
        return first, re.sub(r"(\"(?:\\.|[^\"\\])*\")|//[^\n]*", r"\1", rest).split()
    tokens = [token for token in generate_tokens(StringIO(rest).readline) if token.type not in (COMMENT, NL)]
    first_of_line = [token.line[: token.start[1]].strip() == "" for token in tokens]
    words = [
        token.string
        for token, alone in zip(tokens, first_of_line, strict=True)
        if not (alone and token.type == STRING and token.string.startswith(('"""', "'''")))
    ]
    tree = ast.parse(rest)
    for node in ast.walk(tree):
        if isinstance(node, comments.DOCUMENTED) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return first, [word for word in words if word.strip()], ast.dump(tree)


def columns(line):
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in line)


@pytest.mark.parametrize("language", LANGUAGES)
def test_code_is_the_same_but_for_its_comments_which_are_all_translated(language):
    translations = Translations(Edition(ROOT, LANGUAGES[language]), LANGUAGES[language])
    translate = translations.of(COMMENTS)
    for name, source in SOURCES.items():
        assert [text for text in comments.extract(source) if not translate(text)] == [], name
        for cell in cells(source):
            translated = comments.apply_to_cell(cell, translate)
            assert bare(translated) == bare(cell), name
            lines = translated.split("\n")
            assert len(lines) <= len(cell.split("\n")), translated
            widest = max(80, *map(columns, cell.split("\n")), 0)
            assert [line for line in lines if columns(line) > widest] == [], name


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
@pytest.mark.parametrize("language", LANGUAGES.values(), ids=list(LANGUAGES))
def test_no_drawing_of_a_translated_page_says_anything_in_english_but_names(language):
    edition = Edition(ROOT, language)
    paths = own_files(edition.derived / "book", "*.ipynb")
    terms = read_terms(edition.catalogues / language.locale / "terms.csv")
    names = NAMES | {name for term in terms for text in term.translations for name in LATIN.findall(text)}
    drawn = {text for path in paths for text in texts_of_drawings(json.loads(path.read_text(encoding="utf-8")))}
    assert len(drawn) > 100, "run `make book`"
    assert [text for text in sorted(drawn) if set(LATIN.findall(text)) - names] == []


def texts_of_drawings(notebook):
    """Return what drawings in the outputs of a notebook say, and their alternative texts as far as we make those."""
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    for output in (output for output in outputs if SVG in output.get("data", {})):
        drawing = output["data"][SVG]
        yield from ("".join(node.itertext()) for node in ElementTree.fromstring(drawing).iter(TEXT))
        yield output["metadata"].get(SVG, {}).get("alt", "")


@pytest.mark.slow
def test_a_translator_finds_all_that_the_records_of_the_built_book_say():
    texts = set[str]()
    for name, fields in {"claims": ("sentence", "note"), "predictions": ("name", "if_missed")}.items():
        for record in json.loads((ROOT / "_build" / "book" / f"{name}.json").read_text(encoding="utf-8")):
            texts |= {record[field] for field in fields if record[field]}
    assert texts, "run `make book`"
    patterns = [pattern(text) for text in [*OURS, *(text for source in SOURCES.values() for text in records(source))]]
    assert [text for text in sorted(texts) if not any(each.fullmatch(text) for each in patterns)] == []
