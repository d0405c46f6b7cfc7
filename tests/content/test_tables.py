"""The tables of devices in notebooks/data/hardware.csv: each row is complete, plausible and fits its neighbours."""

import csv
import math
import re
from collections import defaultdict
from dataclasses import fields, replace
from datetime import date, timedelta

import pytest

from d2l_utils.machine.datasheets import FOLDERS, UNITS, Specification, Specifications, specifications

TABLES = ("memory", "storage", "links", "accelerators", "cpus", "latency", "energy")
TIME, RATE, SIZE = {"ns", "µs", "ms"}, {"MB/s", "GB/s", "TB/s"}, {"KiB", "MiB", "GB"}
# The units and the range of plausible values, in SI units, of a quantity or, in the tables of latency and energy, of a
# name. A slip of a thousand does not fit, except where `contradictions` finds it: bandwidths, random reads.
SCHEMA = {
    "transfer rate": ({"MT/s"}, 1e9, 50e9),
    "width": ({"bit"}, 32, 4096),
    "bandwidth": (RATE, 0.1e9, 3e12),
    "bandwidth per link": (RATE, 10e9, 150e9),
    "links": ({"count"}, 1, 40),
    "line rate": ({"Gbit/s"}, 0.12e9, 110e9),
    "latency": (TIME, 0.5e-6, 200e-6),
    "latency of a disk": (TIME, 5e-3, 0.02),
    "seek of a disk": (TIME, 1e-3, 0.02),
    "sequential read": (RATE, 0.1e9, 50e9),
    "sequential read of a disk": (RATE, 0.1e9, 0.6e9),
    "random read": ({"IOPS"}, 2000, 4e6),
    "random read of a disk": ({"IOPS"}, 50, 300),
    "16-bit peak": ({"Tflop/s"}, 1e14, 1e16),
    "16-bit achieved": ({"Tflop/s"}, 1e14, 1e16),
    "float32 peak": ({"Tflop/s"}, 1e13, 5e14),
    "copy bandwidth": (RATE, 0.2e12, 30e12),
    "power": ({"W"}, 100, 2000),
    "memory": (SIZE, 8e9, 1e12),
    "memory bandwidth": (RATE, 0.2e12, 30e12),
    "cores": ({"count"}, 2, 512),
    "largest clock": ({"GHz"}, 1e9, 7e9),
    "vector width": ({"bit"}, 128, 512),
    "FMA units": ({"count"}, 1, 8),
    "memory channels": ({"count"}, 1, 32),
    "L1 data cache": (SIZE, 16e3, 256e3),
    "L2 cache": (SIZE, 0.2e6, 64e6),
    "L3 cache": (SIZE, 4e6, 1.2e9),
    "latency: L1 cache": (TIME, 0.3e-9, 9e-9),
    "latency: L2 cache": (TIME, 1e-9, 30e-9),
    "latency: L3 cache": (TIME, 4e-9, 120e-9),
    "latency: main memory": (TIME, 20e-9, 600e-9),
    "latency: system call": (TIME, 50e-9, 1.5e-6),
    "latency: context switch": (TIME, 1e-6, 30e-6),
    "latency: GPU kernel launch": (TIME, 1e-6, 30e-6),
    "latency: random SSD read": (TIME, 10e-6, 300e-6),
    "latency: 1 MB from memory": (TIME, 10e-6, 300e-6),
    "latency: 1 MB from SSD": (TIME, 50e-6, 1.5e-3),
    "latency: datacenter round trip": (TIME, 50e-6, 1.5e-3),
    "latency: random disk read": (TIME, 2e-3, 60e-3),
    "latency: 1 MB from disk": (TIME, 2e-3, 60e-3),
    "latency: California to Europe and back": (TIME, 50e-3, 1.5),
    "energy: int32 add": ({"pJ"}, 0.03e-12, 0.9e-12),
    "energy: int32 multiply": ({"pJ"}, 0.3e-12, 9e-12),
    "energy: float16 add": ({"pJ"}, 0.1e-12, 3e-12),
    "energy: float16 multiply": ({"pJ"}, 0.3e-12, 9e-12),
    "energy: float32 add": ({"pJ"}, 0.1e-12, 3e-12),
    "energy: float32 multiply": ({"pJ"}, 0.3e-12, 9e-12),
    "energy: read from 8 KiB of SRAM": ({"pJ"}, 2e-12, 60e-12),
    "energy: read from 32 KiB of SRAM": ({"pJ"}, 4e-12, 120e-12),
    "energy: read from 1 MiB of SRAM": ({"pJ"}, 20e-12, 600e-12),
    "energy: read from DRAM": ({"pJ"}, 300e-12, 9e-9),
}
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
        if row.table in ("latency", "energy"):
            kind = f"{row.table}: {row.name}"
        units, low, high = SCHEMA.get(kind, (set(), 0, 0))
        if row.unit not in units or not low <= row.si <= high:
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
    yield row.quantity in ("16-bit achieved", "float32 peak") and not row.si < peak, "beyond the peak"
    yield row.quantity == "copy bandwidth" and not row.si < bandwidth, "a copy beyond the memory"
    yield row.quantity == "16-bit peak" and "dense" not in row.convention, "dense or sparse?"
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


CHECKS = (malformed, implausible, silent_disagreements, contradictions)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_file_has_nothing(check):
    assert list(check(read())) == []


@pytest.mark.parametrize(
    ("check", "name", "quantity", "change", "count"),
    [
        (malformed, "HBM3", "bandwidth", {"convention": ""}, 1),
        (malformed, "HBM3", "bandwidth", {"name": "HBM3 "}, 1),
        (malformed, "HBM4", "width", {"accessed": "2999-01-01"}, 1),
        (malformed, "HBM3", "bandwidth", {"published": "2999-01-01"}, 2),
        (malformed, "HBM3", "bandwidth", {"accessed": ""}, 1),
        (malformed, "H200 SXM", "copy bandwidth", {"published": ""}, 1),
        (malformed, "HBM4", "width", {"url": "http://jedec.org/"}, 1),
        (implausible, "HBM3", "bandwidth", {"unit": "GB"}, 1),
        (implausible, "main memory", "today", {"unit": "µs"}, 1),
        (silent_disagreements, "B200 SXM", "memory bandwidth", {"note": ""}, 1),
        (silent_disagreements, "HBM3", "bandwidth", {"name": "HBM2e"}, 1),
        (contradictions, "HBM4", "width", {"value": "1024"}, 1),
        (contradictions, "PCIe 4.0 x16", "bandwidth", {"value": "32"}, 1),
        (contradictions, "PCIe 6.0 x1", "bandwidth", {"value": "8"}, 1),
        (contradictions, "NVLink 4", "bandwidth", {"value": "900"}, 1),
        (contradictions, "Ethernet 100 Gbit/s", "bandwidth", {"value": "100"}, 1),
        (contradictions, "Ethernet 100 Gbit/s", "line rate", {"value": "10"}, 2),
        (contradictions, "Samsung 870 EVO (SATA)", "random read", {"value": "980000"}, 1),
        (contradictions, "WD Ultrastar DC HC310 (disk)", "latency", {"value": "4.16"}, 1),
        (contradictions, "H100 SXM", "16-bit achieved", {"value": "1979"}, 1),
        (contradictions, "H100 SXM", "copy bandwidth", {"value": "3.4"}, 1),
        (contradictions, "H100 SXM", "16-bit peak", {"convention": "sparse"}, 1),
        (contradictions, "H100 SXM", "memory bandwidth", {"value": "33.5"}, 1),
        (contradictions, "AWS Graviton4", "L2 cache", {"value": "2048"}, 1),
        (contradictions, "AMD EPYC 9654", "memory bandwidth", {"value": "480"}, 1),
    ],
)
def test_a_slip_is_found(check, name, quantity, change, count):
    rows = read()
    places = [i for i, row in enumerate(rows) if (row.name, row.quantity) == (name, quantity)]
    rows[places[0]] = replace(rows[places[0]], **change)
    assert len(list(check(rows))) == count


def test_the_file_has_just_these_tables_columns_and_units():
    with (FOLDERS[0] / "hardware.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [field.name for field in fields(Specification)]
    assert tuple(dict.fromkeys(row["table"] for row in rows)) == TABLES
    assert {row["unit"] for row in rows} == UNITS.keys()


def test_every_table_shows_as_many_cells_in_each_line():
    for table in TABLES:
        lines = specifications(table)._repr_markdown_().split("\n\n")[0].splitlines()
        assert len({line.count("|") for line in lines}) == 1
