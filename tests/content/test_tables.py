"""The tables of devices in d2l_lab/tables/hardware.csv: each row is complete, plausible and fits its neighbours."""

import csv
import math
import re
from collections import defaultdict
from dataclasses import fields, replace
from datetime import date, timedelta
from pathlib import Path

import pytest

from d2l_lab.machine.datasheets import FOLDER, UNITS, Specification, Specifications, specifications


def read_csv(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


TABLES = ("memory", "storage", "links", "accelerators", "cpus", "training", "latency")
HERE = Path(__file__).parent
# The units and the range of plausible values, in SI units, of a quantity or, in the table of latencies, of a name.
# A slip of a thousand does not fit, except where `contradictions` finds it: bandwidths, random reads.
RANGES = {row["kind"]: row for row in read_csv(HERE / "ranges.csv")}
SLIPS = read_csv(HERE / "slips.csv")  # a text that is wrong in a column of a row, and the faults that the check finds
DAY = re.compile(r"20[1-9]\d-\d\d-\d\d")
ADDRESS = re.compile(r"https://[\w.-]+\.[a-z]{2,}(/[^\s()\[\]<>|]*)?")


def read():
    return [row for table in TABLES for row in specifications(table)]


def malformed(rows):
    tomorrow = (date.today() + timedelta(days=1)).isoformat()  # it may be so somewhere else
    for row in rows:
        ours = row.source.startswith("measured for this book")
        optional = {"note", "derivation", "url" if ours else "published"}
        valid = {
            name: (text or name in optional) and text == text.strip() and "|" not in text
            for name, text in vars(row).items()
        }
        valid["url"] = bool(ADDRESS.fullmatch(row.url)) or (ours and not row.url)
        valid["published"] &= not row.published or bool(DAY.fullmatch(row.published))
        valid["accessed"] = bool(DAY.fullmatch(row.accessed)) and row.published <= row.accessed <= tomorrow
        yield from (f"{row.name}, {row.quantity}: {name}" for name, good in valid.items() if not good)


def implausible(rows):
    for row in rows:
        kind = f"{row.quantity} of a disk" if "(disk)" in row.name else row.quantity
        if row.table == "latency":
            kind = f"{row.table}: {row.name}"
        known = RANGES.get(kind, {"units": ""})
        if row.unit not in known["units"].split() or not float(known["low"]) <= row.si <= float(known["high"]):
            yield f"{row.name}, {row.quantity}: {row}"


def silent_disagreements(rows):
    cells = defaultdict(list)
    for row in rows:
        cells[row.table, row.name, row.quantity].append(row)
    for key, cell in cells.items():
        if len(cell) > 1 and not all("disagree" in row.note or "range" in row.note for row in cell):
            yield ", ".join(key)
        if len({row.value for row in cell}) < len(cell):
            yield f"{', '.join(key)}: twice the same"


def close(a, b, tolerance=0.005):
    return math.isclose(a, b, rel_tol=tolerance)


def contradictions(rows):
    """Yield what is wrong with each device by what another figure of it, or a related device, says."""
    tables = {table: Specifications(row for row in rows if row.table == table) for table in TABLES}
    rules = {"memory": memory, "links": link, "storage": drive, "accelerators": accelerator, "cpus": cpu}
    for table, rule in rules.items():
        for row in tables[table]:
            for wrong, reason in rule(row, tables[table]):
                if wrong:
                    yield f"{row.name}, {row.quantity}: {reason}"


def memory(row, table):
    if row.quantity == "bandwidth":
        bits = table.value(row.name, "transfer rate") * table.value(row.name, "width")
        yield not close(row.si, bits / 8), "transfers × width / 8"


def link(row, table):
    whole = table.value(row.name, "bandwidth") if row.quantity in ("links", "line rate") else 0
    if row.name.startswith("PCIe") and row.name.endswith(" x16") and "payload" not in row.convention:
        one, four = (table.value(row.name.replace("x16", lanes), "bandwidth") for lanes in ("x1", "x4"))
        yield not (close(row.si, 16 * one) and close(row.si, 4 * four)), "lanes"
        if not row.name.startswith("PCIe 3"):
            before = table.value(f"PCIe {int(row.name[5]) - 1}.0 x16", "bandwidth")
            yield not close(row.si, 2 * before, 0.05), "twice the generation before"
    if row.quantity == "links":
        yield not close(whole, row.si * table.value(row.name, "bandwidth per link")), "links × bandwidth per link"
    if row.quantity == "line rate":
        yield not close(whole, row.si), "Gbit/s / 8"
        yield row.name.startswith("Ethernet") and f" {row.value} Gbit/s" not in row.name, "name"


def drive(row, table):
    if row.quantity == "random read" and "4 KiB" in row.convention:
        rates = [other.si for other in table.rows_of(row.name, "sequential read")]
        yield any(row.si * 4096 > rate for rate in rates), "random reads faster than sequential ones"
    if row.quantity == "seek":
        yield not row.si < table.value(row.name, "latency") < 2 * row.si, "latency is the seek and half a turn"


def accelerator(row, table):
    peak, bandwidth = (table.value(row.name, quantity) for quantity in ("16-bit peak", "memory bandwidth"))
    yield (
        row.quantity in ("16-bit achieved", "16-bit, 8192³", "float32 peak", "TF32 peak") and not row.si < peak,
        "beyond the peak",
    )
    yield row.quantity == "8-bit peak" and not close(row.si, 2 * peak), "twice the rate with half of the bits"
    yield row.quantity == "4-bit peak" and row.si < 3.99 * peak, "four times the rate with a quarter of the bits"
    yield row.quantity == "copy bandwidth" and not row.si < bandwidth, "a copy beyond the memory"
    yield row.quantity.endswith("-bit peak") and "dense" not in row.convention, "dense or sparse?"
    yield row.quantity == "memory bandwidth" and not 100 < peak / row.si < 600, "flop per byte"


def cpu(row, table):
    if row.quantity == "memory bandwidth":
        channels, transfers, width = map(int, re.findall(r"(\d+) (?:channels|MT/s|B\b)", row.derivation))
        yield channels != table.value(row.name, "memory channels"), "channels"
        yield not close(row.si, channels * transfers * 1e6 * width), "channels × transfers × bytes"
        levels = ["L1 data cache", "L2 cache", "L3 cache"]
        if row.name.startswith("Apple"):  # its cores have no L3 cache
            levels.pop()
        sizes = [cache.si for level in levels for cache in table.rows_of(row.name, level)]
        yield sizes != sorted(set(sizes)) or len(sizes) < len(levels), "caches"


CHECKS = {check.__name__: check for check in (malformed, implausible, silent_disagreements, contradictions)}


@pytest.mark.parametrize("check", CHECKS)
def test_the_file_has_nothing(check):
    assert list(CHECKS[check](read())) == []


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: f"{slip['name']}, {slip['quantity']}: {slip['text']}")
def test_a_slip_is_found(slip):
    rows = read()
    place = [(row.name, row.quantity) for row in rows].index((slip["name"], slip["quantity"]))
    rows[place] = replace(rows[place], **{slip["column"]: slip["text"]})
    assert len(list(CHECKS[slip["check"]](rows))) == int(slip["count"])


def test_what_the_sections_say_of_ridges_is_so_in_the_table():
    table = specifications("accelerators")
    names = ("V100 SXM2", "A100 SXM 80 GB", "H100 SXM", "H200 SXM", "B200 SXM")
    ridges = {name: table.value(name, "16-bit peak") / table.value(name, "memory bandwidth") for name in names}
    v100, a100, h100, h200, b200 = ridges.values()
    assert v100 < a100 < h100 > b200 > h200
    model, hardware = (
        (HERE.parents[1] / f"notebooks/{name}.md").read_text("utf-8") for name in ("performance-model", "hardware")
    )
    assert f"or {v100:.0f} flops per byte, and an H100 at 989 over 3.35, or {h100:.0f}." in model
    assert f"The ridge lies at $989 / 4.8 = {h200:.0f}$" in model
    assert f"rose from {v100:.0f} (V100) to {a100:.0f} (A100) and {h100:.0f} (H100), but an H200" in hardware
    assert f"faster memory, has {h200:.0f}, and a B200 {b200:.0f}." in hardware
    assert f"= {h100:.0f}$ sequences, the ridge of an H100" in hardware


def test_the_file_has_only_what_its_reader_knows():
    rows = read_csv(FOLDER / "hardware.csv")
    assert list(rows[0]) == [field.name for field in fields(Specification)]
    assert tuple(dict.fromkeys(row["table"] for row in rows)) == TABLES
    assert {row["unit"] for row in rows} == UNITS.keys()
