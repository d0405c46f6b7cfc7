"""Tables of devices: values in SI units, and what a reader sees of a table."""

from dataclasses import replace
from pathlib import Path

import pytest

from d2l_lab.machine.datasheets import Specification, Specifications, specifications

ROW = Specification(
    "links", "bus", "speed", "25", "GB/s", "one way", "", "a", "https://a.org", "2025-01-01", "2026-01-01", ""
)
TABLES = {
    "One unit, and sources that disagree": [{"name": "net", "value": "1.25"}, {"value": "24", "url": "https://b.org"}],
    "Several units": [{"name": "net", "unit": "MB/s", "value": "12500"}],
    "A column of counts": [{"name": "net", "quantity": "ports", "unit": "count", "value": "4"}],
    "More quantities than names": [{"quantity": "ports", "unit": "count", "value": "4"}],
    "Notes, computed figures, our own and undated sources": [
        {"name": "net", "note": "odd", "source": "measured for this book", "url": ""},
        {"name": "wire", "note": "odd", "source": "c", "url": "https://c.org", "published": ""},
        {"name": "wire", "quantity": "loss", "derivation": "25 - 24"},
    ],
}


def table(*changes):
    """Return a table of ROW and of rows that differ from it."""
    return Specifications([ROW, *(replace(ROW, **change) for change in changes)])


def test_a_value_is_in_si_units_the_first_row_counts_and_a_table_has_what_is_asked_for():
    assert specifications("links").value("Ethernet 10 Gbit/s", "bandwidth") == 1.25e9
    assert specifications("latency").value("main memory", "today") == pytest.approx(110e-9)
    assert specifications("cpus").value("AMD EPYC 9654", "L1 data cache") == 32 * 1024
    assert table({"value": "24"}).value("bus", "speed") == 25e9
    chosen = specifications("links", "NVLink 4", "Ethernet 100", quantities=["bandwidth", "links"])
    assert [(row.name, row.quantity) for row in chosen] == [
        ("NVLink 4", "links"),
        ("NVLink 4", "bandwidth"),
        ("Ethernet 100 Gbit/s", "bandwidth"),
    ]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: specifications("link"), ValueError, ("link", "memory", "latency")),
        (lambda: specifications("links", "PCIE"), ValueError, ("PCIE", "PCIe 3.0 x1")),
        (lambda: specifications("links", quantities=["speed"]), ValueError, ("speed", "bandwidth per link")),
        (lambda: specifications("links").value("NVLink 9", "bandwidth"), KeyError, ("NVLink 9", "NVLink 4")),
        (lambda: specifications("links").value("NVLink 4", "speed"), KeyError, ("speed", "bandwidth per link")),
        (lambda: replace(ROW, unit="Gb/s").si, ValueError, ("Gb/s", "bus", "Gbit/s")),
    ],
)
def test_an_error_names_what_is_known(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert all(word in str(caught.value) for word in words)


def test_tables_and_the_folds_below_them_read_as_in_the_kept_copy_and_plain_text_has_a_line_a_row():
    shown = [f"# {title}\n\n{table(*changes)._repr_markdown_()}\n" for title, changes in TABLES.items()]
    assert "\n".join(shown) == Path(__file__).with_name("tables.md").read_text(encoding="utf-8")
    assert repr(table({"name": "net"})) == "bus  speed  25 GB/s\nnet  speed  25 GB/s"
