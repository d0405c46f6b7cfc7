"""Curves: what is drawn where, in which colours, and what a reader who cannot see them is told."""

import itertools
import re

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb
from pictures import only_svg
from wcag import contrast, linear

from d2l_lab.plots.curves import COLORS, plot, use_svg_display


def curves(axes):
    return [(line.get_xdata().tolist(), line.get_ydata().tolist()) for line in axes.lines]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (([[5, 6], [7, 8]],), [([0, 1], [5, 6]), ([0, 1], [7, 8])]),
        (([[1, 2], [3, 4]], [[5, 6], [7, 8]]), [([1, 2], [5, 6]), ([3, 4], [7, 8])]),
        ((np.array([[1, 2]]), np.array([[5, 6], [7, 8]])), [([1, 2], [5, 6]), ([1, 2], [7, 8])]),
        ((range(2), (np.float32(5), np.array(6))), [([0, 1], [5, 6])]),
    ],
)
def test_plot_takes_one_or_several_curves_over_one_or_several_x(arguments, expected, axes):
    plot(*arguments, axes=axes)
    assert curves(axes) == expected


def test_plot_draws_more_curves_than_there_are_formats_replaces_what_was_there_and_describes_it(axes):
    plot([1, 2], [[i, i] for i in range(6)], axes=axes)
    assert [line.get_linestyle() for line in axes.lines] == ["-", "--", "-.", ":", "-", "--"]
    assert len({line.get_color() for line in axes.lines}) == 6
    with pytest.raises(ValueError, match="2 sequences of x for 3 of y"):
        plot([[1], [2]], [[1], [2], [3]], axes=axes)
    plot([1, 2], [[5, 6], [8, 7.123]], "n", "seconds", ["a", "b"], axes=axes)
    assert axes.get_label() == "Plot of seconds over n: a from 5 to 6; b from 8 to 7.12."
    plot([4, 2], axes=axes)
    assert axes.get_label() == "Plot of y over x: curve 1 from 4 to 2."
    assert curves(axes) == [([0, 1], [4, 2])]


def test_plot_sets_labels_limits_scales_legend_and_size():
    plot([1, 10], [1, 100], "n", "seconds", ["run"], [1, 20], [1, 200], "log", "log", figsize=(5, 2))
    axes = plt.gca()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("n", "seconds")
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert (axes.get_xlim(), axes.get_ylim()) == ((1, 20), (1, 200))
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["run"]
    assert plt.gcf().get_size_inches().tolist() == [5, 2]


def numbers_along(axis):
    axis.axes.figure.draw_without_rendering()
    low, high = axis.get_view_interval()
    labels = zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=True)
    return [label.get_text() for place, label in labels if low <= place <= high and label.get_text()]


@pytest.mark.parametrize(
    ("below", "beside"),
    [
        (["1", "10", "100", "1000"], ["1", "10", "100", "1000"]),
        (["0.001", "0.01", "0.1", "1"], ["0.001", "0.01", "0.1", "1"]),
        (["1", "100", "10000"], ["1", "10", "100", "1000", "10000", "100000"]),
    ],
)
def test_a_logarithmic_axis_names_its_numbers_in_full_and_those_side_by_side_do_not_touch(below, beside):
    ends = [float(beside[0]), float(beside[-1])]
    plot(ends, ends, xscale="log", yscale="log")
    axes = plt.gca()
    assert (numbers_along(axes.xaxis), numbers_along(axes.yaxis)) == (below, beside)
    boxes = [label.get_window_extent() for label in axes.xaxis.get_majorticklabels() if label.get_text()]
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))


def test_a_logarithmic_axis_that_goes_beyond_names_powers_and_one_within_a_decade_its_small_ticks():
    for ends in ([1, 1e6], [1e-4, 1], [1e-9, 1e9]):
        plot(ends, xscale="linear", yscale="log")
        assert all("^" in number for number in numbers_along(plt.gca().yaxis))
    plot([2, 8], [2, 8], yscale="log")
    plt.gcf().draw_without_rendering()
    assert {"3", "4"} <= {label.get_text() for label in plt.gca().yaxis.get_minorticklabels()}


def test_figures_are_dark_on_white_even_under_a_dark_style():
    plt.style.use("dark_background")
    use_svg_display()
    figure = plt.figure()
    assert to_rgb(figure.get_facecolor()) == (1, 1, 1)
    for key in ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"):
        assert contrast(plt.rcParams[key]) > 7


# How a dichromat sees linear RGB: Machado, Oliveira, Fernandes 2009, doi 10.1109/TVCG.2009.113, severity 1.
VISION = {
    "normal": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritanopia": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}


def lab(rgb):
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = to_xyz @ np.clip(rgb, 0, 1) / to_xyz.sum(1)
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def smallest_difference(colors, vision):
    seen = [lab(np.array(VISION[vision]) @ linear(color)) for color in colors]
    return min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2))


def test_colours_stand_out_from_white_and_stay_apart_in_every_kind_of_vision_as_red_and_green_would_not():
    assert min(map(contrast, COLORS)) >= 3
    assert (
        min(smallest_difference(COLORS, vision) for vision in VISION)
        > 20
        > smallest_difference(["#C44601", "#117733"], "protanopia")
    )


DRAW = """
from d2l_lab.plots.timeline import timeline
from d2l_lab.plots.curves import plot
timeline([("a", 0, 1, "run"), ("b", 1, 2, "wait")])
"""


@pytest.mark.slow
def test_in_jupyter_a_picture_is_svg_the_same_each_time_and_carries_its_own_description(executed):
    several = DRAW + "from matplotlib import pyplot as plt; plt.figure(); plot([1, 2])"
    _, (one, same, both) = executed(DRAW, DRAW, several)
    assert only_svg(one).data["image/svg+xml"] == only_svg(same).data["image/svg+xml"]
    assert not re.search(r"20\d\d-\d\d-\d\d", one[0].data["image/svg+xml"])
    alts = [picture.metadata["image/svg+xml"]["alt"] for picture in both]
    assert alts[0] == "Timeline of 2 s. a: run from 0 to 1 s. b: wait from 1 to 2 s."
    assert alts[1].startswith("Plot of ")
