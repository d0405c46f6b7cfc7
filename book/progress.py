"""How far a notebook is: in place on a terminal, else one line when it starts and one when it ends."""

import sys
import time


class Progress:
    """The progress of one notebook of `total` code cells."""

    def __init__(self, title, total, stream=None):
        self.title, self.total, self.stream = title, total, stream or sys.stdout
        self.cell, self.started = 0, time.monotonic()
        self.terminal = self.stream.isatty()
        if not self.terminal:
            self.say(f"{title}: running {total} cells")

    @property
    def seconds(self):
        """The seconds since the start."""
        return time.monotonic() - self.started

    def at(self, cell):
        """Say that code cell number `cell` starts."""
        self.cell = cell
        self.tick()

    def tick(self):
        """Draw the line anew on a terminal."""
        if self.terminal:
            self.say(f"\r\x1b[K{self.title}: cell {self.cell} of {self.total}, {self.seconds:.0f} s", end="")

    def clear(self):
        """Take the line away, so that another can be printed."""
        if self.terminal:
            self.say("\r\x1b[K", end="")

    def done(self):
        """Say that the notebook is finished."""
        self.clear()
        self.say(f"{self.title}: {self.total} cells in {self.seconds:.0f} s")

    def say(self, text, end="\n"):
        print(text, end=end, file=self.stream, flush=True)
