"""Figures: curves as D2L draws them, on white with dark text, in colours that the colour-blind tell apart.

A figure shown as SVG carries its description in the output's metadata, as the alternative text of the picture.
"""

import sys
from itertools import cycle

import matplotlib
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterSciNotation

# Contrast to white at least 3:1; all pairs stay apart for the three kinds of colour blindness (tests/test_plotting.py).
COLORS = ("#0072B2", "#D55E00", "#767676", "#4A1942", "#9D0AFF", "#0A3D1F")
INK = "#222222"
STYLE = {
    "axes.prop_cycle": matplotlib.cycler(color=COLORS),
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "axes.facecolor": "white",
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "svg.hashsalt": "d2l",
}


def use_svg_display():
    """Show figures as SVG in Jupyter, in the chapter's style. Without Jupyter, set the style only."""
    plt.rcParams.update(STYLE)
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None:
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        set_matplotlib_formats("svg")
        shell.display_formatter.formatters["image/svg+xml"].for_type(Figure, _svg)


def _svg(figure):
    """Return the figure as SVG, without a date in it, and with its description as display metadata."""
    from IPython.core.pylabtools import print_figure

    texts = [axes.get_label() for axes in figure.axes]
    alt = " ".join(text for text in texts if text and not text.startswith("<"))
    return print_figure(figure, "svg", metadata={"Date": None}), {"alt": alt} if alt else {}


def set_figsize(figsize=(3.5, 2.5)):
    """Set the size of the figures to come, in inches."""
    use_svg_display()
    plt.rcParams["figure.figsize"] = figsize


class Decades(LogFormatterSciNotation):
    """The numbers along a logarithmic axis: 0.1, 1, 10, 100 where all lie between 0.001 and 100000, else powers.

    Side by side the longest would touch: there every other one stands.
    """

    def __call__(self, x, pos=None):
        """Return what stands at x, which is nothing at most of the small ticks."""
        power = super().__call__(x, pos)
        low, high = sorted(self.axis.get_view_interval())
        if not power or low < 1e-4 or high > 1e6:
            return power
        crowded = self.axis.axis_name == "x" and high > 3e4 and high / low > 1e4
        return "" if crowded and round(np.log10(x)) % 2 else f"{x:.6g}"


def set_axes(axes, xlabel, ylabel, xlim, ylim, xscale, yscale, legend):
    """Set the labels, limits, scales and legend of a pair of axes, and draw a grid."""
    axes.set(xlabel=xlabel, ylabel=ylabel, xscale=xscale, yscale=yscale, xlim=xlim, ylim=ylim)
    for axis in (axes.xaxis, axes.yaxis):
        if axis.get_scale() == "log":
            axis.set_major_formatter(Decades())
            axis.set_minor_formatter(Decades())
    if legend:
        axes.legend(legend)
    axes.grid(True, color="#DDDDDD")
    axes.set_axisbelow(True)


def plot(
    X,
    Y=None,
    xlabel=None,
    ylabel=None,
    legend=(),
    xlim=None,
    ylim=None,
    xscale="linear",
    yscale="linear",
    fmts=("-", "--", "-.", ":"),
    figsize=(3.5, 2.5),
    axes=None,
):
    """Plot curves: one or several Y over one or several X, or over 0, 1, 2, … if X stands alone.

    X and Y are sequences of numbers, one curve, or sequences of such sequences, one curve each; one X serves all Y.
    """
    X, Y = ([None], _curves(X)) if Y is None else (_curves(X), _curves(Y))
    X = X * len(Y) if len(X) == 1 else X
    if len(X) != len(Y):
        raise ValueError(f"plot got {len(X)} sequences of x for {len(Y)} of y")
    set_figsize(figsize)
    axes = axes or plt.gca()
    axes.cla()
    for x, y, fmt in zip(X, Y, cycle(fmts), strict=False):
        axes.plot(range(len(y)) if x is None else x, y, fmt)
    set_axes(axes, xlabel, ylabel, xlim, ylim, xscale, yscale, legend)
    names = list(legend) or [f"curve {i + 1}" for i in range(len(Y))]
    ends = [f"{name} from {y[0]:.3g} to {y[-1]:.3g}" for name, y in zip(names, Y, strict=False) if len(y)]
    axes.set_label(f"Plot of {ylabel or 'y'} over {xlabel or 'x'}: {'; '.join(ends)}.")


def _curves(data):
    """Return a list of one-dimensional NumPy arrays."""
    if getattr(data, "ndim", None) == 1 or all(np.ndim(x) == 0 for x in data):
        data = [data]
    return [np.asarray([float(value) for value in curve]) for curve in data]
