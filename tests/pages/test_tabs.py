"""Framework tabs: neighbouring cells and paragraphs of single frameworks, and what stops a build."""

import pytest
from tiny_book import claim, code, notebook, prose, words

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'
PICTURE = {"output_type": "display_data", "metadata": {}, "data": {"image/svg+xml": SVG, "text/plain": "figure"}}
PAGES = {
    "tabs": notebook(
        prose("# Tabs\n\nCommon opening."),
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
        code("plot()", outputs=[PICTURE], mystnb={"image": {"alt": "A falling line."}}),
        code("hold()", outputs=[claim("It holds")]),
    )
}
FAULTS = {
    "unknown-framework": (notebook(prose("# Page"), prose("Hm.", "caffe")), ["unknown framework", "caffe", "jax"]),
    "dangling-reference": (notebook(prose("# Page\n\nSee {numref}`fig-none`.")), ["fig-none"]),
    "picture-without-words": (notebook(prose("# Page"), code("plot()", outputs=[PICTURE])), ["without alternative"]),
    "unknown-work": (notebook(prose("# Page\n\n{cite:p}`nobody1999`")), ["nobody1999"]),
    "unknown-directive": (notebook(prose("# Page\n\n:::{figment} x\n:::")), ["figment"]),
}


@pytest.fixture
def article(book):
    return book.article("tabs")


def test_neighbours_of_single_frameworks_become_one_tab_set_in_their_order(article):
    first = article.select(".frameworks")[0]
    assert [words(label) for label in first.select(":scope > label")] == ["PyTorch", "JAX"]
    assert words(first.select_one(".only-pytorch")) == "Torch is eager. import torch"
    assert words(first.select_one(".only-jax")) == "JAX is lazy. import jax loaded"
    kinds = [child["class"] for child in first.select_one(".only-jax").find_all(recursive=False)]
    assert ("prose" in kinds[0], "cell" in kinds[1]) == (True, True)


def test_a_framework_with_nothing_to_say_gets_an_empty_tab(article):
    remark = article.select(".frameworks")[1]
    assert words(remark.select_one(".only-pytorch")) == ""
    assert "remark" in remark.select_one(".only-jax").get_text()
    assert words(remark.select_one("input[checked] + label")) == "JAX"


def test_shared_code_with_different_outputs_stands_once_above_their_tabs(article):
    outputs = article.select(".frameworks")[2]
    assert [words(outputs.select_one(f".only-{name}")) for name in ("pytorch", "jax")] == ["1 ms", "2 ms"]
    assert sum("work()" in cell.get_text() for cell in article.select(".cell_input")) == 1


def test_a_cell_that_claims_has_its_id_as_anchor_and_a_picture_its_alternative_text(article):
    assert [cell["id"] for cell in article.select(".cell[id]")] == ["c12"]
    assert article.select_one("img")["alt"] == "A falling line."


def test_the_page_shows_the_panels_of_the_framework_that_is_chosen_and_names_no_other(book):
    styles = [" ".join(style.get_text().split()) for style in book.whole("tabs").select("head > style")]
    rules = [rule for style in styles for rule in style.split("}") if "only-" in rule]
    assert [rule.partition('"')[2].partition('"')[0] for rule in rules] == ["pytorch", "jax"]


def test_a_builder_that_cannot_switch_shows_the_tabs_one_below_the_other(book):
    paragraphs = book.text("tabs")
    start = paragraphs.index("**PyTorch**")
    assert paragraphs[start + 1 : start + 5] == ["Torch is eager.", "import torch", "**JAX**", "JAX is lazy."]
    remark = paragraphs.index("JAX alone has a remark.")
    assert paragraphs[remark - 2 : remark] == ["Common middle.", "**JAX**"]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_stops_the_build_and_names_its_place(complaint, fault):
    complaint(fault)
