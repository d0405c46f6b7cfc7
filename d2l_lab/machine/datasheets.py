"""Tables of devices (d2l_lab/tables/hardware.csv), and what `make rack` recorded (d2l_lab/tables/rack.json)."""

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from d2l_lab.instruments.words import say, say_record

Say = Callable[..., str]  # what returns a fixed text in a language, as `d2l_lab.instruments.words.say` does
FOLDER = files("d2l_lab") / "tables"
UNITS = {
    "KiB": 2**10,
    "MiB": 2**20,
    "GB": 1e9,
    "Gbit/s": 1e9 / 8,
    "MB/s": 1e6,
    "GB/s": 1e9,
    "TB/s": 1e12,
    "ns": 1e-9,
    "µs": 1e-6,
    "ms": 1e-3,
    "GHz": 1e9,
    "MT/s": 1e6,
    "IOPS": 1,
    "images/s": 1,
    "Tflop/s": 1e12,
    "bit": 1,
    "count": 1,
    "W": 1,
}


@dataclass(frozen=True)
class Specification:
    """One row of the file; all fields are text.

    `derivation` says how a value was computed from the source's figures and is empty where the source gives it.
    `published` is empty where a source bears no date, `url` where the figure was measured for this book.
    """

    table: str
    name: str
    quantity: str
    value: str
    unit: str
    convention: str
    derivation: str
    source: str
    url: str
    published: str
    accessed: str
    note: str

    @property
    def si(self) -> float:
        """The value in bytes, bytes/s, flop/s, images/s, seconds, Hz, 1/s, watts, bits (width) or a count."""
        if self.unit not in UNITS:
            raise ValueError(f"unknown unit {self.unit!r} of {self.name}, {self.quantity}; known: {', '.join(UNITS)}")
        return float(self.value) * UNITS[self.unit]

    @property
    def origin(self) -> str:
        """What distinguishes the source from others: its address, or its name where it has none."""
        return self.url or self.source

    @property
    def number(self) -> str:
        """The value in at most four digits, or in groups of thousands."""
        return f"{float(self.value):,.0f}" if float(self.value) >= 10_000 else f"{float(self.value):.4g}"

    def __str__(self) -> str:
        return self.number if self.unit == "count" else f"{self.number} {self.unit}"


class Specifications(tuple[Specification, ...]):
    """The rows of one table, in the file's order.

    Jupyter shows the devices below each other, with a column for each quantity, or side by side, with a line for each
    quantity, if there are more quantities than devices. Units stand beside the quantities, sources in a fold.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """The names of devices, each once, in the file's order."""
        return tuple(dict.fromkeys(row.name for row in self))

    @property
    def quantities(self) -> tuple[str, ...]:
        """The quantities, each once, in the file's order."""
        return tuple(dict.fromkeys(row.quantity for row in self))

    def value(self, name: str, quantity: str) -> float:
        """Return a value in SI units, the first row's where sources disagree; KeyError if there is none."""
        rows = self.rows_of(name, quantity)
        if rows:
            return rows[0].si
        known = dict.fromkeys(row.quantity for row in self if row.name == name) or self.names
        raise KeyError(f"no {quantity!r} of {name!r}; known: {'; '.join(known)}")

    def rows_of(self, name: str, quantity: str) -> list[Specification]:
        """Return the rows of one quantity of one device: several where sources disagree."""
        return [row for row in self if (row.name, row.quantity) == (name, quantity)]

    def __repr__(self) -> str:
        names, quantities = (max(map(len, words)) for words in (self.names, self.quantities))
        return "\n".join(f"{row.name:<{names}}  {row.quantity:<{quantities}}  {row}" for row in self)

    def _repr_markdown_(self) -> str:
        return self.markdown()

    def markdown(self, say: Say = say, say_record: Callable[[str], str] = say_record) -> str:
        """Return the table with its notes and sources, in the words of these functions."""
        side_by_side = len(self.quantities) > len(self.names)
        heads = [say("figure") if side_by_side else say("name"), *map(say_record, self.names)]
        lines = [
            _line(say_record(quantity), [self.rows_of(name, quantity) for name in self.names], say)
            for quantity in self.quantities
        ]
        table = [heads, *lines] if side_by_side else list(map(list, zip(heads, *lines, strict=True)))
        rule = [":---", *["---:"] * (len(table[0]) - 1)]
        text = "\n".join("| " + " | ".join(line) + " |" for line in (table[0], rule, *table[1:]))
        summary = say("What the figures mean, and who says so")
        fold = f"<details><summary>{summary}</summary>"
        return "\n\n".join([text, fold, *self._footnotes(say, say_record), "</details>"])

    def _footnotes(self, say: Say, say_record: Callable[[str], str]) -> Iterator[str]:
        """Yield what each quantity means, notes on single values if there are any, and the sources."""
        meanings = []
        for quantity in self.quantities:
            conventions = dict.fromkeys(row.convention for row in self if row.quantity == quantity)
            told = say("; ").join(map(say_record, conventions))
            meanings.append(say("*{quantity}*: {meaning}.", quantity=say_record(quantity), meaning=told))
        yield " ".join(meanings)
        notes = []
        for note in dict.fromkeys(row.note for row in self if row.note):
            names = say("; ").join(
                say_record(name) for name in dict.fromkeys(row.name for row in self if row.note == note)
            )
            notes.append("* " + say("{names}: {note}.", names=names, note=say_record(note)))
        if notes:
            yield "\n".join(notes)
        firsts: dict[str, Specification] = {}
        for row in self:
            firsts.setdefault(row.origin, row)
        yield "\n".join(f"{i}. {self._source(row, say, say_record)}" for i, row in enumerate(firsts.values(), 1))

    def _source(self, first: Specification, say: Say, say_record: Callable[[str], str]) -> str:
        """Return a source as text: its link, its dates, and the devices that it speaks of unless it speaks of all."""
        rows = [row for row in self if row.origin == first.origin]
        names = tuple(dict.fromkeys(row.name for row in rows))
        told = say(": ") + say(", ").join(map(say_record, names)) if names != self.names else ""
        remark = say("; some figures computed from it") if any(row.derivation for row in rows) else ""
        published = say(", ") + first.published if first.published else ""
        read = say(", read {day}", day=first.accessed) if first.url else ""
        return f"{_link(first.source, first.url)}{published}{read}{told}{remark}"


def _link(text: str, url: str) -> str:
    return f"[{text}]({url})" if url else text


def _line(head: str, cells: Sequence[Sequence[Specification]], say: Say) -> list[str]:
    """Return a quantity and its values as text. The unit follows the quantity, or each number if there are several."""
    units = {row.unit for cell in cells for row in cell}
    if len(units) > 1 or units == {"count"}:
        texts = [say(" or ").join(str(row) for row in cell) for cell in cells]
    else:
        head += say(", ") + units.pop()
        texts = [say(" or ").join(row.number for row in cell) for cell in cells]
    return [head, *(text or "–" for text in texts)]


def specifications_in(text: str) -> Specifications | None:
    """Return the rows of which this English text is the table in Markdown, None for any other text."""
    lines = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in text.split("\n") if line[:1] == "|"]
    if len(lines) < 3 or lines[0][0] not in ("figure", "name"):
        return None
    heads, firsts = set(lines[0]), {line[0] for line in lines[2:]}
    names, quantities = (heads, firsts) if lines[0][0] == "figure" else (firsts, heads)
    quantities |= {quantity.rpartition(", ")[0] for quantity in quantities}
    rows = [row for row in _all_rows() if row.name in names and row.quantity in quantities]
    for table in dict.fromkeys(row.table for row in rows):
        found = Specifications(row for row in rows if row.table == table)
        if found.markdown(lambda text, **fields: text.format(**fields), str) == text:
            return found
    return None


def _all_rows() -> list[Specification]:
    lines = (FOLDER / "hardware.csv").read_text(encoding="utf-8").splitlines()
    return [Specification(**row) for row in csv.DictReader(lines)]


def specifications(table: str, *names: str, quantities: Sequence[str] = ()) -> Specifications:
    """Return the rows of one table of devices: a sequence that Jupyter shows as a table.

    Its method `value(name, quantity)` returns a float in SI units.

    Parameters
    ----------
    table : str
        "memory", "storage", "links", "accelerators", "cpus", "training" or "latency".
    *names : str
        How the devices' names begin that are wanted; all devices without any.
    quantities : sequence of str
        The quantities that are wanted; all of them without any.

    Raises
    ------
    ValueError
        If there is no such table, name or quantity.
    """
    rows = _all_rows()
    tables = dict.fromkeys(row.table for row in rows)
    if table not in tables:
        raise ValueError(f"unknown table {table!r}; known: {', '.join(tables)}")
    whole = Specifications(row for row in rows if row.table == table)
    chosen = Specifications(row for row in whole if not names or row.name.startswith(names))
    if not chosen:
        raise ValueError(f"no name in {table!r} begins with {' or '.join(names)}; known: {'; '.join(whole.names)}")
    if unknown := [quantity for quantity in quantities if quantity not in whole.quantities]:
        raise ValueError(f"no {' or '.join(unknown)} in {table!r}; known: {'; '.join(whole.quantities)}")
    return Specifications(row for row in chosen if not quantities or row.quantity in quantities)


def rack_record() -> dict[str, Any]:
    """Return what `make rack` recorded: all-reduces between hosts with a link each.

    Returns
    -------
    dict
        All figures are in SI units.
        ``date``, ``cores``: the day, and the cores of the machine that held the rack.
        ``rate``, ``delay``: what its links were set to, bytes/s in each direction and seconds from host to host.
        ``alpha``, ``b``: a message of S bytes between two hosts took alpha + S / b seconds, fitted to ``pingpong``.
        ``pingpong``: {"bytes": [S, …], "seconds": [medians]}.
        ``rounds``: how many runs are behind each figure.
        ``runs``: [{n, algorithm: "star" or "ring", bytes, predicted, seconds, low, high}, …], where
        ``seconds`` is the measured median, ``low`` and ``high`` its quartiles.
        ``slow``: the same rack once the link of one ``host`` was set to ``rate``: ``pairs[i][j]``, the median seconds
        of a message of ``bytes`` bytes from host i to host j or back, and by algorithm the median ``seconds`` in which
        all hosts summed ``sum`` bytes.
    """
    return json.loads((FOLDER / "rack.json").read_text(encoding="utf-8"))
