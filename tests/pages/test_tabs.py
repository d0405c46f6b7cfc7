"""Framework tabs: neighbouring cells and paragraphs of single frameworks."""

from tiny_book import claim, code, notebook, outline, prose, shown, words

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'
PICTURE = shown({"image/svg+xml": SVG, "text/plain": "figure"})
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


def test_neighbours_of_single_frameworks_become_one_tab_set_that_begins_with_the_first_that_speaks(book, outlines):
    assert outline(book.article("tabs")) == outlines["tabs"]
    chosen = book.article("tabs").select(".frameworks > input[checked] + label")
    assert [words(label) for label in chosen] == ["PyTorch", "JAX", "PyTorch"]
    assert book.article("tabs").select_one("img")["alt"] == "A falling line."


def test_the_styles_of_a_page_name_its_own_frameworks_alone(book):
    styles = [" ".join(style.get_text().split()) for style in book.whole("tabs").select("head > style")]
    rules = [rule for style in styles for rule in style.split("}") if "only-" in rule]
    assert [rule.partition('"')[2].partition('"')[0] for rule in rules] == ["pytorch", "jax"]
