"""What a page says about itself: reading time, notebooks, machine."""

import json

import pytest
from tiny_book import code, notebook, prose, words

from book import FRAMEWORKS

CELLS = (prose("# Page"), prose("Torch.", "pytorch"), prose("Jax.", "jax"), code("work()", "jax"))
RUN = {
    "seconds": 12.4,
    "date": "2026-11-20T10:00:00",
    "versions": {"jax": "0.10.2"},
    "machine": {"cpu": "Abacus 9", "cores": 2, "memory_gb": 7.8, "gpus": [], "system": "Linux"},
}
LATER = RUN | {"date": "2026-11-21T10:00:00", "versions": {"torch": "2.13.0"}, "seconds": 9.6}


def long(common):
    """Return a page of so many words for all and 400 for each framework."""
    own = [prose("word " * 400, name) for name in FRAMEWORKS]
    return notebook(prose("# Page\n\n" + "word " * common), *own, code("a + " * 900 + "a"))


PAGES = {
    "ran-both": notebook(*CELLS, pytorch=LATER, jax=RUN),
    "ran-on-one-day": notebook(*CELLS, pytorch=RUN, jax=RUN),
    "ran-one": notebook(*CELLS, jax=RUN),
    "ran-none": notebook(*CELLS),
    "no-framework": notebook(prose("# Page\n\nText.")),
    "long-398": long(398),
    "long-1": long(1),
}
FAULTS = {"missing-notebook": (notebook(*CELLS, jax=RUN), ["notebooks/jax/missing-notebook.ipynb"])}


def test_the_head_offers_a_notebook_of_each_framework_that_ran(book):
    facts = book.article("ran-both").select_one(".page-facts")
    assert words(facts) == "1 min read · Notebooks: PyTorch · JAX"
    links = [link["href"] for link in facts.select("a[download]")]
    assert [link.rpartition("/")[2] for link in links] == ["ran-both.ipynb"] * 2
    assert [json.loads((book.output() / link).read_text()) for link in links] == ["pytorch", "jax"]


def test_the_foot_names_machine_day_versions_and_seconds(book):
    foot = words(book.article("ran-both").select_one(".colophon"))
    machine = "Abacus 9, 2 cores, 8 GiB of memory, no GPU, Linux"
    assert f"Measured on {machine} (21 November 2026). Measured on {machine} (20 November 2026)." in foot
    assert "PyTorch: torch 2.13.0; the notebook took 10 s." in foot
    assert "JAX: jax 0.10.2; the notebook took 12 s." in foot
    assert words(book.article("ran-on-one-day").select_one(".colophon")).count("Measured on") == 1


def test_a_framework_that_did_not_run_has_no_line_and_no_notebook_but_keeps_its_switch(book):
    page = book.article("ran-one")
    assert words(page.select_one(".page-facts")) == "1 min read · Notebooks: JAX"
    assert "PyTorch" not in page.select_one(".colophon").get_text()
    page = book.article("ran-none")
    assert [words(line) for line in page.select(".page-facts")] == ["1 min read"]
    assert page.select_one(".colophon") is None
    switch = book.whole("ran-none").select(".framework-switch button")
    assert [button["value"] for button in switch] == ["pytorch", "jax"]
    assert book.article("no-framework").select(".page-facts, .colophon") == []


@pytest.mark.parametrize(("common", "minutes"), [(398, 4), (1, 3)])
def test_reading_time_counts_the_words_of_one_framework(book, common, minutes):
    assert words(book.article(f"long-{common}").select_one(".page-facts")) == f"{minutes} min read"


def test_a_link_to_a_missing_notebook_stops_the_build(complaint):
    complaint("missing-notebook")
