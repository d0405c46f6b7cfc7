"""The landing page: the sections, and the claims that held."""

import json
import re

from tiny_book import page_of, prose

from book import ROOT


def landing(folder, *claims):
    files = {"claims.json": json.dumps(claims)} if claims else {}
    return page_of(folder, prose("# Page"), page="index", files=files)


def claim(framework, cell, held):
    return {"section": "page", "framework": framework, "cell": cell, "held": held, "sentence": "x_1 is *fast*"}


def test_claims_are_counted_and_each_links_to_its_cell(tmp_path):
    page = landing(tmp_path, claim("jax", "c1", True), claim("pytorch", "c2", False))
    assert "1 of 2 claims held when this copy was built." in page.get_text()
    links = page.select("ul.claims a")
    assert [link["href"] for link in links] == ["page.html?tab=pytorch#c2", "page.html?tab=jax#c1"]
    assert {link.get_text() for link in links} == {"x_1 is *fast*"}


def test_claims_that_missed_stand_open(tmp_path):
    folds = landing(tmp_path, claim("jax", "c1", True), claim("pytorch", "c2", False)).select("details")
    assert [fold.summary.get_text().strip() for fold in folds] == ["PyTorch: 0 of 1", "JAX: 1 of 1"]
    assert [fold.has_attr("open") for fold in folds] == [True, False]


def test_a_claim_that_was_not_checked_is_told(tmp_path):
    page = landing(tmp_path, claim("jax", "c1", None), claim("jax", "c2", True))
    assert "1 of 2 claims held when this copy was built. 1 could not be checked; the cells say why." in page.get_text()
    assert [mark["aria-label"] for mark in page.select(".mark")] == ["not checked", "held"]


def test_a_book_without_claims_says_so(tmp_path):
    assert "no record of claims" in landing(tmp_path).get_text()


def test_every_section_is_in_the_tree_and_described():
    text = (ROOT / "notebooks" / "index.md").read_text(encoding="utf-8")
    tree = re.search(r"```\{toctree\}\n(?::.*\n)*\n((?:.+\n)*)```", text)[1].split()
    assert re.findall(r"^\{doc\}`(.+)`\n: ", text, re.MULTILINE) == tree
    assert sorted(tree) == sorted(path.stem for path in (ROOT / "notebooks").glob("*.md") if path.stem != "index")
