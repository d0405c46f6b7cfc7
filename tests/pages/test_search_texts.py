"""What the search looks through: places, and their texts as a reader of one framework meets them."""

import base64
import json
import re
import zlib

import pytest
from tiny_book import RUN, Book, claim, code, notebook, prose

OPENING = r"""# Searched

<wbr> One sentence,
broken.
Two $\frac{t_1}{2} < x^2$.

:::{dropdown} Fold
In it.
:::

| a | b |
|-|-|
| c | d |

```{glossary}
Term
  Its meaning.
```
"""
RAISED = {
    "output_type": "error",
    "ename": "ZeroDivisionError",
    "evalue": "division by zero",
    "traceback": ["Cell 1\n----> 1 1 / 0", "ZeroDivisionError: division by zero"],
}
SEARCHED = {
    "searched": notebook(
        prose(OPENING),
        prose("(part)=\n\n## Part\n\nSee {ref}`part`."),
        prose("Torch is eager.", "pytorch"),
        code("import torch\n\ntorch.compile(net)", "pytorch"),
        prose("JAX is lazy.", "jax"),
        code("import jax", "jax", outputs=["printed\n"]),
        code("d2l.claim('one', 1, above=0)", "claims", outputs=[claim("one")]),
        prose("```sh\nmake lab\n```"),
        jax=RUN,
    ),
    "searched/raised": notebook(
        prose("# Raised"),
        code("try:\n    f()\nexcept Unsupported as error:\n    print(error)", "jax", outputs=["No `f`.\n2.0\n"]),
        code("mend()", outputs=["took 3 s\nUserWarning: slow\n"]),
        code("1 / 0", outputs=[RAISED]),
        code("1 / 0", "jax", "remove-input", outputs=["[0] ValueError: no rank\n", "5 ms\n"]),
        jax=RUN,
    ),
    "searched/below": "# Below\n\nText.\n\n一句。又一句？\n",
}


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A book of its own: another one may have no second glossary."""
    return Book(tmp_path_factory.mktemp("searched"), SEARCHED)


def script(book, page):
    """Return the arguments of the call in a page's script, the last of them unpacked."""
    text = (book.output() / "_texts" / f"{page}.js").read_text(encoding="utf-8")
    name, title, packed = json.loads(re.fullmatch(r"d2lTexts\((.*)\);\n", text)[1].join("[]"))
    return name, title, json.loads(zlib.decompress(base64.b64decode(packed)))


def test_a_page_has_a_script_of_its_places(book):
    name, title, places = script(book, "searched")
    assert (name, title) == ("searched", "Searched")
    torch = [["pytorch", "Torch is eager."], ["pytorch", "import torch\n\ntorch.compile(net)", 1]]
    jax = [["jax", "JAX is lazy."], ["jax", "import jax", 1]]
    shared = [["", "d2l.claim('one', 1, above=0)", 1], ["", "make lab", 1]]
    part = [["", "See Part."], *torch, *jax, *shared]
    opening = ["One sentence, broken.\nTwo t1/2<x^2.", "In it.", "a · b", "c · d"]
    assert places == [
        ["searched", "Searched", [["", text] for text in opening]],
        ["term-Term", "Term", [["", "Its meaning."]]],
        ["part", "Part", part],
    ]
    below = [["", "Text."], ["", "一句。\n又一句？"]]
    assert script(book, "searched/below") == ("searched/below", "Below", [["below", "Below", below]])
    pages = book.whole("search").select_one("#search-results")["data-pages"].split()
    assert pages == ["index", *book.pages]
    assert not (book.output() / "searchindex.js").exists()


def test_of_what_cells_print_only_error_messages_are_searched(book):
    ((*_, found),) = script(book, "searched/raised")[2]
    assert found[1::2] == [
        ["jax", "No `f`.\n2.0", 1],
        ["", "UserWarning: slow", 1],
        ["", "ZeroDivisionError: division by zero", 1],
    ]
    assert found[-1] == ["jax", "[0] ValueError: no rank", 1]
