"""The specification tables: each row is complete, plausible and fits its neighbours; and what a reader sees."""

import csv
import math
import re
from collections import defaultdict
from dataclasses import fields, replace
from datetime import date, timedelta

import pytest

from d2l_utils import specifications as module
from d2l_utils.specifications import UNITS, Specification, Specifications, specifications

TABLES = ("memory", "storage", "links", "accelerators", "cpus", "latency", "energy")
TIME = {"ns", "µs", "ms"}
RATE = {"MB/s", "GB/s", "TB/s"}
SIZE = {"KiB", "MiB", "GB"}
# What a quantity is measured in, and what is plausible in SI units; a slip of a thousand must not fit.
QUANTITIES = {
    "transfer rate": ({"MT/s"}, 1e9, 50e9),
    "width": ({"bit"}, 64, 4096),
    "bandwidth": (RATE, 0.1e9, 3e12),
    "bandwidth per link": (RATE, 10e9, 150e9),
    "links": ({"count"}, 1, 40),
    "line rate": ({"Gbit/s"}, 0.1e9, 250e9),
    "latency": (TIME, 0.1e-6, 0.05),
    "seek": (TIME, 1e-3, 0.02),
    "sequential read": (RATE, 0.1e9, 50e9),
    "random read": ({"IOPS"}, 50, 2e7),
    "16-bit peak": ({"Tflop/s"}, 1e14, 1e16),
    "16-bit achieved": ({"Tflop/s"}, 1e14, 1e16),
    "float32 peak": ({"Tflop/s"}, 1e13, 5e14),
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
    "then": (TIME, 0.3e-9, 0.3),
    "today": (TIME, 0.3e-9, 0.3),
    "energy": ({"pJ"}, 1e-14, 1e-8),
}
LADDER = ("L1 cache", "L2 cache", "L3 cache", "main memory", "random SSD read", "random disk read")


def read():
    return [row for table in TABLES for row in specifications(table)]


def incomplete(rows):
    for row in rows:
        empty = [field.name for field in fields(row) if field.name != "note" and not getattr(row, field.name).strip()]
        if empty or any(text != text.strip() or "|" in text for text in vars(row).values()):
            yield f"{row.name}, {row.quantity}: {empty or 'spaces at an end, or a bar'}"


def implausible(rows):
    for row in rows:
        units, low, high = QUANTITIES.get(row.quantity, (set(), 0, 0))
        if row.unit not in units or row.unit not in UNITS or not low <= row.si <= high:
            yield f"{row.name}, {row.quantity}: {row}"


def badly_dated(rows):
    tomorrow = date.today() + timedelta(days=1)  # it may be so somewhere else
    for row in rows:
        try:
            wrong = not date(2009, 1, 1) <= date.fromisoformat(row.date) <= tomorrow
        except ValueError:
            wrong = True
        if wrong or len(row.date) != len("2026-11-21"):
            yield f"{row.name}, {row.quantity}: {row.date}"


def badly_linked(rows):
    address = re.compile(r"https://[\w.-]+\.[a-z]{2,}(/[^\s()\[\]<>|]*)?")
    return [f"{row.name}, {row.quantity}: {row.url}" for row in rows if not address.fullmatch(row.url)]


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


def memory_against_arithmetic(rows):
    memory = Specifications(row for row in rows if row.table == "memory")
    for name in memory.names:
        transfers, width, rate = (memory.value(name, q) for q in ("transfer rate", "width", "bandwidth"))
        if not close(rate, transfers * width / 8) or (name.startswith("DDR") and not close(rate, transfers * 8)):
            yield name


def links_against_arithmetic(rows):
    links = Specifications(row for row in rows if row.table == "links")
    for row in links:
        if row.name.startswith("PCIe") and row.name.endswith(" x16") and "payload" not in row.convention:
            generation = int(row.name[5])
            one, four = (links.value(row.name.replace("x16", lanes), "bandwidth") for lanes in ("x1", "x4"))
            if not close(row.si, 16 * one) or not close(row.si, 4 * four):
                yield f"{row.name}: lanes"
            if generation > 3 and not close(row.si, 2 * links.value(f"PCIe {generation - 1}.0 x16", "bandwidth"), 0.05):
                yield f"{row.name}: generations double"
        whole = links.value(row.name, "bandwidth") if row.quantity in ("links", "line rate") else None
        if row.quantity == "links" and not close(whole, row.si * links.value(row.name, "bandwidth per link")):
            yield f"{row.name}: links × bandwidth per link"
        if row.quantity == "line rate" and not close(whole, row.si):
            yield f"{row.name}: Gbit/s / 8"
        if row.quantity == "line rate" and row.name.startswith("Ethernet") and f" {row.value} Gbit/s" not in row.name:
            yield f"{row.name}: name"


def storage_against_arithmetic(rows):
    storage = Specifications(row for row in rows if row.table == "storage")
    for row in storage:
        if row.quantity == "random read" and "4 KiB" in row.convention:
            rates = [other.si for other in storage if (other.name, other.quantity) == (row.name, "sequential read")]
            if any(row.si * 4096 > rate for rate in rates):
                yield f"{row.name}: random reads faster than sequential"
        if row.quantity == "seek" and not row.si < storage.value(row.name, "latency") < 2 * row.si:
            yield f"{row.name}: latency is the seek and half a turn"


def accelerators_beyond_their_peak(rows):
    accelerators = Specifications(row for row in rows if row.table == "accelerators")
    for row in accelerators:
        peak = accelerators.value(row.name, "16-bit peak")
        if row.quantity in ("16-bit achieved", "float32 peak") and not row.si < peak:
            yield f"{row.name}, {row.quantity}"
        if row.quantity == "16-bit peak" and "dense" not in row.convention:
            yield f"{row.name}: dense or sparse?"
        if row.quantity == "memory bandwidth" and not 100 < peak / row.si < 600:
            yield f"{row.name}: flop per byte"


def cpus_against_arithmetic(rows):
    cpus = Specifications(row for row in rows if row.table == "cpus")
    for name in cpus.names:
        levels = ["L1 data cache", "L2 cache", "L3 cache"]
        if name.startswith("Apple"):  # its cores have no L3 cache
            levels.pop()
        sizes = [row.si for level in levels for row in cpus if (row.name, row.quantity) == (name, level)]
        if sizes != sorted(set(sizes)) or len(sizes) < len(levels):
            yield f"{name}: caches"
        (row,) = (row for row in cpus if (row.name, row.quantity) == (name, "memory bandwidth"))
        channels, transfers, width = map(int, re.findall(r"(\d+) (?:channels|MT/s|B\b)", row.source))
        if channels != cpus.value(name, "memory channels") or not close(row.si, channels * transfers * 1e6 * width):
            yield f"{name}: memory bandwidth"


def ladder_out_of_order(rows):
    latency = Specifications(row for row in rows if row.table == "latency")
    for era in ("then", "today"):
        rungs = [[row.si for row in latency if (row.name, row.quantity) == (name, era)] for name in LADDER]
        rungs = [rung for rung in rungs if rung]
        yield from (f"{era}: {a} {b}" for a, b in zip(rungs, rungs[1:], strict=False) if not max(a) < min(b))


def eras_far_apart(rows):
    latency = Specifications(row for row in rows if row.table == "latency")
    for name in latency.names:
        values = [row.si for row in latency if row.name == name]
        if max(values) > 25 * min(values):
            yield name


def energies_out_of_order(rows):
    energy = Specifications(row for row in rows if row.table == "energy")
    order = ("float32 add", "float32 multiply", "read from 8 KiB of SRAM", "read from 1 MiB of SRAM", "read from DRAM")
    values = [energy.value(name, "energy") for name in order]
    return [] if values == sorted(values) else values


CHECKS = (
    incomplete,
    implausible,
    badly_dated,
    badly_linked,
    silent_disagreements,
    memory_against_arithmetic,
    links_against_arithmetic,
    storage_against_arithmetic,
    accelerators_beyond_their_peak,
    cpus_against_arithmetic,
    ladder_out_of_order,
    eras_far_apart,
    energies_out_of_order,
)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_file_has_nothing(check):
    assert list(check(read())) == []


@pytest.mark.parametrize(
    ("check", "name", "quantity", "change"),
    [
        (incomplete, "HBM3", "bandwidth", {"convention": ""}),
        (incomplete, "HBM3", "bandwidth", {"source": " "}),
        (incomplete, "HBM3", "bandwidth", {"name": "HBM3 "}),
        (implausible, "HBM3", "bandwidth", {"unit": "GB"}),
        (implausible, "HBM3", "bandwidth", {"unit": "Gb/s"}),
        (implausible, "NVLink 4", "bandwidth", {"unit": "TB/s"}),
        (implausible, "NVLink 4", "bandwidth", {"quantity": "speed"}),
        (implausible, "main memory", "today", {"unit": "ms", "value": "1000"}),
        (implausible, "L1 cache", "today", {"value": "0"}),
        (badly_dated, "HBM4", "width", {"date": "2999-01-01"}),
        (badly_dated, "HBM4", "width", {"date": "April 2025"}),
        (badly_dated, "HBM4", "width", {"date": "20250416"}),
        (badly_linked, "HBM4", "width", {"url": "http://jedec.org/"}),
        (badly_linked, "HBM4", "width", {"url": "https://jedec.org/a b"}),
        (silent_disagreements, "B200 SXM", "memory bandwidth", {"note": ""}),
        (silent_disagreements, "HBM3", "bandwidth", {"name": "HBM2e"}),
        (silent_disagreements, "read from DRAM", "energy", {"note": ""}),
        (memory_against_arithmetic, "HBM3", "bandwidth", {"value": "820.0e1"}),
        (memory_against_arithmetic, "HBM4", "width", {"value": "1024"}),
        (memory_against_arithmetic, "DDR5-4800", "transfer rate", {"value": "5600"}),
        (links_against_arithmetic, "PCIe 4.0 x16", "bandwidth", {"value": "32"}),
        (links_against_arithmetic, "PCIe 5.0 x4", "bandwidth", {"value": "16"}),
        (links_against_arithmetic, "PCIe 6.0 x1", "bandwidth", {"value": "8"}),
        (links_against_arithmetic, "NVLink 2", "bandwidth per link", {"value": "18"}),
        (links_against_arithmetic, "NVLink 4", "bandwidth", {"value": "900"}),
        (links_against_arithmetic, "Ethernet 100 Gbit/s", "bandwidth", {"value": "100"}),
        (links_against_arithmetic, "Ethernet 100 Gbit/s", "line rate", {"value": "10"}),
        (links_against_arithmetic, "InfiniBand NDR 4x", "bandwidth", {"value": "40"}),
        (storage_against_arithmetic, "Samsung 870 EVO (SATA)", "random read", {"value": "980000"}),
        (storage_against_arithmetic, "WD Ultrastar DC HC310 (disk)", "latency", {"value": "4.16"}),
        (accelerators_beyond_their_peak, "H100 SXM", "16-bit achieved", {"value": "1979"}),
        (accelerators_beyond_their_peak, "H100 SXM", "float32 peak", {"value": "989.4"}),
        (accelerators_beyond_their_peak, "H100 SXM", "16-bit peak", {"convention": "sparse"}),
        (accelerators_beyond_their_peak, "H100 SXM", "memory bandwidth", {"value": "33.5"}),
        (cpus_against_arithmetic, "AWS Graviton4", "L2 cache", {"value": "2048"}),
        (cpus_against_arithmetic, "AWS Graviton4", "L3 cache", {"quantity": "L4 cache"}),
        (cpus_against_arithmetic, "Apple M3 Max", "L2 cache", {"value": "0.125"}),
        (cpus_against_arithmetic, "Apple M3 Max", "L1 data cache", {"quantity": "L1 cache"}),
        (cpus_against_arithmetic, "AWS Graviton4", "memory channels", {"value": "8"}),
        (cpus_against_arithmetic, "AMD EPYC 9654", "memory bandwidth", {"value": "480"}),
        (ladder_out_of_order, "L2 cache", "then", {"value": "0.4"}),
        (ladder_out_of_order, "random SSD read", "today", {"value": "20000"}),
        (eras_far_apart, "system call", "today", {"unit": "µs"}),
        (eras_far_apart, "1 MB from SSD", "then", {"value": "10"}),
        (energies_out_of_order, "float32 multiply", "energy", {"value": "37"}),
    ],
)
def test_a_slip_is_found(check, name, quantity, change):
    rows = read()
    (place, *_) = (i for i, row in enumerate(rows) if (row.name, row.quantity) == (name, quantity))
    rows[place] = replace(rows[place], **change)
    assert list(check(rows))


def test_each_quantity_is_in_use_and_each_unit_too():
    rows = read()
    assert {row.quantity for row in rows} == QUANTITIES.keys()
    assert {row.unit for row in rows} == UNITS.keys()


def test_the_file_has_just_these_tables_and_columns():
    path = module.FOLDERS[0] / "hardware.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [field.name for field in fields(Specification)]
    assert tuple(dict.fromkeys(row["table"] for row in rows)) == TABLES
    assert len(rows) == len(read())


ROW = Specification("links", "bus", "speed", "25", "GB/s", "one way", "a", "https://a.org", "2026-01-01", "")


def test_a_value_is_in_si_units():
    assert specifications("links").value("Ethernet 10 Gbit/s", "bandwidth") == 1.25e9
    assert specifications("latency").value("main memory", "then") == pytest.approx(100e-9)
    assert specifications("cpus").value("AMD EPYC 9654", "L1 data cache") == 32 * 1024


def test_where_sources_disagree_the_first_row_counts():
    assert Specifications([ROW, replace(ROW, value="24")]).value("bus", "speed") == 25e9


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: specifications("link"), ValueError, ("link", "memory", "energy")),
        (lambda: specifications("links", "PCIE"), ValueError, ("PCIE", "PCIe 3.0 x1")),
        (lambda: specifications("links").value("NVLink 9", "bandwidth"), KeyError, ("NVLink 9", "NVLink 4")),
        (lambda: specifications("links").value("NVLink 4", "speed"), KeyError, ("speed", "bandwidth per link")),
        (lambda: replace(ROW, unit="Gb/s").si, ValueError, ("Gb/s", "bus", "Gbit/s")),
    ],
)
def test_an_error_names_what_is_known(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert all(word in str(caught.value) for word in words)


def test_a_missing_file_is_named_with_its_folders(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "FOLDERS", (tmp_path / "one", tmp_path / "two"))
    with pytest.raises(FileNotFoundError, match=r"no hardware.csv in .*one or .*two"):
        specifications("links")


def test_names_choose_rows_by_their_beginning():
    assert specifications("links", "NVLink", "SATA").names == ("SATA 3", *(f"NVLink {i}" for i in range(1, 6)))


def test_a_table_shows_one_line_a_name_with_the_unit_in_the_heading():
    table = Specifications([ROW, replace(ROW, name="net", value="1.25"), replace(ROW, value="24", url="https://b.org")])
    assert table._repr_markdown_().splitlines()[:4] == [
        "| name | speed, GB/s | source |",
        "| :--- | ---: | :--- |",
        "| bus | 25 or 24 | [1](https://a.org), [2](https://b.org) |",
        "| net | 1.25 | [1](https://a.org) |",
    ]


def test_a_column_of_several_units_has_them_in_its_cells():
    text = Specifications([ROW, replace(ROW, name="net", unit="MB/s", value="12500")])._repr_markdown_()
    assert "| bus | 25 GB/s |" in text
    assert "| net | 12,500 MB/s |" in text


def test_more_quantities_than_names_turn_the_table():
    text = Specifications([ROW, replace(ROW, quantity="ports", unit="count", value="4")])._repr_markdown_()
    assert text.splitlines()[0] == "| quantity | bus | source |"
    assert "| ports | 4 |" in text


def test_below_a_table_stand_conventions_notes_and_dated_sources():
    text = Specifications([replace(ROW, note="odd"), replace(ROW, name="net", note="odd")])._repr_markdown_()
    assert text.split("\n\n")[1:] == ["*speed*: one way.", "* bus; net: odd.", "1. [a](https://a.org), 2026-01-01"]


def test_every_table_has_as_many_cells_in_each_line():
    for table in TABLES:
        lines = specifications(table)._repr_markdown_().split("\n\n")[0].splitlines()
        assert len({line.count("|") for line in lines}) == 1


def test_plain_text_has_a_line_a_row():
    assert repr(Specifications([ROW, replace(ROW, name="net")])) == "bus  speed  25 GB/s\nnet  speed  25 GB/s"


def test_an_installed_package_reads_its_own_copy(tmp_path, monkeypatch):
    (tmp_path / "hardware.csv").write_text((module.FOLDERS[0] / "hardware.csv").read_text("utf-8"), "utf-8")
    monkeypatch.setattr(module, "FOLDERS", (tmp_path / "nothing", tmp_path))
    assert specifications("links").value("SATA 3", "bandwidth") == pytest.approx(0.6e9)
