"""How the landing page shows the profile of the machine."""

import json

from tiny import MACHINE
from tiny_book import outline

from book.pages.machine_profile import binary, show
from book.pages.page_info import describe_machine
from d2l_lab.machine.profile import FORMAT


def rounds(tree):
    """Return a tree of rounds of these figures, which differ by a tenth."""
    if isinstance(tree, dict):
        return {name: rounds(value) for name, value in tree.items()}
    return [tree, 0.9 * tree, 1.1 * tree]


def measured(**figures):
    return figures | {"rounds": rounds(figures)}


ODD = "A*B* _c_ (R) [x](y) <i> `z` ®"
FIGURES = {"caches": [{"level": 1, "kind": "data", "bytes": 49152, "shared_by": 1}]} | measured(
    bandwidth={"one core": 1.7e10, "all cores": 3.2e10},
    latency={"16384": 1.2e-9, "268435456": 1.7e-7},
    product={"float32": 3.6e11},
)
GPU = {"name": ODD} | measured(
    bandwidth={"memory": {"copy": 3.35e12}}, product={"float32": 5e13, "bfloat16": 9.9955e14}
)


def content(**parts):
    return {"machine": MACHINE, "date": "2026-11-21", **FIGURES, "frameworks": parts}


def part(**more):
    figures = {"dispatch": {"issue": 7.7e-7, "wait": 1.9e-6}, "product": {"float32": 2.8e11}}
    figures["bandwidth"] = {"memory": {"copy": 2.5e10}}
    about = {"version": "1.2+cpu", "date": "2026-11-21", "gpus": []}
    return about | measured(**(figures | {name: more.pop(name) for name in figures.keys() & more.keys()})) | more


LEVELS = {"L2": {"copy": 9e10}, "memory": {"copy": 2.5e10}}
PROFILE = content(jax=part(bandwidth=LEVELS), torch=part(gpus=[GPU])) | {"machine": MACHINE | {"cpu": ODD}}
PAGES = {"profile": "# Machine\n\n```{machine}\n```\n"}
FILES = {"../machine.json": json.dumps(PROFILE | {"format": FORMAT})}


def test_a_profile_shows_figures_in_readable_units(book, outlines):
    page = book.article("profile")
    assert outline(page) == outlines["profile"]
    assert not page.select("tr > :first-child:not(th)")


def test_what_a_machine_does_not_report_has_no_table():
    text = show(content(jax=part(date="2026-12-01")) | {"caches": []})
    heads = ["cache", "STREAM triad on", "working set", "on the CPU", "on the GPU"]
    assert [head for head in heads if f"* - {head}" in text] == heads[1:4]
    assert "measured between 21 November 2026 and 1 December 2026." in text
    assert "TF32" not in text


def test_a_column_has_one_unit():
    slow = part(dispatch={"issue": 3.1e-6, "wait": 2.2e-5}, product={"float32": 2.5e12})
    text = show(content(jax=part(), torch=slow))
    assert ["0.770 µs" in text, "3.10 µs" in text, "770 ns" in text] == [True, True, False]
    assert ["0.280 Tflop/s" in text, "2.50 Tflop/s" in text] == [True, True]


def test_a_machine_is_described_in_one_phrase():
    known = {"cpu": "Abacus 9", "cores": 1, "memory_gb": 24, "gpus": ["A", "B"], "system": "Tiny OS"}
    assert describe_machine(known) == "Abacus 9, 1 core, 24 GiB of memory, A, B, Tiny OS"
    assert describe_machine({"cores": 2}) == "an unnamed CPU, 2 cores, no GPU"


def test_a_size_reads_well():
    assert [binary(size) for size in (64, 2**14, 3 * 2**19, 2**30)] == ["64 bytes", "16 KiB", "1.5 MiB", "1 GiB"]
