"""What the Sphinx extensions make of a merged notebook, on the smallest one."""

import pytest
from tiny_book import build, claim, code, page_of, prose, text_of


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
        code("hold()", outputs=[claim("It holds")]),
    ]
    return page_of(tmp_path_factory.mktemp("book"), *cells)


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


def test_a_cell_that_claims_has_its_id_as_anchor(article):
    assert [cell["id"] for cell in article.select(".cell[id]")] == ["c12"]


def test_a_picture_carries_its_alternative_text(article):
    assert article.select_one("img")["alt"] == "A falling line."


def test_a_builder_that_cannot_switch_shows_the_tabs_one_below_the_other(tmp_path):
    cells = [prose("# Page"), prose("Torch.", "pytorch"), prose("Jax.", "jax"), prose("Remark.", "jax")]
    paragraphs = text_of(tmp_path, *cells)
    start = paragraphs.index("**PyTorch**")
    assert paragraphs[start:] == ["**PyTorch**", "Torch.", "**JAX**", "Jax.", "Remark."]


PICTURE = {"output_type": "display_data", "metadata": {}, "data": {"image/png": "iVBORw0KGgo="}}
FAULTS = {
    "unknown framework": (
        [prose("# Page"), prose("Hm.", "caffe")],
        ["page.ipynb:", "unknown framework", "caffe"],
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
