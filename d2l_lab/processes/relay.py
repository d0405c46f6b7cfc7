"""A stream of a rank, read as it comes and passed on as lines."""

import os
import time
from codecs import getincrementaldecoder
from collections.abc import Callable
from select import select
from threading import Lock, Thread
from typing import IO

from d2l_lab.processes.screen import Line, Screen

CHUNK = 2**16  # bytes that are read at once


class Relay(Thread):
    """A thread that reads a pipe to its end.

    Parameters
    ----------
    pipe
        What is read; bytes that are no UTF-8 become replacement characters.
    pass_on
        Called with the lines and frames of each chunk in which there are any.
    """

    def __init__(self, pipe: IO[bytes] | None, pass_on: Callable[[list[Line]], None]) -> None:
        super().__init__(daemon=True)
        assert pipe
        self.pipe, self.pass_on = pipe.fileno(), pass_on
        self.screen, self.decoder = Screen(), getincrementaldecoder("utf-8")("replace")
        self.reading = Lock()  # held from taking a chunk until its lines have been passed on
        self.start()

    def run(self) -> None:
        chunk = b"unread"
        while chunk:
            select([self.pipe], [], [])
            with self.reading:
                chunk = os.read(self.pipe, CHUNK)
                lines = self.screen.feed(self.decoder.decode(chunk, final=not chunk))
                if not chunk:
                    lines += self.screen.end()
                if lines:
                    self.pass_on(lines)

    def catch_up(self, seconds: float) -> None:
        """Wait, at most for so many seconds, until all that was written is passed on, even what has no end of line.

        To be called when the writer has ended: one of its children may hold the pipe open for longer.
        """
        until = time.monotonic() + seconds
        while self.is_alive() and time.monotonic() < until:
            with self.reading:
                empty = not select([self.pipe], [], [], 0)[0]
                lines = self.screen.end() if empty else []
                if lines:
                    self.pass_on(lines)
            if empty:
                return
            time.sleep(0.005)
