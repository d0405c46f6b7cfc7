"""Words to translate are found whole, and a translation is put in their place, kept up to date and looked over."""

from pathlib import Path

import pytest

from book.layout import Layout
from book.translations import LANGUAGES
from book.translations.__main__ import main
from book.translations.catalogues import Translator, folder, update
from book.translations.faults import faults
from book.translations.units import extract, translate
from book.translations.wording import Term, slips, wrong_terms

SOURCE = """\
---
jupytext:
  format_name: myst
---

(sec-x)=
# A Title

A paragraph of **two** sentences.
The second one has `code`.

+++ {"tags": ["jax"]}

* an item
  of two lines
> a quotation

| name | what it says |
|---|---|
| `x` | some words |

```{code-cell} ipython3
---
alt: A curve that rises from left
  to right
tags: [jax]
---
plot(x)  # not for a translator
```

```{code-cell} ipython3
:alt: Another curve

plot(y)
```

:::{figure} img/x.svg
:name: fig-x
:alt: Two boxes

The caption of a figure.
:::

::::{admonition} A box with a question
A question in it.

:::{dropdown} Answer
The answer is $x$.
:::
::::

$$ x = 1 \\quad\\text{if it rains} $$ (eq-x)

$$ y = 2 $$

% gain: before → after

```{glossary}
bandwidth
bandwidths
  The bytes of a second.
  They are many.
```
"""
ZH = LANGUAGES["zh"]


def test_the_units_of_a_source_are_its_words_in_their_order():
    found = [(unit.kind, unit.text) for unit in extract(SOURCE)]
    assert found == [
        ("heading", "A Title"),
        ("paragraph", "A paragraph of **two** sentences.\nThe second one has `code`."),
        ("item", "an item\nof two lines"),
        ("paragraph", "a quotation"),
        ("row", "| name | what it says |"),
        ("row", "| `x` | some words |"),
        ("cell alt", "A curve that rises from left to right"),
        ("alt", "Another curve"),
        ("alt", "Two boxes"),
        ("paragraph", "The caption of a figure."),
        ("title", "A box with a question"),
        ("paragraph", "A question in it."),
        ("title", "Answer"),
        ("paragraph", "The answer is $x$."),
        ("formula", "$$ x = 1 \\quad\\text{if it rains} $$ (eq-x)"),
        ("term", "bandwidth\nbandwidths"),
        ("meaning", "The bytes of a second.\nThey are many."),
    ]


def test_each_unit_said_as_it_is_gives_the_source_byte_for_byte():
    assert translate(SOURCE.replace("\n  to right", " to right"), lambda unit: unit.text) == SOURCE.replace(
        "\n  to right", " to right"
    )


def test_what_is_in_no_unit_stays_as_it_is():
    left = translate(SOURCE, lambda unit: "X" if "\n" not in unit.text else "X\nY")
    for kept in (
        "(sec-x)=",
        "# X",
        "> X",
        "* X\n  Y",
        "|---|---|",
        "plot(x)  # not for a translator",
        "\nalt: X\ntags",
    ):
        assert kept in left
    for kept in (
        ":name: fig-x\n:alt: X",
        "::::{admonition} X",
        "$$ y = 2 $$",
        "% gain: before → after",
        "X\nY\n  X\n  Y",
    ):
        assert kept in left
    assert "sentence" not in left


def test_the_lines_of_a_paragraph_become_one_in_a_language_that_sets_no_space_between_sentences():
    words = {"A b.\nC d.": "甲。\n乙 x\ny 丙"}
    assert translate("A b.\nC d.\n", lambda unit: words[unit.text]) == "甲。\n乙 x\ny 丙\n"
    assert translate("A b.\nC d.\n", lambda unit: words[unit.text], spaced=False) == "甲。乙 x y 丙\n"


def test_the_forms_of_a_term_keep_their_lines():
    source = "```{glossary}\nbandwidth\nbandwidths\n  Bytes a second.\n```\n"
    words = {"bandwidth\nbandwidths": "带宽\nbandwidth\nbandwidths", "Bytes a second.": "每秒的字节。"}
    said = "```{glossary}\n带宽\nbandwidth\nbandwidths\n  每秒的字节。\n```\n"
    assert translate(source, lambda unit: words[unit.text], spaced=False) == said


@pytest.mark.parametrize(
    ("english", "said", "found"),
    [
        ("**Wait** for `x`.", "**等待** `x`。", []),
        ("**Wait** for `x`.", "等待 `x`。", ["lacks **"]),
        ("Wait for `x`.", "等待 `y`。", ["lacks `x`", "adds `y`"]),
        ("$n$ ranks", "n 个 rank", ["lacks $n$"]),
        ("{numref}`fig-x` shows", "如{numref}`fig-y`", ["lacks {numref} of fig-x", "adds {numref} of fig-y"]),
        ("the {ref}`part <sec-x>`", "这个{ref}`部分 <sec-x>`", []),
        ("[here](https://a.org)", "这里", ["lacks the link to https://a.org"]),
        ("| a | b |", "| 甲 | 乙", ["lacks |"]),
        ("**First.** Then", "**先。**再", ["lacks **"]),  # CommonMark does not end the emphasis here
        ("$$ a \\text{if so} $$ (eq-a)", "$$ a \\text{如果} $$ (eq-a)", []),
        (
            "$$ a \\text{if so} $$ (eq-a)",
            "$$ b \\text{如果} $$ (eq-a)",
            ["lacks $a \\text{…}$ eq-a", "adds $b \\text{…}$ eq-a"],
        ),
        ("One point", "1. 一点", ["is read as ordered_list list_item paragraph inline in place of paragraph inline"]),
        ("the same words once more", "the same words once more", ["is the English: leave msgstr empty"]),
        ("PyTorch", "PyTorch", []),
        ("A word", "一个词 ", ["begins or ends with a space or an empty line"]),
    ],
)
def test_a_fault_is_what_a_translation_lacks_or_adds(english, said, found):
    assert faults(english, said) == found


@pytest.mark.parametrize(
    "said",
    [
        "用 PyTorch 计算 $n$ 次，再读 `x`。",
        "**先测量**，再估算（见{numref}`fig-x`）{cite:p}`a`。",
        "如 {cite:t}`li2014` 所述：见 [文档](https://a.org, 'x')。",
        "标有“现在”的方框在 print(z, y) 处等待",
        "L1, L2 and L3 (no Chinese here).",
        "一行。\n又一行。",
    ],
)
def test_good_chinese_has_no_slips(said):
    assert slips(said) == []


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("用PyTorch", "no space between"),
        ("共有$n$ 个", "no space between"),
        ("甲 乙", "a space between Chinese characters"),
        ("甲， 乙", "a space beside a full-width sign"),
        ("见 {numref}`fig-x`", "a space before"),
        ("甲,乙", "a half-width sign"),
        ("JAX: 甲", "a half-width sign"),
        ("用 PyTorch.", "a half-width full stop"),
        ("甲 (乙)", "half-width brackets"),
        ('标有 "x" 的', "straight quotation marks"),
    ],
)
def test_a_slip_is_named(said, words):
    assert any(each.startswith(words) for each in slips(said)), slips(said)


TERMS = [Term(("barrier",), ("屏障",), ("障碍",)), Term(("accuracy",), ("准确率",), ("精度",))]


@pytest.mark.parametrize(
    ("english", "said", "found"),
    [
        ("Two barriers", "两个屏障", []),
        ("Two barriers", "两个栅栏", ["'barrier' is 屏障"]),
        ("Two barriers", "两个障碍", ["'barrier' is never 障碍, but 屏障"]),
        ("`barrier` in code", "代码", []),
        ("an inaccuracy", "误差", []),
        ("precision and accuracy", "精度和准确率", ["'accuracy' is never 精度, but 准确率"]),
    ],
)
def test_a_term_is_said_as_the_list_has_it(english, said, found):
    assert list(wrong_terms(english, said, TERMS)) == found


def test_a_word_that_another_term_of_the_sentence_asks_for_is_allowed():
    terms = [*TERMS, Term(("precision",), ("精度",), ())]
    assert list(wrong_terms("precision and accuracy", "精度和准确率", terms)) == []


@pytest.fixture
def layout(tmp_path):
    """A project of two sections."""
    (tmp_path / "notebooks").mkdir()
    for name, text in {"one": "# One\n\nFirst words.\n\n## Summary\n", "two": "# Two\n\n## Summary\n"}.items():
        (tmp_path / "notebooks" / f"{name}.md").write_text(text, encoding="utf-8")
    return Layout(tmp_path)


def catalogue(layout, name):
    return folder(layout, ZH) / f"{name}.po"


def fill(layout, name, **words):
    """Translate words in a catalogue; an underscore stands for a space."""
    text = catalogue(layout, name).read_text(encoding="utf-8")
    for english, said in words.items():
        text = text.replace(
            f'msgid "{english.replace("_", " ")}"\nmsgstr ""', f'msgid "{english.replace("_", " ")}"\nmsgstr "{said}"'
        )
    catalogue(layout, name).write_text(text, encoding="utf-8")


def test_a_catalogue_is_begun_when_it_is_asked_for_with_the_one_of_shared_texts(layout):
    assert update(layout, ZH) == {}
    assert list(update(layout, ZH, ["one"])) == ["book", "one"]
    assert 'msgid "Summary"' in catalogue(layout, "book").read_text(encoding="utf-8")
    assert not catalogue(layout, "two").exists()


def test_an_update_changes_nothing_where_nothing_has_changed(layout):
    update(layout, ZH, ["one"])
    fill(layout, "one", First_words="开头的话。")
    update(layout, ZH)
    before = catalogue(layout, "one").read_bytes()
    update(layout, ZH)
    assert catalogue(layout, "one").read_bytes() == before


def test_a_translation_stays_when_its_text_becomes_shared(layout):
    update(layout, ZH, ["one"])
    fill(layout, "one", One="一")
    (layout.sources / "two.md").write_text("# Two\n\n## One\n", encoding="utf-8")
    update(layout, ZH)
    assert Translator(layout, ZH).words("One", "book") == "一"
    assert "一" not in catalogue(layout, "one").read_text(encoding="utf-8")


def test_a_changed_sentence_falls_back_to_english_and_counts_as_outdated(layout):
    source = layout.sources / "one.md"
    source.write_text("# One\n\nThese are the first words.\n", encoding="utf-8")
    update(layout, ZH, ["one"])
    fill(layout, "one", One="一", **{"These_are_the_first_words.": "这是开头的话。"})
    changed = "# One\n\nThese are the very first words.\n"
    source.write_text(changed, encoding="utf-8")
    found = update(layout, ZH)["one"]
    assert (found.done, found.fuzzy, found.units) == (1, 1, 2)
    translator = Translator(layout, ZH)
    assert translate(changed, translator.of_source("one")) == "# 一\n\nThese are the very first words.\n"
    assert translator.done("one", changed).words == 7


def test_a_faulty_translation_falls_back_to_english(layout):
    source = "# One\n\nWords and `code`.\n"
    (layout.sources / "one.md").write_text(source, encoding="utf-8")
    update(layout, ZH, ["one"])
    fill(layout, "one", **{"Words_and_`code`.": "话。"})
    assert translate(source, Translator(layout, ZH).of_source("one")) == source


def test_a_translator_is_told_each_fault_with_its_place_and_its_english(layout, capsys):
    update(layout, ZH, ["one"])
    fill(layout, "one", **{"First_words.": "开头的words."})
    assert main(["check", "one", "--root", str(layout.root)]) == 1
    told = capsys.readouterr().out
    assert "notebooks/locale/zh_CN/one.po:14: msgid 'First words.'" in told
    assert "no space between" in told
    assert "a half-width full stop" in told
    assert "one: 1 of 2 units translated, 67% of the words, 1 to mend" in told


def test_a_catalogue_that_is_not_there_is_no_traceback(layout, capsys):
    assert main(["check", "two", "--root", str(layout.root)]) == 1
    assert capsys.readouterr().err.startswith(
        "error: there is no catalogue two; `python -m book.translations update two`"
    )


def test_a_file_that_is_no_catalogue_is_named(layout, capsys):
    update(layout, ZH, ["one"])
    catalogue(layout, "one").write_text('msgid "One\nmsgstr "', encoding="utf-8")
    assert main(["update", "--root", str(layout.root)]) == 1
    assert "one.po cannot be read" in capsys.readouterr().err


def test_catalogues_of_the_project_are_no_sources_of_the_book():
    from book.sources import slugs

    assert not [slug for slug in slugs(Layout(Path())) if "locale" in slug]
