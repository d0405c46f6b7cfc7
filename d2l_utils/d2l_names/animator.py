"""Curves that grow while a loop runs: one picture in Jupyter, redrawn in place."""

from collections.abc import Sequence
from time import monotonic
from typing import Any

from matplotlib.figure import Figure

from d2l_lab.instruments.display import ipython_shell
from d2l_lab.plots.curves import plot, set_figsize

PAUSE = 0.5  # seconds between two drawings: one costs about 50 ms, which the loop waits for


class Animator:
    """Draw curves point by point; the lists `X` and `Y` hold their numbers, one list a curve.

    In Jupyter the first point shows the picture. The next ones redraw it, twice a second at most and once at the end
    of the cell. Elsewhere nothing is drawn.

    Parameters
    ----------
    xlabel, ylabel, legend, xlim, ylim, xscale, yscale, fmts
        As in `plot`.
    nrows, ncols : int
        The rows and columns of axes in the figure; the first pair of axes has the curves.
    figsize : tuple of float
        Width and height in inches.
    """

    def __init__(
        self,
        xlabel: str | None = None,
        ylabel: str | None = None,
        legend: Sequence[str] | None = None,
        xlim: Sequence[float] | None = None,
        ylim: Sequence[float] | None = None,
        xscale: str = "linear",
        yscale: str = "linear",
        fmts: Sequence[str] = ("-", "--", "-.", ":"),
        nrows: int = 1,
        ncols: int = 1,
        figsize: tuple[float, float] = (3.5, 2.5),
    ) -> None:
        set_figsize(figsize)
        self.fig = Figure(figsize)  # not one of pyplot's, which Jupyter would show once more at the end of the cell
        self.axes = self.fig.subplots(nrows, ncols, squeeze=False).flatten()
        self.X: list[list[float]] = []
        self.Y: list[list[float]] = []
        self._style = (xlabel, ylabel, legend or (), xlim, ylim, xscale, yscale, fmts, figsize)
        self._display: Any = None  # IPython's handle on the picture, once it is shown
        self._drawn = -PAUSE

    def add(self, x: Any, y: Any) -> None:
        """Add a point to each curve.

        Parameters
        ----------
        x : float or sequence of float
            One x for all curves, or one for each. A curve whose x or y is None gets no point.
        y : float or sequence of float
            One y for each curve; ValueError if their number differs from the first call's.
        """
        ys = _as_list(y)
        xs = _as_list(x) if _is_sequence(x) else [x] * len(ys)
        if not self.Y:
            self.X, self.Y = [[] for _ in ys], [[] for _ in ys]
        for curve_x, curve_y, a, b in zip(self.X, self.Y, xs, ys, strict=True):
            if a is not None and b is not None:
                curve_x.append(float(a))
                curve_y.append(float(b))
        self._show()

    def _show(self) -> None:
        """Draw now if the last drawing is old enough, and otherwise when the cell ends."""
        shell = ipython_shell()
        if not hasattr(shell, "kernel"):
            return
        if monotonic() - self._drawn >= PAUSE:
            self._draw()
        elif self._draw_last not in shell.events.callbacks["post_execute"]:
            shell.events.register("post_execute", self._draw_last)

    def _draw_last(self) -> None:
        ipython_shell().events.unregister("post_execute", self._draw_last)
        self._draw()

    def _draw(self) -> None:
        from IPython.display import display

        plot(self.X, self.Y, *self._style, axes=self.axes[0])
        if self._display is None:
            self._display = display(self.fig, display_id=True)
        else:
            self._display.update(self.fig)
        self._drawn = monotonic()


def _is_sequence(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) > 0


def _as_list(value: Any) -> list[Any]:
    return list(value) if _is_sequence(value) else [value]
