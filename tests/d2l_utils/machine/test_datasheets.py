"""Tables of devices: values in SI units, and what a reader sees of a table."""

import json
from dataclasses import replace

import pytest

from d2l_utils.machine import datasheets
from d2l_utils.machine.datasheets import Specification, Specifications, rack_record, specifications

ROW = Specification(
    "links", "bus", "speed", "25", "GB/s", "one way", "", "a", "https://a.org", "2025-01-01", "2026-01-01", ""
)


def shown(*changes):
    """Return the Markdown of a table of ROW and of rows that differ from it."""
    return Specifications([ROW, *(replace(ROW, **change) for change in changes)])._repr_markdown_()


def test_a_value_is_in_si_units_and_where_sources_disagree_the_first_row_counts():
    assert specifications("links").value("Ethernet 10 Gbit/s", "bandwidth") == 1.25e9
    assert specifications("latency").value("main memory", "then") == pytest.approx(100e-9)
    assert specifications("cpus").value("AMD EPYC 9654", "L1 data cache") == 32 * 1024
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


def test_an_installed_package_reads_its_own_copies_and_a_missing_file_is_named(tmp_path, monkeypatch):
    table = (datasheets.FOLDERS[0] / "hardware.csv").read_text("utf-8")
    monkeypatch.setattr(datasheets, "FOLDERS", (tmp_path / "one", tmp_path))
    with pytest.raises(FileNotFoundError, match=r"no hardware.csv in .*one or "):
        specifications("links")
    with pytest.raises(FileNotFoundError, match=r"no rack.json in .*one or .*; `make rack` writes it"):
        rack_record()
    (tmp_path / "hardware.csv").write_text(table, "utf-8")
    (tmp_path / "rack.json").write_text(json.dumps({"alpha": 1e-3}))
    assert specifications("links").value("SATA 3", "bandwidth") == pytest.approx(0.6e9)
    assert rack_record() == {"alpha": 1e-3}


def test_names_choose_rows_by_their_beginning():
    assert specifications("links", "NVLink", "SATA").names == ("SATA 3", *(f"NVLink {i}" for i in range(1, 6)))


def test_a_table_shows_one_line_a_name_with_the_unit_in_the_heading():
    text = shown({"name": "net", "value": "1.25"}, {"value": "24", "url": "https://b.org"})
    assert text.splitlines()[:4] == [
        "| name | speed, GB/s | source |",
        "| :--- | ---: | :--- |",
        "| bus | 25 or 24 | [1](https://a.org), [2](https://b.org) |",
        "| net | 1.25 | [1](https://a.org) |",
    ]


def test_a_column_of_several_units_has_them_in_its_cells():
    text = shown({"name": "net", "unit": "MB/s", "value": "12500"})
    assert "| bus | 25 GB/s |" in text
    assert "| net | 12,500 MB/s |" in text


def test_more_quantities_than_names_turn_the_table():
    text = shown({"quantity": "ports", "unit": "count", "value": "4"})
    assert text.startswith("| quantity | bus | source |\n")
    assert "\n| ports | 4 | [1](https://a.org) |\n" in text


def test_below_a_table_a_fold_holds_conventions_notes_and_dated_sources():
    ours = {"name": "net", "note": "odd", "source": "measured for this book", "url": ""}
    undated = {"name": "wire", "note": "odd", "source": "c", "url": "https://c.org", "published": ""}
    text = shown(ours, undated, {"name": "wire", "quantity": "loss", "derivation": "25 - 24"})
    assert text.split("\n\n")[1:] == [
        "<details><summary>What the columns mean, and who says so</summary>",
        "*speed*: one way. *loss*: one way.",
        "* net; wire: odd.",
        "1. [a](https://a.org), 2025-01-01, read 2026-01-01; some figures computed from it\n"
        "2. measured for this book, 2025-01-01\n"
        "3. [c](https://c.org), read 2026-01-01",
        "</details>",
    ]
    assert "| net | 25 | – | 2 |" in text


def test_plain_text_has_a_line_a_row():
    assert repr(Specifications([ROW, replace(ROW, name="net")])) == "bus  speed  25 GB/s\nnet  speed  25 GB/s"
