"""A drawing in the words of its reader: labels, legends and what is said of it to who cannot see it."""

import re

import pytest
from matplotlib import pyplot as plt

from d2l_lab.plots.curves import _svg, plot
from d2l_lab.plots.words import FRAME, POINT, in_words, phrase

WORDS = {"seconds": "秒", "ring": "环", "Plot of seconds over n": "曲线图", "L1 cache": "L1缓存"}
LABEL = re.compile(r"<text[^>]*>([^<]+)</text>")


def say(text):
    return WORDS.get(text, text)


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("ring, Simple", "环，Simple"),
        ("a step: ring", "a step：环"),
        ("Plot of seconds over n: ring; a, b.", "曲线图：环；a, b。"),
        ("L1 cache", "L1 缓存"),
        ("9.96, 1. 2; 3: 4.", "9.96, 1. 2; 3: 4."),
    ],
)
def test_a_label_is_translated_part_by_part(english, chinese):
    assert phrase(english, say) == chinese


def drawing(legend=("ring of eight hosts", "ring")):
    plot([1, 2], [[1, 2], [2, 1]], "n < 3", "seconds", list(legend))
    return _svg(plt.gcf())[0]


def test_text_is_text_and_the_labels_alone_change():
    english = drawing(())
    chinese = in_words(english, say, "zh-CN")
    assert {"n &lt; 3", "秒", "1.0"} <= set(LABEL.findall(chinese))
    assert LABEL.sub("", chinese) == LABEL.sub("", english).replace("<svg ", '<svg xml:lang="zh-CN" ', 1)
    assert in_words(english, str) == english


def test_the_frame_of_a_legend_is_as_wide_as_its_words():
    def right(svg):
        frame = FRAME.search(svg[svg.index('<g id="legend_1">') :])[0]
        return max(float(x) for x, _ in POINT.findall(frame))

    wide, narrow = drawing(), drawing(("ring", "star"))
    short = in_words(wide, lambda text: {"ring of eight hosts": "star"}.get(text, text))
    start = re.compile(r'x="([\d.]+)"[^>]*>ring</text>')
    room = [right(svg) - float(start.search(svg)[1]) for svg in (short, narrow)]
    assert room[0] == pytest.approx(room[1], abs=6)
    assert right(short) < right(wide) - 50
