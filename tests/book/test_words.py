"""Fixed words are collected from the code, and said in the language that is being written."""

import ast

import pytest

from book import ROOT, words
from book.layout import Layout
from book.translations import LANGUAGES
from book.translations.catalogues import fixed_texts, folder, messages, read, update
from book.words import say, set_language

ZH = LANGUAGES["zh"]
DRAWING = '<svg xmlns="http://www.w3.org/2000/svg"><text>Answer</text></svg>'


@pytest.fixture
def layout(tmp_path):
    """A project with one source and one module, in Chinese; afterwards the words are English again."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "one.md").write_text("# One\n\n## Answer\n", encoding="utf-8")
    (tmp_path / "notebooks" / "img").mkdir()
    (tmp_path / "notebooks" / "img" / "one.svg").write_text(DRAWING, encoding="utf-8")
    (tmp_path / "book" / "pages").mkdir(parents=True)
    (tmp_path / "book" / "pages" / "some.py").write_text(
        'TITLE = "not said"\nprint(say("Answer"), say("Solution"), say("{n} of " "{all}").format(n=1, all=2))\n',
        encoding="utf-8",
    )
    (tmp_path / "book" / "pages" / "some.html").write_text("<b>{{ say('Search') }}</b>", encoding="utf-8")
    update(Layout(tmp_path), ZH)
    yield Layout(tmp_path, ZH)
    set_language(Layout(tmp_path))


def translate(layout, name, msgid, msgstr):
    path = folder(layout, ZH) / f"{name}.po"
    text = path.read_text(encoding="utf-8")
    assert text.count(f'msgid "{msgid}"\nmsgstr ""') == 1
    text = text.replace(f'msgid "{msgid}"\nmsgstr ""', f'msgid "{msgid}"\nmsgstr "{msgstr}"')
    path.write_text(text, encoding="utf-8")


def test_what_code_says_is_in_a_catalogue_and_shared_with_the_sources(layout):
    ids = {name: [each.id for each in messages(read(folder(layout, ZH) / f"{name}.po"))] for name in ("pages", "book")}
    assert ids == {"pages": ["Solution", "{n} of {all}", "Search"], "book": ["Answer"]}


def test_a_label_has_a_translation_of_its_own(layout):
    translate(layout, "figures", "Answer", "答")
    update(Layout(layout.root), ZH)
    translate(layout, "book", "Answer", "答案")


def test_words_are_said_in_the_language_of_the_layout(layout):
    translate(layout, "pages", "Solution", "解答")
    translate(layout, "book", "Answer", "答案")
    assert say("Solution") == "Solution"
    set_language(layout)
    assert [say("Solution"), say("Answer"), say("{n} of {all}")] == ["解答", "答案", "{n} of {all}"]
    set_language(Layout(layout.root))
    assert say("Solution") == "Solution"


def test_a_translation_that_lost_a_field_is_not_said(layout):
    translate(layout, "pages", "{n} of {all}", "{all} 项")
    set_language(layout)
    assert say("{n} of {all}") == "{n} of {all}"


def test_english_needs_no_catalogue(tmp_path):
    set_language(Layout(tmp_path))
    assert words.say("Answer") == "Answer"


def test_no_call_hides_in_an_f_string_where_it_is_not_collected():
    calls = [
        node
        for path in (ROOT / "book").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "say"
    ]
    texts = {call.args[0].value for call in calls if isinstance(call.args[0], ast.Constant)}
    assert texts - {text for text, _ in fixed_texts(ROOT / "book")} == set()
