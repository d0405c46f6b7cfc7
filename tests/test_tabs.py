"""What the Sphinx extensions make of a merged notebook, on the smallest one."""

import json

import pytest
from bs4 import BeautifulSoup
from tiny_book import INDEX, build, code, prose

ALL = ("pytorch", "tensorflow", "jax", "mxnet")


def page_of(folder, *cells, **settings):
    """Build a page; return its article."""
    status, warnings, output = build(folder, *cells, **settings)
    assert (status, warnings) == (0, "")
    return BeautifulSoup((output / "page.html").read_text(encoding="utf-8"), "html.parser").article


@pytest.fixture(scope="module")
def article(tmp_path_factory):
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'
    picture = {"output_type": "display_data", "metadata": {}, "data": {"image/svg+xml": svg, "text/plain": "figure"}}
    cells = [
        prose("# Page\n\nCommon opening."),
        prose("Torch is eager.", "pytorch"),
        code("import torch", "pytorch"),
        prose("JAX is lazy.", "jax"),
        code("import jax", "jax", outputs=["loaded\n"]),
        prose("Common middle."),
        prose("JAX alone has a remark.", "jax"),
        prose("Common end."),
        code("work()"),
        code("work()", "pytorch", "remove-input", outputs=["1 ms\n"]),
        code("work()", "jax", "remove-input", outputs=["2 ms\n"]),
        code("plot()", outputs=[picture], mystnb={"image": {"alt": "A falling line."}}),
        code("solve()", "solution", "hide-cell"),
    ]
    run = {"seconds": 12.4, "date": "2026-11-20T10:00:00", "versions": {"jax": "0.10.2"}}
    run["machine"] = {"cpu": "Abacus 9", "cores": 2, "memory_gb": 7.8, "gpus": [], "system": "Linux"}
    return page_of(tmp_path_factory.mktemp("book"), *cells, facts={"pytorch": run, "jax": run})


def test_neighbours_of_single_frameworks_become_one_tab_set(article):
    first = article.select(".frameworks")[0]
    assert [label.get_text().strip() for label in first.select(":scope > label")] == ["PyTorch", "JAX"]
    text = {name: first.select_one(f".only-{name}").get_text() for name in ("pytorch", "jax")}
    assert "Torch is eager." in text["pytorch"]
    assert "import torch" in text["pytorch"]
    assert "JAX is lazy." in text["jax"]
    assert "loaded" in text["jax"]
    assert "JAX" not in text["pytorch"]
    assert "Common" not in first.get_text()


def test_prose_and_code_keep_their_order_within_a_tab(article):
    panel = article.select_one(".frameworks .only-jax")
    kinds = [child["class"] for child in panel.find_all(recursive=False)]
    assert "prose" in kinds[0]
    assert "cell" in kinds[1]


def test_a_framework_with_nothing_to_say_gets_an_empty_tab(article):
    remark = article.select(".frameworks")[1]
    assert remark.select_one(".only-pytorch").get_text().strip() == ""
    assert "remark" in remark.select_one(".only-jax").get_text()
    assert remark.select_one("input[checked] + label").get_text().strip() == "JAX"


def test_shared_code_with_different_outputs_stands_once_above_their_tabs(article):
    outputs = article.select(".frameworks")[2]
    assert "work" not in outputs.get_text()
    assert outputs.select_one(".only-pytorch").get_text().strip() == "1 ms"
    assert sum("work()" in cell.get_text() for cell in article.select(".cell_input")) == 1


def test_every_cell_has_its_id_as_anchor(article):
    assert {cell["id"] for cell in article.select(".cell")} >= {"c2", "c4", "c8", "c9", "c10", "c11", "c12"}


def test_a_solution_is_folded(article):
    assert "solve" in article.select_one("details.hide").get_text()


def test_a_picture_carries_its_alternative_text(article):
    assert article.select_one("img")["alt"] == "A falling line."


def test_the_page_names_reading_time_notebooks_and_machine(article):
    facts = article.select_one(".page-facts")
    assert facts.get_text().strip().startswith("1 min read")
    assert [link["href"] for link in facts.select("a")] == ["notebooks/pytorch/page.ipynb", "notebooks/jax/page.ipynb"]
    foot = article.select_one(".colophon").get_text()
    assert "Abacus 9, 2 cores, 8 GiB of memory, no GPU, Linux (20 November 2026)" in foot
    assert "JAX: jax 0.10.2; the notebook took 12 s." in " ".join(foot.split())


def test_reading_time_counts_the_words_of_one_framework(tmp_path):
    cells = [
        prose("# Page\n\n" + "word " * 398),
        *(prose("word " * 400, name) for name in ALL),
        code("a + " * 900 + "a"),
    ]
    assert page_of(tmp_path, *cells).select_one(".page-facts").get_text().strip().startswith("4 min read")


def test_a_builder_that_cannot_switch_shows_the_tabs_one_below_the_other(tmp_path):
    cells = [prose("# Page"), prose("Torch.", "pytorch"), prose("Jax.", "jax"), prose("Remark.", "jax")]
    status, warnings, output = build(tmp_path, *cells, builder="text")
    assert (status, warnings) == (0, "")
    text = (output / "page.txt").read_text(encoding="utf-8")
    paragraphs = [line.strip() for line in text.split("\n\n")]
    start = paragraphs.index("**PyTorch**")
    assert paragraphs[start:] == ["**PyTorch**", "Torch.", "**JAX**", "Jax.", "Remark."]


def test_the_landing_page_lists_what_stands_and_what_is_to_come(tmp_path):
    status, warnings, output = build(tmp_path, prose("# Page"))
    assert (status, warnings) == (0, "")
    page = BeautifulSoup((output / "index.html").read_text(encoding="utf-8"), "html.parser").article
    assert [item.p.get_text() for item in page.select(".sections > li")] == ["Page", "Other to come"]
    assert "no record of claims" in page.get_text()


def test_the_landing_page_counts_claims_and_links_each(tmp_path):
    claims = [
        {"section": "page", "framework": "jax", "cell": "c1", "held": True, "sentence": "it is fast"},
        {"section": "page", "framework": "pytorch", "cell": "c2", "held": False, "sentence": "it is fast"},
    ]
    files = {"claims.json": json.dumps(claims)}
    status, warnings, output = build(tmp_path, prose("# Page"), files=files)
    assert (status, warnings) == (0, "")
    page = BeautifulSoup((output / "index.html").read_text(encoding="utf-8"), "html.parser").article
    assert "1 of 2 claims held" in page.get_text()
    links = [link["href"] for link in page.select(".claims a")]
    assert links == ["page.html?tab=pytorch#c2", "page.html?tab=jax#c1"]
    assert [fold.has_attr("open") for fold in page.select("details")] == [True, False]


PICTURE = {"output_type": "display_data", "metadata": {}, "data": {"image/png": "iVBORw0KGgo="}}
FAULTS = {
    "unknown framework": (
        [prose("# Page"), prose("Hm.", "caffe")],
        ["page.ipynb:", "unknown framework", "caffe", "mxnet"],
    ),
    "dangling reference": ([prose("# Page\n\nSee {numref}`fig-none`.")], ["page.ipynb:", "fig-none"]),
    "picture without words": (
        [prose("# Page"), code("plot()", outputs=[PICTURE])],
        ["page.ipynb:", "without alternative text"],
    ),
    "unknown work": ([prose("# Page\n\n{cite:p}`nobody1999`")], ["page.ipynb:", "nobody1999"]),
    "unknown directive": ([prose("# Page\n\n:::{figment} x\n:::")], ["page.ipynb:", "figment"]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_stops_the_build_and_names_its_place(tmp_path, fault):
    cells, words = FAULTS[fault]
    status, warnings, _ = build(tmp_path, *cells, builder="html")
    assert status != 0
    assert [word for word in words if word not in warnings] == []


def test_a_link_to_a_missing_notebook_stops_the_build(tmp_path):
    status, warnings, _ = build(tmp_path, prose("# Page"), prose("Jax.", "jax"), notebooks=False)
    assert status != 0
    assert "page" in warnings
    assert "notebooks/jax/page.ipynb" in warnings


def test_a_row_of_the_map_that_lacks_its_sentence_stops_the_build(tmp_path):
    status, warnings, _ = build(tmp_path, index=INDEX.replace("Page. The only page.", "Page"))
    assert status != 0
    assert "index.md:3" in warnings
    assert "page: Page" in warnings
