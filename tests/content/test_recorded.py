"""notebooks/data/gpu.json holds what today's cells found: one whose code has changed leaves it."""

import pytest

from book import ROOT, gpu_record
from book.cells import expand, of
from book.layout import Edition
from book.sources import read

RECORD = gpu_record.read(ROOT)


@pytest.mark.parametrize("framework", RECORD["found"])
def test_each_recorded_cell_stands_in_a_section(framework):
    sections = [expand(read(slug, Edition(ROOT))["notebook"]) for slug in gpu_record.ON_ONE_GPU]
    known = {entry.id for entries in sections for entry in of(entries, framework)}
    assert set(RECORD["found"][framework]) <= known, "remove these cells from notebooks/data/gpu.json, or record anew"


def test_each_remark_is_on_a_recorded_cell():
    assert set(RECORD["remarks"]) <= {id for cells in RECORD["found"].values() for id in cells}


def test_what_was_recorded_is_whole():
    assert RECORD["machine"]["gpus"]
    for framework, cells in RECORD["found"].items():
        assert RECORD["versions"][framework], framework
        assert len(cells) >= 12, framework
        for cell in cells.values():
            assert all(each["predicted"] > 0 and each["low"] <= each["high"] for each in cell["predictions"])
