"""The labels of the drawings: collected, translated in their place, and kept within their room."""

from xml.etree.ElementTree import canonicalize

import pytest

from book import ROOT
from book.translations.figures import apply, extract, too_large

LINES = [
    '<text x="9" y="20"><tspan font-weight="bold">At once:</tspan> both &lt; 2</text>',
    '<text x="9" y="40">S bytes</text>',
    '<text x="9" y="60">each way</text>',
    '<text x="9" y="90">after a gap</text>',
    '<text x="50" y="90">beside it</text>',
    '<text x="50" y="110" font-weight="bold">in bold</text>',
    '<text x="9" y="120">t₁</text><text x="9" y="140">48 KiB</text>',
]
CODE = '<g font-family="\'DejaVu Sans Mono\', monospace"><text x="9" y="160">print(z)</text></g>'


def drawing(*lines):
    return f'<svg xmlns="http://www.w3.org/2000/svg"><title>A title</title>{"".join(lines)}</svg>'


def test_neighbouring_lines_are_one_label():
    labels = ["**At once:** both < 2\nS bytes\neach way", "after a gap", "beside it", "in bold"]
    assert extract(drawing(*LINES, CODE)) == labels


def test_a_translation_takes_the_place_of_its_label_in_as_many_lines_at_most():
    translations = {"S bytes\neach way": "**每个**方向", "after a gap": "空隙 < 2", "beside it": "一\n二"}
    found = apply(drawing(*LINES[1:], CODE), translations.get, "zh-Hans")
    expected = [
        '<text x="9" y="40"><tspan font-weight="bold">每个</tspan>方向</text>',
        '<text x="9" y="90">空隙 &lt; 2</text>',
        *LINES[4:],
    ]
    assert canonicalize(found) == canonicalize(drawing(*expected, CODE).replace("<svg", '<svg xml:lang="zh-Hans"', 1))


@pytest.mark.parametrize("path", sorted(ROOT.glob("notebooks/img/*.svg")), ids=lambda path: path.name)
def test_a_drawing_without_translations_stays_as_it_is(path):
    text = path.read_text(encoding="utf-8")
    found = apply(text, lambda label: None, "zh-Hans")
    assert canonicalize(found.replace(' xml:lang="zh-Hans"', "", 1)) == canonicalize(text)


@pytest.mark.parametrize(
    ("english", "translation", "said"),
    [
        ("**both** at once", "**同时**进行", []),
        ("now", "现在", []),  # hardly wider
        ("now", "现在了", ["'现在了' is 3.0 em wide: at most 2.5"]),
        ("wait", "等\n待", ["has 2 lines, the English label 1"]),
    ],
)
def test_a_label_may_not_outgrow_its_room(english, translation, said):
    assert list(too_large(english, translation)) == said
