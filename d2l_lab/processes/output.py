"""What a rank has printed, on the notebook's side: shown in the cell up to a number of lines, kept and searched."""

import sys
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from contextlib import suppress

from d2l_lab.processes.screen import Line, plain

LINES, WIDTH = 1000, 1000  # the lines of each stream of a rank that a cell shows, and their characters
MEMORY = 50_000_000  # bytes, roughly, of a rank's output that are kept
OVERHEAD = 150  # bytes that Python adds to a line


class Search:
    """A text that somebody waits for, and the first line that contains it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: str | None = None

    def look(self, lines: Iterable[str]) -> None:
        if self.found is None:
            self.found = next((line for line in lines if self.text in line), None)


class Output:
    """The lines of one rank, without colours, and the frames of its progress bars."""

    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.kept: deque[Line] = deque()
        self.size = self.dropped = 0
        self.searches: list[Search] = []
        self.printed: Counter[str] = Counter()  # by stream

    def keep(self, lines: Iterable[Line]) -> None:
        """Add lines, forget the oldest if there are too many, and search those that are new."""
        new = [(plain(line), stays) for line, stays in lines]
        self.kept.extend(new)
        self.size += sum(len(line) + OVERHEAD for line, _ in new)
        while self.size > MEMORY:
            line, stays = self.kept.popleft()
            self.size -= len(line) + OVERHEAD
            self.dropped += stays
        for search in self.searches:
            search.look(line for line, _ in new)

    def lines(self) -> list[str]:
        """Return the lines that are kept, as a terminal would show them."""
        note = [f"… {self.dropped} lines before these were not kept"] if self.dropped else []
        return note + [line for line, stays in self.kept if stays]

    def show(self, stream: str, lines: Iterable[Line]) -> None:
        """Print lines in the cell, behind the rank; of very many the first ones."""
        texts = []
        for line in (piece for text, stays in lines if stays for piece in _pieces(text)):
            self.printed[stream] += 1
            if self.printed[stream] <= LINES:
                texts.append(line)
            elif self.printed[stream] == LINES + 1:
                texts.append(f"… more than {LINES} lines: the rest is not shown")
        self._print(stream, texts)

    def close(self) -> None:
        """Print how many lines were not shown."""
        for stream, number in self.printed.items():
            if number > LINES:
                self._print(stream, [f"… {number - LINES} lines were not shown"])

    def _print(self, stream: str, texts: Iterable[str]) -> None:
        with suppress(OSError, ValueError):  # a closed stream must not keep us from reading on
            getattr(sys, stream).write("".join(f"[{self.rank}] {text}\n" for text in texts))


def _pieces(line: str) -> Iterator[str]:
    """Yield a line, or what fits into each of several if it is long."""
    if len(line) <= WIDTH:
        yield line
        return
    long = plain(line)
    for start in range(0, len(long), WIDTH):
        yield long[start : start + WIDTH]
