"""What cells found on a machine with a GPU: recorded there, and shown beside what the same cells find here."""

import json

import pytest
from launching import ROOT
from test_cells import claimed, code, merged, whole
from tiny_book import shown

from book import gpu_record
from book.layout import Edition
from book.outputs import ELSEWHERE, PREDICTION, records
from book.record_html import HTML
from d2l_lab.instruments.predictions import Comparison

HALF = Comparison("eight passes", "model", "s", 4e-3, 2e-3, 2e-3, 2e-3, "Look at <b>.")
COMPARED = HALF._repr_mimebundle_()[PREDICTION]
RUN = {"date": "2026-11-26", "versions": {"jax": "0.11.2"}, "machine": {"gpus": ["NVIDIA H200"], "cores": 16}}


def executed(*cells, **facts):
    cells = [{"cell_type": "code", "id": f"c{i}", "source": "", "outputs": outputs} for i, outputs in enumerate(cells)]
    return {"cells": cells, "metadata": {"d2l": RUN | facts}}


@pytest.fixture
def layout(tmp_path):
    """A project whose performance-model ran in JAX with a GPU, and in PyTorch without one."""
    found = Edition(tmp_path)
    ran = {"jax": executed([shown(HALF)], [claimed("a sum", True)]), "pytorch": executed([shown(HALF)], machine={})}
    for framework, notebook in ran.items():
        path = found.notebook("executed", framework, "performance-model")
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(notebook))
    gpu_record.record_path(tmp_path).parent.mkdir(parents=True)
    return found


def test_the_cells_that_compared_something_on_a_gpu_are_recorded(layout):
    assert gpu_record.write(layout) == 0
    record = gpu_record.read(layout.root)
    assert record["found"] == {"jax": {"c0": {"predictions": [COMPARED], "totals": []}}}
    assert {fact: record[fact] for fact in RUN} == RUN | {"versions": {"jax": RUN["versions"]}}


def test_the_remark_on_a_cell_is_kept_as_long_as_there_is_the_cell(layout):
    gpu_record.record_path(layout.root).write_text(json.dumps({"remarks": {"c0": "kept", "c9": "gone"}}))
    gpu_record.write(layout)
    assert gpu_record.read(layout.root)["remarks"] == {"c0": "kept"}


def test_a_cell_keeps_what_it_found_on_the_same_gpu_until_it_runs_there_again():
    before = {"machine": {"gpus": ["A"]}, "date": "2026-11-26", "versions": {"jax": {"jax": "1"}, "pytorch": {}}}
    before |= {"found": {"jax": {"ran": {"totals": [1]}, "waits": {}, "gone": {}}, "pytorch": {"other": {}}}}
    before |= {"remarks": {"waits": "kept", "gone": "dropped"}}
    now = {"machine": {"gpus": ["A"]}, "date": "2026-11-27", "versions": {"jax": {"jax": "2"}}}
    now |= {"found": {"jax": {"ran": {}}}}
    record = gpu_record.joined(before, now, {"jax": {"ran", "waits"}, "pytorch": {"other"}})
    old = {"date": "2026-11-26", "versions": {"jax": "1"}}
    assert record["found"] == {"jax": {"ran": {}, "waits": old}, "pytorch": {"other": old | {"versions": {}}}}
    assert (record["date"], record["versions"]) == ("2026-11-27", {"jax": {"jax": "2"}, "pytorch": {}})
    assert record["remarks"] == {"waits": "kept"}
    assert gpu_record.joined(before | {"machine": {"gpus": ["B"]}}, now, {"jax": {"waits"}})["found"] == now["found"]


def test_without_a_gpu_nothing_is_recorded(tmp_path, capsys):
    assert gpu_record.write(Edition(tmp_path)) == 1
    assert capsys.readouterr().err == "error: no notebook has run with a GPU: `make book` runs them\n"
    assert gpu_record.read(tmp_path) == {}


def test_a_page_shows_what_the_same_cell_of_the_same_framework_found():
    source = whole(code("measure()", "jax"), code("measure()", "pytorch"))
    cells = merged(source, {"jax": {}})["cells"]
    (id,) = [cell["id"] for cell in cells if cell["source"] == "measure()" and "jax" in cell["metadata"]["tags"]]
    found = {"jax": {id: {"predictions": [COMPARED], "totals": []}, "cold": {}}}
    record = {"machine": RUN["machine"], "date": RUN["date"], "versions": {"jax": {}}, "found": found, "remarks": {}}
    both = merged(source, {"jax": {}, "pytorch": {}}, record=record)
    assert [cell["id"] for cell in both["cells"] if cell["cell_type"] == "code" and records(cell, ELSEWHERE)] == [id]


def fold(**found):
    """Return the fold of a cell that found this on the other machine, as HTML."""
    content = {"gpu": "NVIDIA H200", "date": RUN["date"], "versions": {"jax": "0.11.2"}, "remark": ""}
    return HTML[ELSEWHERE]([content | {"predictions": [], "totals": []} | found])


@pytest.mark.parametrize(("remark", "note"), [("", "off by 2.00 ×"), ("It waits.", "It waits.")])
def test_a_fold_names_machine_factor_versions_and_the_cause_of_a_miss(remark, note):
    html = fold(predictions=[COMPARED], remark=remark)
    assert html.startswith('<details class="elsewhere"><summary>The same cell on an NVIDIA H200: 0.500 ×</summary>')
    assert "<p>jax 0.11.2; 26 November 2026.</p></details>" in html
    assert note in html
    assert ("off by" in html) is not bool(remark)


def test_a_table_of_levers_is_summed_up_in_the_title():
    rest = {"promised": None, "learns": True, "kept": True, "verdict": "gains"}
    rows = [{"lever": "a", "seconds": s, "low": s, "high": s} | rest for s in (4, 1)]
    title = "<summary>The same cell on an NVIDIA H200: 4.00 × as fast with all levers</summary>"
    assert title in fold(totals=[{"rows": rows}])


def test_every_cell_recorded_in_this_book_can_be_shown():
    record = gpu_record.read(ROOT)
    for framework, cells in record["found"].items():
        for cell in cells:
            [shown_there] = gpu_record.outputs(record, framework, cell)
            assert HTML[ELSEWHERE]([shown_there["data"][ELSEWHERE]]).startswith('<details class="elsewhere">')
