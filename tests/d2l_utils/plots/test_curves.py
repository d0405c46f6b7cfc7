"""Figures: what is drawn where, in which colours, and what a reader who cannot see them is told."""

import itertools
import re
import subprocess
import sys
from pathlib import Path

import matplotlib
import nbformat
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb
from nbclient import NotebookClient
from pictures import only_svg
from wcag import contrast, linear

from d2l_utils.plots.curves import COLORS, plot, set_axes, set_figsize, use_svg_display
from d2l_utils.plots.timeline import Span, timeline

matplotlib.use("agg")
SPANS = [
    Span("front end", 10.0, 10.001, "issue"),
    Span("front end", 10.001, 10.02, "wait"),
    Span("back end", 10.001, 10.01, "product"),
    Span("back end", 10.01, 10.02, "product"),
]


@pytest.fixture(autouse=True)
def _fresh_figures():
    with matplotlib.rc_context():
        yield
    plt.close("all")


@pytest.fixture
def axes():
    return plt.figure(figsize=(6.5, 3), layout="constrained").add_subplot()


def curves(axes):
    return [(line.get_xdata().tolist(), line.get_ydata().tolist()) for line in axes.lines]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (([5, 6],), [([0, 1], [5, 6])]),
        (([[5, 6], [7, 8]],), [([0, 1], [5, 6]), ([0, 1], [7, 8])]),
        (([1, 2], [5, 6]), [([1, 2], [5, 6])]),
        (([1, 2], [[5, 6], [7, 8]]), [([1, 2], [5, 6]), ([1, 2], [7, 8])]),
        (([[1, 2], [3, 4]], [[5, 6], [7, 8]]), [([1, 2], [5, 6]), ([3, 4], [7, 8])]),
        ((np.array([1, 2]), [np.array([5, 6]), [7, 8]]), [([1, 2], [5, 6]), ([1, 2], [7, 8])]),
        ((np.array([[1, 2]]), np.array([[5, 6], [7, 8]])), [([1, 2], [5, 6]), ([1, 2], [7, 8])]),
        ((range(2), (5, 6)), [([0, 1], [5, 6])]),
        (([np.float32(1), np.array(2)], [5, 6]), [([1, 2], [5, 6])]),
    ],
)
def test_plot_takes_one_or_several_curves_over_one_or_several_x(arguments, expected, axes):
    plot(*arguments, axes=axes)
    assert curves(axes) == expected


def test_plot_draws_more_curves_than_there_are_formats(axes):
    plot([1, 2], [[i, i] for i in range(6)], axes=axes)
    assert [line.get_linestyle() for line in axes.lines] == ["-", "--", "-.", ":", "-", "--"]
    assert len({line.get_color() for line in axes.lines}) == 6


def test_plot_refuses_numbers_of_x_and_y_that_do_not_match(axes):
    with pytest.raises(ValueError, match="2 sequences of x for 3 of y"):
        plot([[1], [2]], [[1], [2], [3]], axes=axes)


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
    ("ends", "expected"),
    [
        ([1, 1000], ["1", "10", "100", "1000"]),
        ([0.001, 1], ["0.001", "0.01", "0.1", "1"]),
    ],
)
def test_a_logarithmic_axis_names_its_numbers_in_full(ends, expected, axes):
    plot(ends, ends, xscale="log", yscale="log", axes=axes)
    assert numbers_along(axes.xaxis) == numbers_along(axes.yaxis) == expected


def test_numbers_side_by_side_do_not_touch():
    plot([1, 1e5], [1, 1e5], xscale="log", yscale="log")
    axis = plt.gca().xaxis
    assert numbers_along(axis) == ["1", "100", "10000"]
    boxes = [label.get_window_extent() for label in axis.get_majorticklabels() if label.get_text()]
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))


@pytest.mark.parametrize("ends", [[1, 1e6], [1e-4, 1], [1e-9, 1e9]])
def test_a_logarithmic_axis_that_goes_beyond_names_powers(ends, axes):
    plot(ends, xscale="linear", yscale="log", axes=axes)
    assert all("^" in number for number in numbers_along(axes.yaxis))


def test_within_one_decade_the_small_ticks_are_named_too(axes):
    plot([2, 8], [2, 8], yscale="log", axes=axes)
    axes.figure.draw_without_rendering()
    assert {"3", "4"} <= {label.get_text() for label in axes.yaxis.get_minorticklabels()}


def test_plot_in_the_same_axes_replaces_what_was_there(axes):
    plot([1, 2], axes=axes)
    plot([3, 4], axes=axes)
    assert curves(axes) == [([0, 1], [3, 4])]


def test_set_figsize_and_set_axes_take_what_d2l_passes(axes):
    set_figsize((4, 3))
    assert plt.rcParams["figure.figsize"] == [4, 3]
    set_axes(axes, "x", "y", [0, 1], [1, 2], "linear", "log", None)
    assert (axes.get_xlim(), axes.get_yscale(), axes.get_legend()) == ((0, 1), "log", None)


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
    """CIELAB coordinates of linear sRGB."""
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = to_xyz @ np.clip(rgb, 0, 1) / to_xyz.sum(1)
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def smallest_difference(colors, vision):
    seen = [lab(np.array(VISION[vision]) @ linear(color)) for color in colors]
    return min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2))


@pytest.mark.parametrize("vision", VISION)
def test_colours_stay_apart_in_every_kind_of_vision(vision):
    assert smallest_difference(COLORS, vision) > 20


def test_red_and_green_would_not_stay_apart():
    assert smallest_difference(["#C44601", "#117733"], "protanopia") < 20


def test_colours_stand_out_from_white():
    assert min(map(contrast, COLORS)) >= 3


def bars(axes):
    return [(bar.get_x(), bar.get_width(), bar.get_y() + bar.get_height() / 2) for bar in axes.patches]


def test_a_timeline_counts_time_from_the_earliest_start_in_a_fitting_unit(axes):
    timeline(SPANS, axes=axes)
    assert axes.get_xlabel() == "time in ms"
    np.testing.assert_allclose(bars(axes), [(0, 1, 0), (1, 19, 0), (1, 9, 1), (10, 10, 1)], atol=1e-6)


def test_rows_stand_from_top_to_bottom_in_the_order_of_the_spans(axes):
    timeline(SPANS, title="ten products", axes=axes)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["front end", "back end"]
    assert axes.get_ylim() == (1.5, -0.5)
    assert axes.get_title(loc="left") == "ten products"


def test_a_kind_has_one_colour_and_stands_in_the_legend_once(axes):
    timeline(SPANS, axes=axes)
    colors = [bar.get_facecolor() for bar in axes.patches]
    assert colors[2] == colors[3]
    assert len(set(colors)) == 3
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["issue", "wait", "product"]


def test_one_kind_needs_no_legend(axes):
    timeline([Span("a", 0, 1, "run")], axes=axes)
    assert axes.get_legend() is None


def test_a_label_stands_in_a_bar_only_where_it_fits_and_is_readable(axes):
    timeline([*SPANS, Span("front end", 10.02, 10.021, "a rather long word")], axes=axes)
    assert [text.get_text() for text in axes.texts] == ["wait", "product", "product"]
    axes.figure.draw_without_rendering()
    for text, bar in zip(axes.texts, axes.patches[1:], strict=False):
        inside, outside = text.get_window_extent(), bar.get_window_extent()
        assert outside.x0 < inside.x0 < inside.x1 < outside.x1
        assert outside.y0 < inside.y0 < inside.y1 < outside.y1
        assert contrast(text.get_color(), bar.get_facecolor()) >= 4.5


def test_the_label_of_any_colour_is_readable(axes):
    timeline([Span("a", i, i + 1, f"k{i}") for i in range(len(COLORS))], axes=axes)
    shown = [
        (to_rgb(bar.get_facecolor()), text.get_color()) for bar, text in zip(axes.patches, axes.texts, strict=True)
    ]
    assert [color for color, _ in shown] == [to_rgb(color) for color in COLORS]
    assert min(contrast(*pair) for pair in shown) >= 4.5


def test_a_very_short_span_stays_visible(axes):
    timeline([Span("a", 0, 1e-6, "issue"), Span("b", 0, 1, "run")], axes=axes)
    short = axes.patches[0]
    assert short.get_edgecolor() == short.get_facecolor()
    assert short.get_linewidth() > 0.5


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
    for a, b in itertools.combinations(boxes, 2):
        assert not a.overlaps(b)


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


def test_the_description_of_a_timeline_tells_its_spans(axes):
    timeline(SPANS, title="ten products", axes=axes)
    assert axes.get_label() == (
        "Timeline “ten products” of 20 ms. front end: issue from 0 to 1 ms; wait from 1 to 20 ms. "
        "back end: 2 × product between 1 and 20 ms, 19 ms in all."
    )


def test_the_description_of_a_plot_tells_its_labels_and_ends(axes):
    plot([1, 2], [[5, 6], [8, 7.123]], "n", "seconds", ["a", "b"], axes=axes)
    assert axes.get_label() == "Plot of seconds over n: a from 5 to 6; b from 8 to 7.12."
    plot([4, 2], axes=axes)
    assert axes.get_label() == "Plot of y over x: curve 1 from 4 to 2."


KERNEL = """
from d2l_utils.plots.timeline import timeline
from d2l_utils.plots.curves import plot
timeline([("a", 0, 1, "run"), ("b", 1, 2, "wait")])
"""


@pytest.fixture(scope="module")
def outputs():
    """The outputs of two cells that draw the same timeline, and of one that plots, in one kernel."""
    sources = [KERNEL, KERNEL, KERNEL + "from matplotlib import pyplot as plt; plt.figure(); plot([1, 2])"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    return [cell.outputs for cell in notebook.cells]


def test_in_jupyter_a_picture_is_svg_and_carries_its_description(outputs):
    picture = only_svg(outputs[0])
    assert picture.metadata["image/svg+xml"]["alt"] == "Timeline of 2 s. a: run from 0 to 1 s. b: wait from 1 to 2 s."


def test_the_same_picture_is_the_same_svg_each_time(outputs):
    first, second = (out[0].data["image/svg+xml"] for out in outputs[:2])
    assert first == second
    assert not re.search(r"20\d\d-\d\d-\d\d", first)


def test_each_of_several_pictures_carries_its_own_description(outputs):
    alts = [picture.metadata["image/svg+xml"]["alt"] for picture in outputs[2]]
    assert [alt.split(" of ")[0] for alt in alts] == ["Timeline", "Plot"]


def test_without_jupyter_nothing_of_it_is_imported():
    code = (
        "import sys; from d2l_utils.plots.curves import set_figsize; set_figsize();"
        "print([name for name in ('IPython', 'matplotlib_inline', 'sphinx') if name in sys.modules])"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
