"""What a translator is held to: the units of a source, and the faults, slips and wrong terms of a translation."""

import pytest

from book.translations.faults import faults
from book.translations.punctuation import slips
from book.translations.terms import read_terms, wrong_terms
from book.translations.units import apply, extract

CELL = "```{code-cell} ipython3\n"


@pytest.mark.parametrize(
    ("source", "units"),
    [
        ("---\njupytext: {}\n---\n\n(sec-x)=\n# A Title\n", ["heading: A Title"]),
        ("**Two**\n`words`.\n\n+++\n\n> quoted\n", ["paragraph: **Two**\n`words`.", "paragraph: quoted"]),
        ("* an item\n  of two lines\n\n% gain: before → after\n", ["item: an item\nof two lines"]),
        ("| a name | 12 |\n|---|---|\n| `x` | words |\n", ["row: | a name | 12 |", "row: | `x` | words |"]),
        (f"{CELL}---\nalt: A curve\n  that rises\ntags: [jax]\n---\nplot(x)\n```\n", ["cell alt: A curve that rises"]),
        (f"{CELL}:alt: A curve\n\nplot(y)  # not for a translator\n```\n", ["alt: A curve"]),
        (":::{figure} x.svg\n:name: fig-x\n:alt: Boxes\n\nTwo boxes.\n:::\n", ["alt: Boxes", "caption: Two boxes."]),
        ("::::{admonition} Box\nWhy?\n:::{dropdown} No\n:::\n::::\n", ["title: Box", "paragraph: Why?", "title: No"]),
        ("$$ x\\text{ if dry} $$ (eq-x)\n\n$$ y = 2 $$\n", ["formula: $$ x\\text{ if dry} $$ (eq-x)"]),
        ("```{glossary}\ncache\ncaches\n  It is\n  small.\n```\n", ["term: cache\ncaches", "meaning: It is\nsmall."]),
    ],
)
def test_the_units_of_a_source_are_its_text_in_order(source, units):
    assert [f"{unit.kind}: {unit.text}" for unit in extract(source)] == units


@pytest.mark.parametrize(
    ("source", "translation", "applied"),
    [
        ("Some words.\nOthers.\n", "甲。\n乙", "甲。乙\n"),
        ("Some words.\nOthers.\n", "甲“乙”\n丙", "甲“乙”丙\n"),
        ("Some words.\nOthers.\n", "甲\n{numref}`fig-x`", "甲{numref}`fig-x`\n"),
        ("Some words.\nOthers.\n", "甲 x\ny 乙\n`z`", "甲 x\ny 乙\n`z`\n"),
        ("Some words.\nOthers.\n", "Words “quoted”\nand others", "Words “quoted”\nand others\n"),
        ("```{glossary}\nstreams\n  A queue.\n```", "流\n数据流", "```{glossary}\n流\n数据流\n  A queue.\n```"),
        ("* an item\n  of two lines\n", "甲 x\ny 乙\nz", "* 甲 x\n  y 乙\n  z\n"),
    ],
)
def test_a_line_break_goes_only_where_chinese_has_no_space(source, translation, applied):
    first = extract(source)[0].text
    assert apply(source, {first: translation}.get) == applied


@pytest.mark.parametrize(
    ("english", "translation", "said"),
    [
        ("**Wait** for `x`.", "**等待** `x`。", ""),
        ("**Wait** for `x`.", "等待 `x`。", "lacks **"),
        ("Wait for `x`.", "等待 `y`。", "lacks `x`; adds `y`"),
        ("$n$ ranks", "n 个 rank", "lacks $n$"),
        ("{numref}`fig-x` shows", "如{numref}`fig-y`", "lacks {numref} with the target fig-x; adds {numref}"),
        ("the {ref}`part <sec-x>`", "这个{ref}`部分 <sec-x>`", ""),
        ("[here](https://a.org)", "这里", "lacks the link to https://a.org"),
        ("| a | b |", "| 甲 | 乙", "lacks |"),
        ("**First.** Then", "**先。**再", "lacks **"),  # CommonMark does not end the emphasis here
        ("$$ a \\text{if so} $$ (eq-a)", "$$ a \\text{如果} $$ (eq-a)", ""),
        ("$$ a \\text{if so} $$ (eq-a)", "$$ b \\text{如果} $$ (eq-a)", "lacks $a \\text{…}$ eq-a; adds $b"),
        ("One point", "1. 一点", "is parsed as ordered_list"),
        ("the same words once more", "the same words once more", "is the English text"),
        ("PyTorch", "PyTorch", ""),
        (r"$$\text{one word more}$$", r"$$\text{one word more}$$", ""),
        ("{n} of {all} claims", "{all} 项论断", "lacks {n}"),
        ("{x:.1f} s of the set {{1}}", "集合 {1} 的 {x} s", "lacks {x:.1f}; lacks {{; lacks }}; adds {1}; adds {x}"),
        ("A word", "一个词 ", "begins or ends with a space"),
    ],
)
def test_a_fault_is_markup_that_a_translation_lacks_or_adds(english, translation, said):
    found = "; ".join(faults(english, translation))
    assert found.startswith(said)
    assert bool(found) == bool(said)


@pytest.mark.parametrize(
    ("translation", "rule"),
    [
        ("用PyTorch", "no space between"),
        ("甲 乙", "a space between Chinese characters"),
        ("甲， 乙", "a space beside full-width punctuation"),
        ("甲“乙”\n`x`", "a space beside full-width punctuation"),
        ("见 {numref}`fig-x`", "a space before"),
        ("甲,乙", "half-width punctuation"),
        ("JAX: 甲", "half-width punctuation"),
        ("甲 JAX.\n乙", "a half-width full stop"),
        ("甲\nJAX，\n乙  丙", "two spaces"),
        ("共 １２ 个", "full-width letters"),
        ("甲 (乙)", "half-width brackets"),
        ('标有 "x" 的', "straight quotation marks"),
    ],
)
def test_a_slip_is_named(translation, rule):
    assert [each for each in slips(translation) if each.startswith(rule)], slips(translation)


@pytest.mark.parametrize(
    "translation", ["L1, L2 and L3 (no Chinese here).", "如 Li et al. 的结果", "取 (128, 4)、(768, 12) 和 (8, 8) 时"]
)
def test_what_is_english_in_a_translation_is_no_slip(translation):
    assert slips(translation) == []


@pytest.mark.parametrize(
    ("english", "translation", "said"),
    [
        ("Two barriers and fences", "两个屏障", []),
        ("Two fences", "两个栅栏", ["'barrier' is 屏障"]),
        ("Two barriers", "两个障碍", ["'barrier' is never 障碍: write 屏障"]),
        ("`barrier` in an inaccuracy", "误差", []),
        ("accuracy", "精度：准确率", ["'accuracy' is never 精度: write 准确率"]),
        ("precision and accuracy", "精度和准确率", []),  # since the other term asks for it
        ("An I.O", "一次", ["'I.O' is 输入输出"]),
        ("An IxO", "一次", []),  # a term is no pattern
    ],
)
def test_a_term_is_translated_as_the_table_says(tmp_path, english, translation, said):
    rows = "barrier | fence,屏障,障碍 | 壁垒", "accuracy,准确率,精度", "precision,精度,", "I.O,输入输出,"
    table = tmp_path / "terms.csv"
    table.write_text("\n".join(["english,translations,never", *rows]), encoding="utf-8")
    assert list(wrong_terms(english, translation, read_terms(table))) == said
