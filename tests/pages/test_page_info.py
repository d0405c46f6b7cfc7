"""What a page says about itself: reading time, notebooks, machine."""

import json

import pytest
from bs4 import BeautifulSoup
from tiny_book import build, code, page_of, prose

from book import FRAMEWORKS

CELLS = (prose("# Page"), prose("Torch.", "pytorch"), prose("Jax.", "jax"), code("work()", "jax"))
RUN = {
    "seconds": 12.4,
    "date": "2026-11-20T10:00:00",
    "versions": {"jax": "0.10.2"},
    "machine": {"cpu": "Abacus 9", "cores": 2, "memory_gb": 7.8, "gpus": [], "system": "Linux"},
}


def words(element):
    return " ".join(element.get_text().split())


def test_the_head_offers_a_notebook_of_each_framework_that_ran(tmp_path):
    facts = page_of(tmp_path, *CELLS, facts={"pytorch": RUN, "jax": RUN}).select_one(".page-facts")
    assert words(facts) == "1 min read · Notebooks: PyTorch · JAX"
    links = [link["href"] for link in facts.select("a[download]")]
    assert [link.rpartition("/")[2] for link in links] == ["page.ipynb", "page.ipynb"]
    assert [json.loads((tmp_path / "html" / link).read_text()) for link in links] == ["pytorch", "jax"]


def test_the_foot_names_machine_day_versions_and_seconds(tmp_path):
    other = RUN | {"date": "2026-11-21T10:00:00", "versions": {"torch": "2.13.0"}, "seconds": 9.6}
    foot = words(page_of(tmp_path, *CELLS, facts={"pytorch": other, "jax": RUN}).select_one(".colophon"))
    machine = "Abacus 9, 2 cores, 8 GiB of memory, no GPU, Linux"
    assert f"Measured on {machine} (21 November 2026). Measured on {machine} (20 November 2026)." in foot
    assert "PyTorch: torch 2.13.0; the notebook took 10 s." in foot
    assert "JAX: jax 0.10.2; the notebook took 12 s." in foot


def test_a_machine_is_named_once_for_all_frameworks_of_a_day(tmp_path):
    foot = words(page_of(tmp_path, *CELLS, facts={"pytorch": RUN, "jax": RUN}).select_one(".colophon"))
    assert foot.count("Measured on") == 1


def test_a_framework_that_did_not_run_has_no_line_and_no_notebook(tmp_path):
    page = page_of(tmp_path, *CELLS, facts={"jax": RUN})
    assert words(page.select_one(".page-facts")) == "1 min read · Notebooks: JAX"
    assert "PyTorch" not in page.select_one(".colophon").get_text()


def test_a_page_that_did_not_run_offers_no_notebook_and_names_no_machine_but_keeps_its_switch(tmp_path):
    page = page_of(tmp_path, *CELLS, notebooks=False)
    assert [words(line) for line in page.select(".page-facts")] == ["1 min read"]
    assert page.select_one(".colophon") is None
    whole = BeautifulSoup((tmp_path / "html" / "page.html").read_text(encoding="utf-8"), "html.parser")
    assert [button["value"] for button in whole.select(".framework-switch button")] == ["pytorch", "jax"]


def test_a_page_without_frameworks_says_nothing_about_runs(tmp_path):
    assert page_of(tmp_path, prose("# Page\n\nText.")).select(".page-facts, .colophon") == []


@pytest.mark.parametrize(("common", "minutes"), [(398, 4), (1, 3)])
def test_reading_time_counts_the_words_of_one_framework(tmp_path, common, minutes):
    cells = [
        prose("# Page\n\n" + "word " * common),
        *(prose("word " * 400, name) for name in FRAMEWORKS),
        code("a + " * 900 + "a"),
    ]
    assert words(page_of(tmp_path, *cells).select_one(".page-facts")) == f"{minutes} min read"


def test_a_link_to_a_missing_notebook_stops_the_build(tmp_path):
    status, warnings, _ = build(tmp_path, *CELLS, facts={"jax": RUN}, notebooks=False)
    assert status != 0
    assert "page.ipynb" in warnings
    assert "notebooks/jax/page.ipynb" in warnings
