"""Beside the notebooks of a translation, claims, predictions and notes speak its language."""

import json
import unicodedata

import pytest

from book import ROOT
from book.layout import Edition
from book.translations import CHINESE
from book.translations.kernel_words import words_of
from d2l_lab.exercises.checks import check
from d2l_lab.instruments import words
from d2l_lab.instruments.bill import _in_a_table
from d2l_lab.instruments.claims import claim
from d2l_lab.instruments.display import row_in_place
from d2l_lab.instruments.predictions import Comparison, predict
from d2l_lab.instruments.timing import Measurement, report

OWN = {"a step, {way}": "一步，{way}", "eager": "即时执行", "It is fast": "它很快", "Look.": "看看。"}


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """A function that puts the file beside the notebooks, or another text in its place."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("D2L_TEST", raising=False)
    words._translations.cache_clear()
    yield (tmp_path / words.WORDS).write_text
    words._translations.cache_clear()


def chinese():
    """What the book's own translation puts there, with other texts of cells."""
    return json.dumps(json.loads(words_of(Edition(ROOT, CHINESE))) | {"records": OWN})


def test_claims_predictions_and_notes_are_in_the_language(beside, capsys):
    beside(chinese())
    predict("a step, eager", 0.0121)
    claim("It is fast", 5, below=2, timed=True, if_missed="Look.")
    assert capsys.readouterr().out == "一步，即时执行：预测 12.1 ms\n✗ 它很快（5；论断：低于 2，不成立）\n  看看。\n"
    line, note = str(Comparison("a step, eager", "saving", "s", 1.0, 3.0, 2.9, 3.1, "Look.")).split("\n")
    assert line.startswith("一步，即时执行 ")
    assert "承诺节省" in line
    assert note.startswith("  偏差 3.00 倍")
    assert note.endswith("。看看。")


def test_the_check_of_an_exercise_and_a_table_are_in_the_language(beside, capsys):
    hint = "with so few the bubble is a tenth or more: it has to be below"
    beside(json.dumps(json.loads(chinese()) | {"records": {hint: "太少", "issued": "发出", "all": "全部"}}))
    check("enough", lambda k: None)
    check("enough", lambda k: 1)
    report({"issued": Measurement((0.001, 0.001), 2), "all": Measurement((0.002,), 1)})
    none, missed, *lines = capsys.readouterr().out.split("\n")
    assert none == "– enough 还没有返回值：请在上面的单元格里编写"
    assert missed.startswith("✗ enough(")
    assert missed.endswith("返回了 1")
    assert lines[0] == "  提示：太少"
    assert lines[1] == "发出  1.00 ms (1.00 … 1.00; 2 轮，每轮 2 次)  1.00 ×"
    assert lines[2] == "全部  2.00 ms (2.00 … 2.00; 1 轮，每轮 1 次)  2.00 ×"


def test_a_long_sentence_without_spaces_breaks_where_the_line_ends(beside):
    beside(json.dumps({"fixed": {}, "records": {"It is fast": "它很快" * 30}}))
    lines = str(Comparison("x", "model", "s", 1.0, 3.0, 2.9, 3.1, "It is fast")).split("\n")[1:]
    assert len(lines) > 2
    assert all(sum(1 + (unicodedata.east_asian_width(c) == "W") for c in line) <= 80 for line in lines)


@pytest.mark.parametrize("content", [None, "", "[]", '{"fixed": 1}', "{"])
def test_without_the_file_or_with_a_damaged_one_they_are_in_english(beside, content, capsys):
    if content is not None:
        beside(content)
    predict("a step, eager", 0.0121)
    assert capsys.readouterr().out == "a step, eager: predicted 12.1 ms\n"


def test_the_words_of_a_table_stand_where_the_english_ones_do(beside):
    line = "(17 more)                    60    0.06 calls?    0.18"
    assert row_in_place(line, _in_a_table()) == line, "without a translation"
    beside(chinese())
    words._translations.cache_clear()
    assert row_in_place(line, _in_a_table()) == "（另有 17 项）               60    0.06 调用?     0.18"
    assert row_in_place("operation    calls   took", _in_a_table()) == "操作          调用   用时"
