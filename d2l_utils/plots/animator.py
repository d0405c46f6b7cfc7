"""Curves that grow while a loop runs: one picture in Jupyter, redrawn in place."""

import sys
from time import monotonic

from matplotlib.figure import Figure

from d2l_utils.plots.curves import plot, set_figsize

PAUSE = 0.5  # seconds between two drawings: one costs about 50 ms, which the loop waits for


class Animator:
    """Draw curves point by point; their numbers stand in the lists `X` and `Y`, one list of numbers a curve.

    In Jupyter the first point shows the picture. The next ones redraw it, twice a second at most and once at the end
    of the cell. Elsewhere nothing is drawn. Of several rows and columns of axes the first pair has the curves.
    """

    def __init__(
        self,
        xlabel=None,
        ylabel=None,
        legend=None,
        xlim=None,
        ylim=None,
        xscale="linear",
        yscale="linear",
        fmts=("-", "--", "-.", ":"),
        nrows=1,
        ncols=1,
        figsize=(3.5, 2.5),
    ):
        set_figsize(figsize)
        self.fig = Figure(figsize)  # not one of pyplot's, which Jupyter would show once more at the end of the cell
        self.axes = self.fig.subplots(nrows, ncols, squeeze=False).flatten()
        self.X, self.Y = [], []
        self._looks = (xlabel, ylabel, legend or (), xlim, ylim, xscale, yscale, fmts, figsize)
        self._shown, self._drawn = None, -PAUSE

    def add(self, x, y):
        """Add a point to each curve: y is a number or one for each curve, x is one for all or one for each.

        Where x or y is None, the curve gets no point. Every call gives as many y as the first, else ValueError.
        """
        y = _listed(y)
        x = _listed(x) if _is_sequence(x) else [x] * len(y)
        if not self.Y:
            self.X, self.Y = [[] for _ in y], [[] for _ in y]
        for xs, ys, a, b in zip(self.X, self.Y, x, y, strict=True):
            if a is not None and b is not None:
                xs.append(float(a))
                ys.append(float(b))
        self._show()

    def _show(self):
        """Draw now if the last drawing is old enough, and otherwise when the cell ends."""
        shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
        if not hasattr(shell, "kernel"):
            return
        if monotonic() - self._drawn >= PAUSE:
            self._draw()
        elif self._draw_last not in shell.events.callbacks["post_execute"]:
            shell.events.register("post_execute", self._draw_last)

    def _draw_last(self):
        sys.modules["IPython"].get_ipython().events.unregister("post_execute", self._draw_last)
        self._draw()

    def _draw(self):
        from IPython.display import display

        plot(self.X, self.Y, *self._looks, axes=self.axes[0])
        if self._shown is None:
            self._shown = display(self.fig, display_id=True)
        else:
            self._shown.update(self.fig)
        self._drawn = monotonic()


def _is_sequence(value):
    return isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) > 0


def _listed(value):
    return list(value) if _is_sequence(value) else [value]
