"""The specification tables: each row is complete, plausible and fits its neighbours; and what a reader sees."""

import csv
import math
import re
from collections import defaultdict
from dataclasses import fields, replace
from datetime import date, timedelta

import pytest

from d2l_utils.machine import datasheets as module
from d2l_utils.machine.datasheets import UNITS, Specification, Specifications, specifications

TABLES = ("memory", "storage", "links", "accelerators", "cpus", "latency", "energy")
TIME = {"ns", "µs", "ms"}
RATE = {"MB/s", "GB/s", "TB/s"}
SIZE = {"KiB", "MiB", "GB"}
LEAST_SECONDS = {
    "L1 cache": 0.3e-9,
    "L2 cache": 1e-9,
    "L3 cache": 4e-9,
    "main memory": 20e-9,
    "system call": 50e-9,
    "context switch": 1e-6,
    "GPU kernel launch": 1e-6,
    "random SSD read": 10e-6,
    "1 MB from memory": 10e-6,
    "1 MB from SSD": 50e-6,
    "datacenter round trip": 50e-6,
    "random disk read": 2e-3,
    "1 MB from disk": 2e-3,
    "California to Europe and back": 50e-3,
}
LEAST_JOULES = {
    "int32 add": 0.03e-12,
    "int32 multiply": 0.3e-12,
    "float16 add": 0.1e-12,
    "float16 multiply": 0.3e-12,
    "float32 add": 0.1e-12,
    "float32 multiply": 0.3e-12,
    "read from 8 KiB of SRAM": 2e-12,
    "read from 32 KiB of SRAM": 4e-12,
    "read from 1 MiB of SRAM": 20e-12,
    "read from DRAM": 300e-12,
}
# What is plausible, in SI units, of a quantity or of a name in the tables of latency and energy. A slip of a thousand
# does not fit, except where the arithmetic below finds it: bandwidths and random reads.
PLAUSIBLE = {
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
    **{f"time of {name}": (TIME, low, 30 * low) for name, low in LEAST_SECONDS.items()},
    **{f"energy of {name}": ({"pJ"}, low, 30 * low) for name, low in LEAST_JOULES.items()},
}


def read():
    return [row for table in TABLES for row in specifications(table)]


def malformed(rows):
    tomorrow = (date.today() + timedelta(days=1)).isoformat()  # it may be so somewhere else
    day = re.compile(r"\d{4}-\d\d-\d\d")
    address = re.compile(r"https://[\w.-]+\.[a-z]{2,}(/[^\s()\[\]<>|]*)?")
    for row in rows:
        texts = vars(row)
        bad = [field for field, text in texts.items() if text != text.strip() or "|" in text]
        ours = row.source.startswith("measured for this book")
        may_lack = {"note", "url" if ours else "published"}
        bad += [field for field, text in texts.items() if not text and field not in may_lack]
        bad += ["url"] * (not address.fullmatch(row.url) and not (ours and not row.url))
        bad += ["published"] * bool(row.published and not (day.fullmatch(row.published) and row.published > "2009"))
        bad += ["accessed"] * (not day.fullmatch(row.accessed))
        bad += ["accessed"] * (not row.published <= row.accessed <= tomorrow)
        yield from (f"{row.name}, {row.quantity}: {field}" for field in bad)


def implausible(rows):
    for row in rows:
        kind = row.quantity + " of a disk" * ("(disk)" in row.name)
        kind = {"latency": f"time of {row.name}", "energy": f"energy of {row.name}"}.get(row.table, kind)
        units, low, high = PLAUSIBLE.get(kind, (set(), 0, 0))
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


def memory_against_arithmetic(rows):
    memory = Specifications(row for row in rows if row.table == "memory")
    for name in memory.names:
        transfers, width, rate = (memory.value(name, q) for q in ("transfer rate", "width", "bandwidth"))
        if not close(rate, transfers * width / 8):
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
        if row.quantity == "copy bandwidth" and not row.si < accelerators.value(row.name, "memory bandwidth"):
            yield f"{row.name}: a copy beyond the memory"
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


CHECKS = (
    malformed,
    implausible,
    silent_disagreements,
    memory_against_arithmetic,
    links_against_arithmetic,
    storage_against_arithmetic,
    accelerators_beyond_their_peak,
    cpus_against_arithmetic,
)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_file_has_nothing(check):
    assert list(check(read())) == []


@pytest.mark.parametrize(
    ("check", "name", "quantity", "change"),
    [
        (malformed, "HBM3", "bandwidth", {"convention": ""}),
        (malformed, "HBM3", "bandwidth", {"name": "HBM3 "}),
        (malformed, "HBM4", "width", {"accessed": "2999-01-01"}),
        (malformed, "HBM3", "bandwidth", {"published": "2999-01-01"}),
        (malformed, "HBM3", "bandwidth", {"accessed": ""}),
        (malformed, "H200 SXM", "copy bandwidth", {"published": ""}),
        (malformed, "HBM4", "width", {"url": "http://jedec.org/"}),
        (implausible, "HBM3", "bandwidth", {"unit": "GB"}),
        (implausible, "main memory", "today", {"unit": "µs"}),
        (implausible, "read from DRAM", "energy", {"value": "1.3"}),
        (silent_disagreements, "B200 SXM", "memory bandwidth", {"note": ""}),
        (silent_disagreements, "HBM3", "bandwidth", {"name": "HBM2e"}),
        (memory_against_arithmetic, "HBM4", "width", {"value": "1024"}),
        (links_against_arithmetic, "PCIe 4.0 x16", "bandwidth", {"value": "32"}),
        (links_against_arithmetic, "PCIe 6.0 x1", "bandwidth", {"value": "8"}),
        (links_against_arithmetic, "NVLink 4", "bandwidth", {"value": "900"}),
        (links_against_arithmetic, "Ethernet 100 Gbit/s", "bandwidth", {"value": "100"}),
        (links_against_arithmetic, "Ethernet 100 Gbit/s", "line rate", {"value": "10"}),
        (storage_against_arithmetic, "Samsung 870 EVO (SATA)", "random read", {"value": "980000"}),
        (storage_against_arithmetic, "WD Ultrastar DC HC310 (disk)", "latency", {"value": "4.16"}),
        (accelerators_beyond_their_peak, "H100 SXM", "16-bit achieved", {"value": "1979"}),
        (accelerators_beyond_their_peak, "H100 SXM", "copy bandwidth", {"value": "3.4"}),
        (accelerators_beyond_their_peak, "H100 SXM", "16-bit peak", {"convention": "sparse"}),
        (accelerators_beyond_their_peak, "H100 SXM", "memory bandwidth", {"value": "33.5"}),
        (cpus_against_arithmetic, "AWS Graviton4", "L2 cache", {"value": "2048"}),
        (cpus_against_arithmetic, "AMD EPYC 9654", "memory bandwidth", {"value": "480"}),
    ],
)
def test_a_slip_is_found(check, name, quantity, change):
    rows = read()
    (place, *_) = (i for i, row in enumerate(rows) if (row.name, row.quantity) == (name, quantity))
    rows[place] = replace(rows[place], **change)
    assert list(check(rows))


def test_each_unit_is_in_use():
    assert {row.unit for row in read()} == UNITS.keys()


def test_the_file_has_just_these_tables_and_columns():
    path = module.FOLDERS[0] / "hardware.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [field.name for field in fields(Specification)]
    assert tuple(dict.fromkeys(row["table"] for row in rows)) == TABLES
    assert len(rows) == len(read())


ROW = Specification(
    "links", "bus", "speed", "25", "GB/s", "one way", "a", "https://a.org", "2025-01-01", "2026-01-01", ""
)


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


def test_below_a_table_a_fold_holds_conventions_notes_and_dated_sources():
    text = Specifications([replace(ROW, note="odd"), replace(ROW, name="net", note="odd")])._repr_markdown_()
    assert text.split("\n\n")[1:] == [
        "<details><summary>What the columns mean, and who says so</summary>",
        "*speed*: one way.",
        "* bus; net: odd.",
        "1. [a](https://a.org), 2025-01-01, read 2026-01-01",
        "</details>",
    ]


def test_a_source_without_an_address_is_named_without_a_link():
    ours = replace(ROW, source="measured for this book", url="")
    text = Specifications([ROW, replace(ours, name="net")])._repr_markdown_()
    assert "| net | 25 | 2 |" in text
    assert "\n2. measured for this book, 2025-01-01\n" in text


def test_a_source_without_a_date_says_when_it_was_read():
    text = Specifications([replace(ROW, published="")])._repr_markdown_()
    assert "\n1. [a](https://a.org), read 2026-01-01\n" in text


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
