"""Levers on any training step: each promised, tested beside the step with all levers kept so far, kept or left out."""

from collections.abc import Callable

from d2l_utils.levers.totals import GAIN, aligned, milliseconds
from d2l_utils.plots.waterfall import Bar, waterfall
from d2l_utils.predictions import Prediction, predict
from d2l_utils.timing import Measurement, compare, measure, three_digits

AS_WRITTEN = "as written"
REPEATS = 5
BUDGET = 4.0  # seconds of a test, after which no further round starts


class Levers:
    """A training step, and what each change to it promised and obtained.

    Parameters
    ----------
    step : callable
        Trains for one minibatch, as it was first written, and waits for it. It is timed at once.
    items : int
        What a minibatch holds, for a rate.
    unit : str
        The name of these items: "tokens", "images".

    Attributes
    ----------
    seconds : float
        The seconds of a step with all levers that were kept so far.

    Raises
    ------
    ValueError
        For a minibatch without items.
    """

    def __init__(self, step: Callable[[], object], items: int, unit: str = "tokens"):
        if items < 1:
            raise ValueError(f"a minibatch holds at least one of its {unit}, not {items}")
        self._step, self._items, self._unit = step, items, unit
        self._promises: dict[str, float] = {}
        first = measure(step, REPEATS, BUDGET)
        self.seconds = first.median
        self._bars = [Bar(AS_WRITTEN, first.median, None, None, True)]
        print(f"{AS_WRITTEN}: {self._figures(first.median)}")

    def promise(self, lever: str, seconds: float) -> None:
        """State and print how many seconds a step will take with this lever and all those kept so far.

        Raises
        ------
        TypeError, ValueError
            If `seconds` is not a number above 0.
        """
        self._promises[lever] = predict(f"{lever}: step", seconds).value

    def test(self, lever: str, step: Callable[[], object]) -> bool:
        """Time the step with this lever in turn with the kept one; keep it if it gains 2 % or more.

        The ratio of the two counts: if the machine has become slower or faster since the kept step was timed, the
        lever's times are scaled to that time.

        Returns
        -------
        bool
            Whether the lever was kept.

        Raises
        ------
        ValueError
            If the lever has promised nothing.
        """
        if lever not in self._promises:
            raise ValueError(f"{lever!r} has promised nothing; call promise({lever!r}, seconds) before the test")
        before, after = compare({"without": self._step, "with": step}, REPEATS, BUDGET).values()
        drift = self.seconds / before.median
        time = Measurement(tuple(drift * seconds for seconds in after.seconds), after.number)
        promised = self._promises.pop(lever)
        kept = self.seconds > GAIN * time.median
        Prediction(f"{lever}: step", promised).compare(time)
        self._bars.append(Bar(lever, time.median, self.seconds - time.median, self.seconds - promised, kept))
        print(f"{lever}: {'kept' if kept else 'left out'}, {self._figures(time.median)}")
        if kept:
            self._step, self.seconds = step, time.median
        return kept

    def show(self) -> None:
        """Print the table of all levers, and draw the waterfall."""
        first = self._bars[0].seconds
        table = [("", "ms a step", f"{self._unit}/s", "gain", "promised", "obtained", "")]
        for bar in self._bars:
            rate, gain = f"{self._items / bar.seconds:,.0f}", f"{three_digits(first / bar.seconds)} ×"
            figures = (milliseconds(bar.seconds), rate, gain, milliseconds(bar.promised), milliseconds(bar.saved))
            table.append((bar.name, *figures, "" if bar.kept else "left out"))
        print(aligned(table))
        waterfall(self._bars)

    def _figures(self, seconds: float) -> str:
        return f"{milliseconds(seconds)} ms a step, {self._items / seconds:,.0f} {self._unit}/s"
