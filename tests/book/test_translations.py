"""Units are extracted and translations applied; catalogues are kept up to date, and their slips named."""

from pathlib import Path

import pytest

from book.layout import Layout
from book.sources import slugs
from book.translations import LANGUAGES
from book.translations.__main__ import main
from book.translations.catalogues import folder, messages, read, update
from book.translations.check import check
from book.translations.faults import faults
from book.translations.lookup import Translations
from book.translations.punctuation import slips
from book.translations.terms import Term, read_terms, wrong_terms
from book.translations.units import apply, extract

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


def test_the_units_of_a_source_are_its_text_in_order():
    assert [(unit.kind, unit.text) for unit in extract(SOURCE)] == [
        ("heading", "A Title"),
        ("paragraph", "A paragraph of **two** sentences.\nThe second one has `code`."),
        ("item", "an item\nof two lines"),
        ("paragraph", "a quotation"),
        ("row", "| name | what it says |"),
        ("row", "| `x` | some words |"),
        ("cell alt", "A curve that rises from left to right"),
        ("alt", "Another curve"),
        ("alt", "Two boxes"),
        ("caption", "The caption of a figure."),
        ("title", "A box with a question"),
        ("paragraph", "A question in it."),
        ("title", "Answer"),
        ("paragraph", "The answer is $x$."),
        ("formula", "$$ x = 1 \\quad\\text{if it rains} $$ (eq-x)"),
        ("term", "bandwidth\nbandwidths"),
        ("meaning", "The bytes of a second.\nThey are many."),
    ]


def test_units_translated_by_themselves_give_the_source_byte_for_byte():
    source = SOURCE.replace("\n  to right", " to right")  # as Jupytext writes so short an option
    assert apply(source, lambda text: text) == source


def test_all_that_is_in_no_unit_is_kept():
    expected = """\
---
jupytext:
  format_name: myst
---

(sec-x)=
# X

X
X

+++ {"tags": ["jax"]}

* X
  X
> X

X
|---|---|
X

```{code-cell} ipython3
---
alt: X
tags: [jax]
---
plot(x)  # not for a translator
```

```{code-cell} ipython3
:alt: X

plot(y)
```

:::{figure} img/x.svg
:name: fig-x
:alt: X

X
:::

::::{admonition} X
X

:::{dropdown} X
X
:::
::::

X

$$ y = 2 $$

% gain: before → after

```{glossary}
X
X
  X
  X
```
"""
    assert apply(SOURCE, lambda text: "\n".join("X" for _ in text.split("\n"))) == expected


@pytest.mark.parametrize(
    ("translation", "applied"),
    [
        ("甲。\n乙", "甲。乙"),
        ("甲\n（乙）", "甲（乙）"),
        ("甲“乙”\n丙", "甲“乙”丙"),
        ("甲\n{numref}`fig-x`", "甲{numref}`fig-x`"),
        ("甲 x\ny 乙", "甲 x\ny 乙"),
        ("用\n`x`", "用\n`x`"),
        ("Words “quoted”\nand others", "Words “quoted”\nand others"),
    ],
)
def test_a_line_break_goes_where_chinese_has_no_space(translation, applied):
    assert apply("Some words.\nOthers.\n", lambda text: translation) == applied + "\n"


def test_the_forms_of_a_term_keep_their_lines():
    source = "```{glossary}\nstream\nstreams\n  A queue.\n```\n"
    translations = {"stream\nstreams": "流\n数据流\nstream", "A queue.": "一个队列。"}
    expected = "```{glossary}\n流\n数据流\nstream\n  一个队列。\n```\n"
    assert apply(source, translations.get) == expected


@pytest.mark.parametrize(
    ("english", "translation", "expected"),
    [
        ("**Wait** for `x`.", "**等待** `x`。", []),
        ("**Wait** for `x`.", "等待 `x`。", ["lacks **"]),
        ("Wait for `x`.", "等待 `y`。", ["lacks `x`", "adds `y`"]),
        ("$n$ ranks", "n 个 rank", ["lacks $n$"]),
        (
            "{numref}`fig-x` shows",
            "如{numref}`fig-y`",
            ["lacks {numref} with the target fig-x", "adds {numref} with the target fig-y"],
        ),
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
        (
            "One point",
            "1. 一点",
            ["is parsed as ordered_list list_item paragraph inline, the English as paragraph inline"],
        ),
        ("the same words once more", "the same words once more", ["is the English text: leave msgstr empty"]),
        ("PyTorch", "PyTorch", []),
        (r"$$\text{one word more}$$", r"$$\text{one word more}$$", []),
        ("{n} of {all} claims", "{all} 项论断", ["lacks {n}"]),
        ("A word", "一个词 ", ["begins or ends with a space or a line break"]),
    ],
)
def test_a_fault_is_markup_that_a_translation_lacks_or_adds(english, translation, expected):
    assert list(faults(english, translation)) == expected


@pytest.mark.parametrize(
    "translation",
    [
        "用 PyTorch 计算 $n$ 次，再读 `x`。",
        "**先测量**，再估算（见{numref}`fig-x`）{cite:p}`a`。",
        "如 {cite:t}`li2014` 所述：见[文档](https://a.org)。",
        "标有“现在”的方框在 print(z, y) 处等待",
        "L1, L2 and L3 (no Chinese here).",
        "一行。\n又一行。",
        "如 Li et al. 的结果",
    ],
)
def test_good_chinese_has_no_slips(translation):
    assert slips(translation) == []


@pytest.mark.parametrize(
    ("translation", "rule"),
    [
        ("用PyTorch", "no space between"),
        ("共有$n$ 个", "no space between"),
        ("甲 乙", "a space between Chinese characters"),
        ("甲， 乙", "a space beside full-width punctuation"),
        ("见 {numref}`fig-x`", "a space before"),
        ("甲,乙", "half-width punctuation"),
        ("JAX: 甲", "half-width punctuation"),
        ("甲 JAX.\n乙", "a half-width full stop"),
        ("甲\nJAX，\n乙  丙", "two spaces"),
        ("甲“乙”\n`x`", "a space beside full-width punctuation"),
        ("共 １２ 个", "full-width letters"),
        ("甲  JAX", "two spaces"),
        ("用 PyTorch.", "a half-width full stop"),
        ("甲 (乙)", "half-width brackets"),
        ('标有 "x" 的', "straight quotation marks"),
    ],
)
def test_a_slip_is_named(translation, rule):
    assert [each for each in slips(translation) if each.startswith(rule)], slips(translation)


TERMS = [Term(("barrier",), ("屏障",), ("障碍",)), Term(("accuracy",), ("准确率",), ("精度",))]


@pytest.mark.parametrize(
    ("english", "translation", "expected"),
    [
        ("Two barriers", "两个屏障", []),
        ("Two barriers", "两个栅栏", ["'barrier' is 屏障"]),
        ("Two barriers", "两个障碍", ["'barrier' is never 障碍: write 屏障"]),
        ("`barrier` in code", "代码", []),
        ("an inaccuracy", "误差", []),
        ("precision and accuracy", "精度和准确率", ["'accuracy' is never 精度: write 准确率"]),
    ],
)
def test_a_term_is_translated_as_the_table_says(english, translation, expected):
    assert list(wrong_terms(english, translation, TERMS)) == expected


def test_a_word_that_another_term_of_the_text_asks_for_is_right():
    terms = [*TERMS, Term(("precision",), ("精度",))]
    assert list(wrong_terms("precision and accuracy", "精度和准确率", terms)) == []


def test_the_table_of_terms_has_alternatives(tmp_path):
    path = tmp_path / "terms.csv"
    path.write_text("english,translations,never\nlatency | latencie,延迟,\nepoch,轮,周期 | 时期\n", encoding="utf-8")
    assert read_terms(path) == [Term(("latency", "latencie"), ("延迟",)), Term(("epoch",), ("轮",), ("周期", "时期"))]


ONE = """\
# One

First words.

+++ {"tags": ["solution", "jax"]}

Words and `code`.

## Summary
"""


@pytest.fixture
def layout(tmp_path):
    """A project of two sections, with their catalogues."""
    (tmp_path / "notebooks").mkdir()
    for name, text in {"one": ONE, "two": "# Two\n\n## Summary\n"}.items():
        (tmp_path / "notebooks" / f"{name}.md").write_text(text, encoding="utf-8")
    result = Layout(tmp_path)
    update(result, ZH)
    return result


def catalogue(layout, name):
    return folder(layout, ZH) / f"{name}.po"


def fill(layout, name, msgid, msgstr, comment=""):
    """Translate a message as a translator does, in the file."""
    text = catalogue(layout, name).read_text(encoding="utf-8")
    assert text.count(f'msgid "{msgid}"\nmsgstr ""') == 1
    text = text.replace(f'msgid "{msgid}"\nmsgstr ""', f'{comment}msgid "{msgid}"\nmsgstr "{msgstr}"')
    catalogue(layout, name).write_text(text, encoding="utf-8")


def test_each_source_has_a_catalogue_and_shared_texts_have_their_own(layout):
    found = {name: [each.id for each in messages(read(catalogue(layout, name)))] for name in ("book", "one", "two")}
    assert found == {"book": ["Summary"], "one": ["One", "First words.", "Words and `code`."], "two": ["Two"]}


def test_a_comment_gives_the_kind_of_a_unit_and_the_tags_of_its_cell(layout):
    assert "#. paragraph, solution, jax\nmsgid" in catalogue(layout, "one").read_text(encoding="utf-8")


def test_an_update_without_changes_leaves_the_files_as_they_are(layout):
    fill(layout, "one", "First words.", "开头的话。", comment="# free: word\n")
    update(layout, ZH)
    before = catalogue(layout, "one").read_bytes()
    update(layout, ZH)
    assert catalogue(layout, "one").read_bytes() == before


def test_a_translation_follows_its_text_into_the_shared_catalogue(layout):
    fill(layout, "one", "One", "一", comment="# free: one\n")
    (layout.sources / "two.md").write_text("# Two\n\n## One\n", encoding="utf-8")
    update(layout, ZH)
    assert '# free: one\n#. heading\nmsgid "One"\nmsgstr "一"' in catalogue(layout, "book").read_text(encoding="utf-8")
    assert "一" not in catalogue(layout, "one").read_text(encoding="utf-8")


def test_the_catalogue_of_a_source_that_is_gone_is_deleted(layout):
    (layout.sources / "two.md").unlink()
    update(layout, ZH)
    assert not catalogue(layout, "two").exists()


def test_what_is_translated_is_applied_and_all_else_stays_english(layout):
    fill(layout, "one", "One", "一")
    fill(layout, "book", "Summary", "小结")
    fill(layout, "one", "Words and `code`.", "没有代码。")  # faulty
    expected = ONE.replace("One", "一").replace("Summary", "小结")
    translations = Translations(layout, ZH)
    assert apply(ONE, translations.of("one")) == expected
    assert (
        str(translations.coverage("one", [unit.text for unit in extract(ONE)]))
        == "2 of 4 units translated (29% of the words)"
    )


def test_a_changed_text_stays_english_until_its_fuzzy_translation_is_revised(layout):
    source = layout.sources / "one.md"
    source.write_text("# One\n\nThese are the first words.\n", encoding="utf-8")
    update(layout, ZH)
    fill(layout, "one", "These are the first words.", "这是开头的话。")
    changed = "# One\n\nThese are the very first words.\n"
    source.write_text(changed, encoding="utf-8")
    update(layout, ZH)
    assert '#, fuzzy\nmsgid "These are the very first words."\nmsgstr "这' in catalogue(layout, "one").read_text(
        "utf-8"
    )
    translations = Translations(layout, ZH)
    assert apply(changed, translations.of("one")) == changed
    assert (
        str(translations.coverage("one", [unit.text for unit in extract(changed)]))
        == "0 of 2 units translated (0% of the words), 1 fuzzy"
    )


def test_a_build_does_not_need_updated_catalogues(layout):
    fill(layout, "one", "One", "一")
    assert apply("# Two\n\n# One\n", Translations(layout, ZH).of("one")) == "# Two\n\n# 一\n"


def test_a_translator_is_told_each_slip_with_its_place_and_its_english(layout, capsys):
    fill(layout, "one", "First words.", "开头的words.")
    assert main(["check", "one", "--root", str(layout.root)]) == 1
    assert capsys.readouterr().out == (
        "notebooks/locale/zh_CN/one.po:14: msgid 'First words.'\n"
        "  no space between Chinese and Latin letters, digits, code or a formula (…开头的words.…)\n"
        "  a half-width full stop: write 。 (…头的words.…)\n"
        "1 translations to mend\n"
        "one: 1 of 4 units translated (29% of the words)\n"
    )


def test_a_translator_may_free_a_message_of_a_term(layout):
    (folder(layout, ZH) / "terms.csv").write_text("english,translations,never\nword,词,\n", encoding="utf-8")
    fill(layout, "one", "First words.", "开头。")
    assert [problem.slips for problem in check(layout, ZH)] == [("'word' is 词",)]
    text = catalogue(layout, "one").read_text(encoding="utf-8")
    text = text.replace('msgid "First', '# free: word\nmsgid "First')
    catalogue(layout, "one").write_text(text, encoding="utf-8")
    assert list(check(layout, ZH)) == []


def test_a_text_that_pages_find_by_its_first_words_has_to_begin_with_them(layout):
    (layout.root / "book").mkdir()
    (layout.root / "book" / "some.py").write_text('say("In your own loop")\n', encoding="utf-8")
    (layout.sources / "one.md").write_text("# One\n\n**In your own loop**: wait.\n", encoding="utf-8")
    update(layout, ZH)
    fill(layout, "pages", "In your own loop", "在你的循环里")
    fill(layout, "one", "**In your own loop**: wait.", "**在循环里**：等待。")
    assert [problem.slips for problem in check(layout, ZH)] == [("does not begin with **在你的循环里**",)]


def test_missing_and_fuzzy_translations_are_nothing_to_mend(layout, capsys):
    fill(layout, "one", "First words.", "words的.", comment="#, fuzzy\n")
    assert main(["check", "--root", str(layout.root)]) == 0
    assert "one: 0 of 4 units translated (0% of the words), 1 fuzzy" in capsys.readouterr().out


def test_an_unknown_catalogue_is_an_error(layout, capsys):
    assert main(["check", "three", "--root", str(layout.root)]) == 1
    assert capsys.readouterr().err == "error: there is no catalogue 'three': name one of book, one, records, two\n"


@pytest.mark.parametrize("line", ['msgstr "一', 'msgstr "说"一"了"', 'msgstr "$\\alpha$"', 'msgstr: "一"', "一"])
def test_a_line_that_no_catalogue_has_is_an_error(layout, capsys, line):
    text = catalogue(layout, "one").read_text(encoding="utf-8")
    damaged = text.replace('msgid "One"\nmsgstr ""', f'msgid "One"\n{line}')
    catalogue(layout, "one").write_text(damaged, encoding="utf-8")
    assert main(["update", "--root", str(layout.root)]) == 1
    assert f"one.po:11: no line of a catalogue: {line}" in capsys.readouterr().err
    assert catalogue(layout, "one").read_text(encoding="utf-8") == damaged


def test_catalogues_are_no_sources_of_the_book():
    assert [slug for slug in slugs(Layout(Path())) if "locale" in slug] == []
