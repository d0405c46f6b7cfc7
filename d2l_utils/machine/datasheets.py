"""Tables of devices (notebooks/data/hardware.csv), and what `make rack` recorded (notebooks/data/rack.json)."""

import csv
import json
from dataclasses import dataclass
from pathlib import Path

FOLDERS = (Path(__file__).parents[2] / "notebooks" / "data", Path(__file__).parents[1] / "tables")  # project, wheel
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
    "Tflop/s": 1e12,
    "bit": 1,
    "count": 1,
    "W": 1,
    "pJ": 1e-12,
}


@dataclass(frozen=True)
class Specification:
    """One value as the file has it; all fields are text.

    `published` is empty where a source bears no date, `url` where the figure was measured for this book.
    """

    table: str
    name: str
    quantity: str
    value: str
    unit: str
    convention: str
    source: str
    url: str
    published: str
    accessed: str
    note: str

    @property
    def si(self):
        """The value in bytes, bytes/s, flop/s, seconds, joules, Hz, 1/s, watts, bits (of a width) or as a count."""
        if self.unit not in UNITS:
            raise ValueError(f"unknown unit {self.unit!r} of {self.name}, {self.quantity}; known: {', '.join(UNITS)}")
        return float(self.value) * UNITS[self.unit]

    @property
    def place(self):
        """What tells the row's source from others: its address, or its name where it has none."""
        return self.url or self.source

    @property
    def number(self):
        """The value in at most four digits, or in groups of thousands."""
        return f"{float(self.value):,.0f}" if float(self.value) >= 10_000 else f"{float(self.value):.4g}"

    def __str__(self):
        return self.number + f" {self.unit}" * (self.unit != "count")


class Specifications(tuple):
    """The rows of one table, in the file's order. Jupyter shows them with one line a name and one column a quantity."""

    def __init__(self, rows):
        self.names = tuple(dict.fromkeys(row.name for row in self))
        self.quantities = tuple(dict.fromkeys(row.quantity for row in self))

    def value(self, name, quantity):
        """Return a value in SI units, the first row's where sources disagree; KeyError if there is none."""
        for row in self._cell(name, quantity):
            return row.si
        known = dict.fromkeys(row.quantity for row in self if row.name == name) or self.names
        raise KeyError(f"no {quantity!r} of {name!r}; known: {'; '.join(known)}")

    def _cell(self, name, quantity):
        return [row for row in self if (row.name, row.quantity) == (name, quantity)]

    def __repr__(self):
        widths = (max(map(len, self.names)), max(map(len, self.quantities)))
        return "\n".join(f"{row.name:<{widths[0]}}  {row.quantity:<{widths[1]}}  {row}" for row in self)

    def _repr_markdown_(self):
        turned = len(self.quantities) > len(self.names)
        down, across = (self.quantities, self.names) if turned else (self.names, self.quantities)
        numbers = {place: i for i, place in enumerate(dict.fromkeys(row.place for row in self), 1)}
        links = []
        for y in down:
            places = {row.place: row.url for row in self if y in (row.name, row.quantity)}
            links.append(", ".join(_link(i, places[place]) for place, i in numbers.items() if place in places))
        columns = [["quantity" if turned else "name", ":---", *down]]
        columns += [_column(x, [self._cell(x, y) if turned else self._cell(y, x) for y in down]) for x in across]
        columns.append(["source", ":---", *links])
        table = "\n".join("| " + " | ".join(line) + " |" for line in zip(*columns, strict=True))
        fold = "<details><summary>What the columns mean, and who says so</summary>"
        return "\n\n".join([table, fold, *self._footnotes(numbers), "</details>"])

    def _footnotes(self, numbers):
        """Return what each quantity means, what is odd about single values if anything is, and where they are from."""
        means = {q: dict.fromkeys(row.convention for row in self if row.quantity == q) for q in self.quantities}
        odd = dict.fromkeys(row.note for row in self if row.note)
        names = {note: dict.fromkeys(row.name for row in self if row.note == note) for note in odd}
        rows = {row.place: row for row in sorted(self, key=lambda row: "arithmetic" not in row.source)}
        yield " ".join(f"*{quantity}*: {'; '.join(texts)}." for quantity, texts in means.items())
        if odd:
            yield "\n".join(f"* {'; '.join(names[note])}: {note}." for note in odd)
        yield "\n".join(f"{i}. {_link(rows[p].source, rows[p].url)}, {_dates(rows[p])}" for p, i in numbers.items())


def _link(text, url):
    return f"[{text}]({url})" if url else str(text)


def _dates(row):
    """Return when the source was published, if it says so, and when it was read, if it is one to read."""
    return ", ".join([row.published] * bool(row.published) + [f"read {row.accessed}"] * bool(row.url))


def _column(head, cells):
    """Return a column of text. The unit stands in the head if there is one only, otherwise behind each number."""
    units = {row.unit for cell in cells for row in cell}
    if len(units) > 1 or units == {"count"}:
        texts = [" or ".join(map(str, cell)) for cell in cells]
    else:
        head = f"{head}, {units.pop()}"
        texts = [" or ".join(row.number for row in cell) for cell in cells]
    return [head, "---:", *(text or "–" for text in texts)]


def specifications(table, *names):
    """Return the rows of one table of the file, all or those whose names begin with one of `names`.

    The result is a sequence of Specification that Jupyter shows as a table; `value(name, quantity)` returns a float in
    SI units. ValueError if there is no such table or name, FileNotFoundError if there is no file.
    """
    path = next((folder / "hardware.csv" for folder in FOLDERS if (folder / "hardware.csv").exists()), None)
    if not path:
        raise FileNotFoundError(f"no hardware.csv in {' or '.join(map(str, FOLDERS))}")
    with path.open(encoding="utf-8", newline="") as file:
        rows = [Specification(**row) for row in csv.DictReader(file)]
    tables = dict.fromkeys(row.table for row in rows)
    if table not in tables:
        raise ValueError(f"unknown table {table!r}; known: {', '.join(tables)}")
    whole = Specifications(row for row in rows if row.table == table)
    chosen = Specifications(row for row in whole if not names or row.name.startswith(names))
    if not chosen:
        raise ValueError(f"no name in {table!r} begins with {' or '.join(names)}; known: {'; '.join(whole.names)}")
    return chosen


def rack():
    """Return what `make rack` has recorded: all-reduces between hosts that have a link each. Figures in SI units:

    date, cores   the day, and the cores of the machine that held the rack
    rate, delay   what its links were set to: bytes/s in each direction, seconds from host to host
    alpha, b      what a message between two hosts took: alpha + S / b seconds, fitted to `pingpong`
    pingpong      {"bytes": [S, …], "seconds": [medians]}
    rounds        how many runs are behind each figure
    runs          [{n, algorithm: "star", "direct" or "ring", bytes, predicted, seconds, low, high}, …]: seconds, the
                  measured ones a median and its quartiles

    FileNotFoundError if there is no record.
    """
    path = next((folder / "rack.json" for folder in FOLDERS if (folder / "rack.json").exists()), None)
    if not path:
        raise FileNotFoundError(f"no rack.json in {' or '.join(map(str, FOLDERS))}: make rack writes it")
    return json.loads(path.read_text(encoding="utf-8"))
