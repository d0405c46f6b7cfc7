"""Waterfalls: what remains of a step, what was saved, where the promise would have led, and what is left out."""

import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex

from d2l_lab.plots.curves import COLORS
from d2l_lab.plots.waterfall import Bar, waterfall

GREY, WHITE = "#bbbbbb", "#ffffff"


def test_a_row_has_what_remains_then_what_was_saved_and_a_mark_where_the_promise_would_have_led():
    waterfall([Bar("loop", 0.1, None, None, True), Bar("fused", 0.08, 0.02, 0.05, True)])
    remains, saved = COLORS[0].lower(), WHITE
    bars = [(bar.get_x(), bar.get_width(), to_hex(bar.get_facecolor())) for bar in plt.gca().patches]
    assert bars == [(0, 100, remains), (0, 80, remains), (80, pytest.approx(20), saved)]
    assert [line.get_xdata()[0] for line in plt.gca().lines] == [pytest.approx(50)]


def test_a_row_that_is_left_out_is_grey_and_says_so():
    waterfall([Bar("loop", 0.1, None, None, True), Bar("slower", 0.12, -0.02, 0.05, False)])
    assert [to_hex(bar.get_facecolor()) for bar in plt.gca().patches] == [COLORS[0].lower(), GREY]
    assert [text.get_text() for text in plt.gca().texts] == ["100", "120, left out"]
