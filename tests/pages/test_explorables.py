"""Explorables: a text for everybody, and scripts on the pages that have something to play with."""

import json

import pytest
from bs4 import BeautifulSoup
from tiny import NUMBERS
from tiny_book import notebook, prose, words

from book.myst import PlainError, outline
from book.pages.explorable import KINDS, figures
from book.plain_markdown import convert
from d2l_lab.machine.profile import FORMAT

CAPTION = "A ring of $n$ ranks."
TEXT = "* Every rank sends a chunk.\n* Every rank gets **one**, as {numref}`fig-sum` says."
RING = f":::{{explorable}} ring\n:name: fig-sum\n\n{CAPTION}\n\n{TEXT}\n:::"
PAGES = {
    f"with-{kind}": notebook(prose(f"# A {kind}"), prose(RING.replace("ring\n", f"{kind}\n").replace("sum", kind)))
    for kind in KINDS
}


def scripts(path):
    found = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser").select("script[src]")
    return [script["src"].partition("?")[0] for script in found if "explorables" in script["src"]]


def test_a_page_holds_the_text_above_a_numbered_caption(book):
    place, caption = book.article("with-ring").select_one("figure#fig-ring").find_all(recursive=False)
    assert {"explorable", "ring"} <= set(place["class"])
    number = f"Fig. {book.number('with-ring')}.1"
    items = ["Every rank sends a chunk.", f"Every rank gets one, as {number} says."]
    assert [words(item) for item in place.select("li")] == items
    assert caption.select_one(".caption-number").get_text() == f"{number} "
    assert caption.select("math")


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_loads_what_its_own_explorables_need(book, kind):
    html = book.output()
    loaded = scripts(html / f"with-{kind}.html")
    assert loaded == ["_static/explorables/explorable.js", f"_static/explorables/{kind}.js"]
    assert all((html / path).is_file() for path in loaded)
    assert str(book.whole(f"with-{kind}")).count('href="_static/explorables/explorable.css') == 1
    assert "explorables" not in str(book.whole("index"))
    assert "data-words" not in str(book.whole(f"with-{kind}"))


def test_a_readers_notebook_has_the_text_below_its_caption():
    expected = "* Every rank sends a chunk.\n* Every rank gets **one**, as Fig. 1.1 says."
    assert convert(RING, NUMBERS).text == f"**Fig. 1.1** A ring of $n$ ranks.\n\n{expected}"
    assert convert(RING.replace("**one**", "{cite:p}`ada1843`"), NUMBERS).cites == ["ada1843"]
    with pytest.raises(PlainError, match="^explorable ring has no :name:$"):
        convert(RING.replace(":name: fig-sum\n", ""), NUMBERS)


def test_the_name_of_an_explorable_is_in_the_outline():
    assert outline(RING) != outline(RING.replace("fig-sum", "fig-other"))
    assert outline(RING) == outline(RING.replace("sends", "gives"))


def part(scale, *gpus):
    """Return what a profile has of a framework, or of a GPU of its."""
    dispatch, memory = {"issue": 1e-6, "wait": scale * 1e-6}, {"in place": scale * 1e9}
    return {"dispatch": dispatch, "bandwidth": {"memory": memory}, "product": {"float32": scale * 1e12}, "gpus": gpus}


def test_the_figures_of_the_machine_are_those_of_its_first_gpu_if_it_has_one(tmp_path):
    slow = part(2) | {"product": {}}  # whose product could not be measured
    profile = {
        "format": FORMAT,
        "machine": {},
        "frameworks": {"torch": part(3), "jax": part(5, part(7)), "mxnet": slow, "tensorflow": {"gpus": []}},
    }
    (tmp_path / "machine.json").write_text(json.dumps(profile), encoding="utf-8")
    found = figures(tmp_path / "machine.json")
    assert list(found) == ["pytorch", "jax"]
    assert [round(1e6 * each["alpha"]) for each in found.values()] == [3, 7]
    assert [each["b"] for each in found.values()] == [3e9, 7e9]
    assert [each["P"] for each in found.values()] == [3e12, 7e12]
    assert figures(tmp_path / "missing.json") == {}
