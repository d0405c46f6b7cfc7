"""How the landing page shows the profile of the machine."""

import json

import pytest
from bs4 import BeautifulSoup
from tiny import MACHINE
from tiny_book import build

from book.pages.machine_profile import binary, quantity
from book.pages.page_info import describe_machine
from d2l_utils.machine.profile import sealed

FIGURES = {
    "caches": [{"level": 1, "kind": "data", "bytes": 49152, "shared_by": 1}],
    "bandwidth": {"one core": 1.7e10, "all cores": 3.2e10},
    "latency": {"16384": 1.2e-9, "268435456": 1.7e-7},
    "product": {"float32": 3.6e11},
}
GPU = {"name": "Tiny GPU", "bandwidth": 3.35e12, "product": {"float32": 5e13, "bfloat16": 9.9955e14}}
INDEX = "# Tiny\n\n```{machine}\n```\n"


def shown(folder, content):
    """Return the landing page of a book on a machine with this profile."""
    if content is not None:
        (folder / "machine.json").write_text(content if isinstance(content, str) else json.dumps(sealed(content)))
    status, warnings, output = build(folder, index=INDEX)
    assert (status, warnings) == (0, "")
    return BeautifulSoup((output / "index.html").read_text(encoding="utf-8"), "html.parser").article


def tables(page):
    return [
        [[cell.get_text(strip=True) for cell in row.select("th, td")] for row in table.select("tr")]
        for table in page.select("table")
    ]


def content(**parts):
    return {"machine": MACHINE, "date": "2026-11-21", **FIGURES, "frameworks": parts}


def part(**more):
    return {
        "version": "1.2+cpu",
        "date": "2026-11-21",
        "dispatch": 7.7e-7,
        "product": {"float32": 2.8e11},
        "gpus": [],
    } | more


def test_a_card_shows_the_machine_and_its_figures_in_readable_units(tmp_path):
    page = shown(tmp_path, content(jax=part(), torch=part(gpus=[GPU])))
    assert "Tiny CPU, 2 cores, 8 GiB of memory, no GPU, Tiny OS, measured on 21 November 2026." in page.get_text()
    assert "make profile" in page.get_text()
    assert [table[1:] for table in tables(page)] == [
        [["L1 data", "48 KiB", "one core"]],
        [["one core", "17.0 GB/s"], ["all cores", "32.0 GB/s"]],
        [["16 KiB", "1.20 ns"], ["256 MiB", "170 ns"]],
        [
            ["NumPy", "–", "360 Gflop/s", "–"],
            ["PyTorch 1.2", "770 ns", "280 Gflop/s", "–"],
            ["JAX 1.2", "770 ns", "280 Gflop/s", "–"],
        ],
        [["Tiny GPU, PyTorch", "3.35 TB/s", "50.0 Tflop/s", "1000 Tflop/s"]],
    ]
    assert all(all(row) for table in tables(page) for row in table)
    assert "On a GPU that has TF32, TensorFlow and JAX use it" in page.get_text()
    assert not page.select("tr > :first-child:not(th)")


def test_what_a_machine_does_not_report_has_no_table(tmp_path):
    page = shown(tmp_path, content(jax=part(date="2026-12-01")) | {"caches": []})
    assert [table[0][0] for table in tables(page)] == ["STREAM triad on", "working set", "on the CPU"]
    assert "measured between 21 November 2026 and 1 December 2026." in page.get_text()
    assert "TF32" not in page.get_text()


@pytest.mark.parametrize("content", [None, "[]", '{"form": 1}', '{"machine": {"cpu": "A'])
def test_without_a_card_the_page_says_how_to_make_one(tmp_path, content):
    page = shown(tmp_path, content)
    assert "This copy holds no profile: make profile measures the machine." in page.get_text()
    assert not page.select("table")


def test_names_that_look_like_markdown_are_shown_as_they_are(tmp_path):
    odd = "A*B* _c_ (R) [x](y) <i> `z` ®"
    page = shown(tmp_path, content(torch=part(gpus=[GPU | {"name": odd}])) | {"machine": MACHINE | {"cpu": odd}})
    assert page.get_text().count(odd) == 2


def test_a_machine_is_described_in_one_phrase():
    known = {"cpu": "Abacus 9", "cores": 1, "memory_gb": 24, "gpus": ["A", "B"], "system": "Tiny OS"}
    assert describe_machine(known) == "Abacus 9, 1 core, 24 GiB of memory, A, B, Tiny OS"
    assert describe_machine({"cores": 2}) == "an unnamed CPU, 2 cores, no GPU"


def test_units_read_well_over_the_whole_range():
    values = [0.5e-9, 9.9996e-10, 1.25e-6, 0.02, 1, 31.8e9, 999.4e9, 999.6e9, 2e15]
    assert [quantity(value, "x") for value in values] == [
        "0.500 nx",
        "1.00 nx",
        "1.25 µx",
        "20.0 mx",
        "1.00 x",
        "31.8 Gx",
        "999 Gx",
        "1.00 Tx",
        "2000 Tx",
    ]
    assert [binary(size) for size in (64, 2**14, 3 * 2**19, 2**30)] == ["64 bytes", "16 KiB", "1.5 MiB", "1 GiB"]
