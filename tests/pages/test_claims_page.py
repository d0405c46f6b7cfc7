"""The landing page: the sections, and the claims that held."""

import json
import re

from tiny_book import Book, notebook, prose, words
from written import OTHERS

from book import ROOT


def claim(section, framework, held):
    return {"section": section, "framework": framework, "cell": "c1", "held": held, "sentence": "x_1 is *fast*"}


LANDING = "# Landing\n\n```{claims}\n```\n"
PAGES = {"landing": LANDING, "claiming": notebook(prose("# Claiming")), "unsure": notebook(prose("# Unsure"))}
CLAIMS = [
    claim("claiming", "jax", True),
    claim("claiming", "pytorch", False),
    claim("unsure", "jax", False),
    claim("unsure", "jax", True),
]
FILES = {"claims.json": json.dumps(CLAIMS)}


def test_claims_are_in_one_fold_below_those_that_missed(book):
    page = book.article("landing")
    assert "2 of 4 claims held when this copy was built." in words(page)
    links = [(link["href"], link.get_text()) for link in page.select("ul.claims a")]
    addresses = ["claiming.html?tab=pytorch", "claiming.html?tab=jax", "unsure.html?tab=jax", "unsure.html?tab=jax"]
    assert links == [(f"{address}#c1", "x_1 is *fast*") for address in addresses]
    assert [mark["aria-label"] for mark in page.select(".mark")] == ["missed", "held", "missed", "held"]
    whole, *folds = page.select("details")
    assert words(whole.summary) == "All claims, section by section"
    assert not whole.has_attr("open")
    assert [words(fold.summary) for fold in folds] == ["PyTorch: 0 of 1", "JAX: 1 of 1", "JAX: 1 of 2"]
    assert [fold.has_attr("open") for fold in folds] == [True, False, True]


def test_a_book_without_records_says_so(tmp_path):
    said = {"claims": "no record of claims", "models": "no record of predictions", "running-total": "no running total"}
    said["machine"] = "This copy holds no profile: make profile measures the machine."
    book = Book(tmp_path, {name: f"# Page\n\n```{{{name}}}\n```\n" for name in said})
    assert [name for name, line in said.items() if line not in words(book.article(name))] == []


def test_every_section_is_described_in_the_tree():
    text = (ROOT / "notebooks" / "index.md").read_text(encoding="utf-8")
    tree = re.search(r"```\{toctree\}\n(?::.*\n)*\n((?:.+\n)*)```", text)[1].split()
    assert re.findall(r"^\d+\. \{doc\}`(.+?)`: ", text, re.MULTILINE) == tree
    assert sorted([*tree, *OTHERS]) == sorted(
        path.stem for path in (ROOT / "notebooks").glob("*.md") if path.stem != "index"
    )
