"""Figures: curves as D2L draws them, on white with dark text, in colours that the colour-blind tell apart.

A figure shown as SVG carries its description in the output's metadata, as the alternative text of the picture. Its
text is text, in the fonts and in the language of whoever reads it.
"""

from collections.abc import Sequence
from itertools import cycle
from typing import Any

import numpy as np
from cycler import cycler
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterSciNotation

from d2l_lab.instruments.display import ipython_shell
from d2l_lab.instruments.timing import minus
from d2l_lab.instruments.words import say_record
from d2l_lab.plots.words import in_words, phrase

# Contrast to white at least 3:1; all pairs stay apart for the three kinds of colour blindness (a test computes it).
COLORS = ("#0072B2", "#D55E00", "#767676", "#4A1942", "#9D0AFF", "#0A3D1F")
INK = "#222222"
STYLE = {
    "axes.prop_cycle": cycler(color=COLORS),
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "axes.facecolor": "white",
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],  # Verdana, where there is no DejaVu, is as wide
    "svg.fonttype": "none",
    "svg.hashsalt": "d2l",
}


def use_svg_display() -> None:
    """Show figures as SVG in Jupyter, in the chapter's style. Without Jupyter, set the style only."""
    plt.rcParams.update(STYLE)
    shell = ipython_shell()
    if shell is not None:
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        set_matplotlib_formats("svg")
        shell.display_formatter.formatters["image/svg+xml"].for_type(Figure, _svg)


def _svg(figure: Figure) -> tuple[str, dict[str, str]]:
    """Return the figure as SVG, without a date in it, and with its description as display metadata, both translated."""
    from IPython.core.pylabtools import print_figure

    texts = [str(axes.get_label()) for axes in figure.axes]
    description = " ".join(text for text in texts if text and not text.startswith("<"))
    metadata = {"alt": phrase(description, say_record)} if description else {}
    return in_words(print_figure(figure, "svg", metadata={"Date": None}), say_record), metadata


def set_figsize(figsize: tuple[float, float] = (3.5, 2.5)) -> None:
    """Set the size of the figures to come: width and height in inches."""
    use_svg_display()
    plt.rcParams["figure.figsize"] = figsize


class DecimalTicks(LogFormatterSciNotation):
    """Label a logarithmic axis in full, 0.1, 1, 10, 100, where all lie between 0.001 and 100000, else with powers.

    Where the longest labels would touch side by side, only every other one is written.
    """

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Return the label at x, which is empty at most of the minor ticks."""
        power = super().__call__(x, pos)
        axis: Any = self.axis
        low, high = sorted(axis.get_view_interval())
        if not power or low < 1e-4 or high > 1e6:
            return power
        crowded = axis.axis_name == "x" and high > 3e4 and high / low > 1e4
        if crowded and round(np.log10(x)) % 2:
            return ""
        return f"{x:.6g}"


def set_axes(
    axes: Axes,
    xlabel: str | None,
    ylabel: str | None,
    xlim: Sequence[float] | None,
    ylim: Sequence[float] | None,
    xscale: str,
    yscale: str,
    legend: Sequence[str] | None,
) -> None:
    """Set the labels, limits, scales and legend of a pair of axes, and draw a grid. Parameters as in `plot`."""
    axes.set(xlabel=xlabel, ylabel=ylabel, xscale=xscale, yscale=yscale, xlim=xlim, ylim=ylim)
    for axis in (axes.xaxis, axes.yaxis):
        if axis.get_scale() == "log":
            axis.set_major_formatter(DecimalTicks())
            axis.set_minor_formatter(DecimalTicks())
    if legend:
        axes.legend(legend)
    axes.grid(True, color="#DDDDDD")
    axes.set_axisbelow(True)


def plot(
    X: Any,
    Y: Any = None,
    xlabel: str | None = None,
    ylabel: str | None = None,
    legend: Sequence[str] = (),
    xlim: Sequence[float] | None = None,
    ylim: Sequence[float] | None = None,
    xscale: str = "linear",
    yscale: str = "linear",
    fmts: Sequence[str] = ("-", "--", "-.", ":"),
    figsize: tuple[float, float] = (3.5, 2.5),
    axes: Axes | None = None,
) -> None:
    """Plot curves: one or several Y over one or several X, or X over 0, 1, 2, … if it stands alone.

    Parameters
    ----------
    X, Y : sequence of float, or sequence of such sequences
        One curve, or one sequence for each curve; a single X serves all Y. ValueError if their numbers differ.
    xlabel, ylabel : str
        What stands along the axes.
    legend : sequence of str
        The curves' names.
    xlim, ylim : pair of float
        The ends of the axes.
    xscale, yscale : str
        "linear" or "log".
    fmts : sequence of str
        Matplotlib's formats of the curves, repeated if there are more curves.
    figsize : tuple of float
        Width and height in inches.
    axes : matplotlib.axes.Axes
        Where to draw, after removing what is there; pyplot's current axes by default.
    """
    ys = _curves(X if Y is None else Y)
    xs = [np.arange(len(y)) for y in ys] if Y is None else _curves(X)
    if len(xs) == 1:
        xs = xs * len(ys)
    if len(xs) != len(ys):
        raise ValueError(f"plot got {len(xs)} sequences of x for {len(ys)} of y")
    set_figsize(figsize)
    axes = axes or plt.gca()
    axes.cla()
    for x, y, fmt in zip(xs, ys, cycle(fmts), strict=False):
        axes.plot(x, y, fmt)
    set_axes(axes, xlabel, ylabel, xlim, ylim, xscale, yscale, legend)
    names = list(legend) or [f"curve {i + 1}" for i in range(len(ys))]
    ends = [
        f"{name} from {minus(f'{y[0]:.3g}')} to {minus(f'{y[-1]:.3g}')}"
        for name, y in zip(names, ys, strict=False)
        if len(y)
    ]
    axes.set_label(f"Plot of {ylabel or 'y'} over {xlabel or 'x'}: {'; '.join(ends)}.")


def _curves(data: Any) -> list[np.ndarray]:
    """Return a list of one-dimensional NumPy arrays, one a curve."""
    single = getattr(data, "ndim", None) == 1 or all(np.ndim(x) == 0 for x in data)
    curves = [data] if single else data
    return [np.asarray([float(value) for value in curve]) for curve in curves]
