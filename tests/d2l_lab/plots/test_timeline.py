"""Timelines: which bar is where, in which colour, which text stands in it, and what is said of it in words."""

import itertools

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from wcag import contrast

from d2l_lab.plots.curves import COLORS
from d2l_lab.plots.timeline import Span, timeline

SPANS = [
    Span("front end", 10.0, 10.001, "issue"),
    Span("front end", 10.001, 10.02, "wait"),
    Span("back end", 10.001, 10.01, "product"),
    Span("back end", 10.01, 10.02, "product"),
]


def test_bars_stand_in_rows_with_the_colours_of_their_kinds_and_count_time_from_the_earliest_start(axes):
    timeline(SPANS, title="ten products", axes=axes)
    bars = [(bar.get_x(), bar.get_width(), bar.get_y() + bar.get_height() / 2) for bar in axes.patches]
    np.testing.assert_allclose(bars, [(0, 1, 0), (1, 19, 0), (1, 9, 1), (10, 10, 1)], atol=1e-6)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["front end", "back end"]
    assert axes.get_ylim() == (1.5, -0.5)
    assert (axes.get_xlabel(), axes.get_title(loc="left")) == ("time in ms", "ten products")
    colors = [bar.get_facecolor() for bar in axes.patches]
    assert (colors[2], len(set(colors))) == (colors[3], 3)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["issue", "wait", "product"]
    assert axes.get_label() == (
        "Timeline “ten products” of 20 ms. front end: issue from 0 to 1 ms; wait from 1 to 20 ms. "
        "back end: 2 × product between 1 and 20 ms, 19 ms in all."
    )


def test_a_label_stands_in_a_bar_only_where_it_fits_and_is_readable(axes):
    timeline([*SPANS, Span("front end", 10.02, 10.021, "a rather long word")], axes=axes)
    assert [text.get_text() for text in axes.texts] == ["wait", "product", "product"]
    axes.figure.draw_without_rendering()
    for text, bar in zip(axes.texts, axes.patches[1:], strict=False):
        inside, outside = text.get_window_extent(), bar.get_window_extent()
        assert outside.x0 < inside.x0 < inside.x1 < outside.x1
        assert outside.y0 < inside.y0 < inside.y1 < outside.y1


def test_the_label_of_any_colour_is_readable_and_a_very_short_span_stays_visible(axes):
    timeline([*[Span("a", i, i + 1, f"k{i}") for i in range(len(COLORS))], Span("b", 0, 1e-6, "k0")], axes=axes)
    *colors, short = [to_rgb(bar.get_facecolor()) for bar in axes.patches]
    assert colors == [to_rgb(color) for color in COLORS]
    assert all(contrast(text.get_color(), color) >= 4.5 for text, color in zip(axes.texts, colors, strict=True))
    assert to_rgb(axes.patches[-1].get_edgecolor()) == short
    assert axes.patches[-1].get_linewidth() > 0.5


def test_spans_of_a_row_that_overlap_lie_in_lanes_and_others_do_not(axes):
    spans = [Span("a", 0, 2, "run"), Span("a", 1, 3, "copy"), Span("a", 2, 4, "run"), Span("b", 0, 4, "run")]
    timeline(spans, axes=axes)
    places = [(bar.get_y(), bar.get_y() + bar.get_height()) for bar in axes.patches]
    assert places[0] == places[2]
    assert places[0][1] == pytest.approx(places[1][0])
    assert places[1][1] < places[3][0]
    assert places[3][1] - places[3][0] == pytest.approx(0.72)


def test_no_text_of_a_timeline_overlaps_another(axes):
    long = Span("a device with a long name", 10, 10.02, "a kind with a long name")
    timeline([*SPANS, long], title="title", axes=axes)
    axes.figure.draw_without_rendering()
    texts = [axes.xaxis.label, *axes.get_legend().get_texts(), axes._left_title]
    texts += [*axes.get_xticklabels(), *axes.get_yticklabels(), *axes.texts]
    boxes = [text.get_window_extent() for text in texts if text.get_text()]
    assert len(boxes) > 10
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))


@pytest.mark.parametrize(
    ("spans", "words"),
    [
        ([], "at least one span"),
        ([Span("a", 2, 1, "run")], "ends before it starts"),
        ([Span("a", 0, float("nan"), "run")], "ends before it starts"),
        ([Span("a", i, i + 1, str(i)) for i in range(7)], "6 kinds of work apart, not 7"),
    ],
)
def test_a_timeline_that_cannot_be_drawn_is_an_error(spans, words):
    with pytest.raises(ValueError, match=words):
        timeline(spans)
