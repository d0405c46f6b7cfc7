"""With an address of the site, pages name their addresses, languages, description and picture; without one, nothing."""

import json
import xml.etree.ElementTree as ET

import pytest
from bs4 import BeautifulSoup
from tiny_book import WORKS, notebook, prose, sphinx

from book import BookError
from book.pages.address import SIZE
from book.site import site_address

ADDRESS = "https://books.example/performance"
SITE = {
    "index.md": "# Tiny\n\nWhere does the *time* go?\n\n```{toctree}\nback/page\n```\n",
    "references.bib": WORKS,
    "back/page.ipynb": json.dumps(notebook(prose("# Page\n\nIt takes $n^2$ steps & more."), jax={})),
}


def build(folder, **settings):
    """Build pages with these settings; return the folder of the pages."""
    for name, text in SITE.items():
        (folder / "book" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "book" / name).write_text(text, encoding="utf-8")
    settings = {"languages": "zh", "english": folder / "none"} | settings
    assert sphinx(folder / "book", folder / "html", "html", **settings) == (0, "")
    return folder / "html"


def head(path):
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser").head


@pytest.mark.parametrize(("language", "own"), [("en", ""), ("zh_CN", "zh/")])
def test_a_page_names_its_address_and_those_in_all_languages(tmp_path, language, own):
    page = head(build(tmp_path, address=ADDRESS, language=language) / "back" / "page.html")
    assert [link["href"] for link in page.select("link[rel=canonical]")] == [f"{ADDRESS}/{own}back/page.html"]
    assert {link["hreflang"]: link["href"] for link in page.select("link[rel=alternate]")} == {
        "en": f"{ADDRESS}/back/page.html",
        "zh-Hans": f"{ADDRESS}/zh/back/page.html",
        "x-default": f"{ADDRESS}/back/page.html",
    }
    described = {each.get("property", each.get("name")): each["content"] for each in page.select("meta[content]")}
    assert described["description"] == described["og:description"] == "It takes n^2 steps & more."
    assert described["og:title"] == "Page"
    assert described["og:url"] == f"{ADDRESS}/{own}back/page.html"
    assert described["og:image"] == f"{ADDRESS}/_static/preview.png"


def test_the_english_pages_bring_the_sitemap_of_all_languages_and_the_picture(tmp_path):
    html = build(tmp_path, address=ADDRESS)
    found = {each.text for each in ET.parse(html / "sitemap.xml").iter() if each.tag.endswith("loc")}
    assert found == {f"{ADDRESS}/{own}{page}.html" for own in ("", "zh/") for page in ("index", "back/page")}
    from PIL import Image

    with Image.open(html / "_static" / "preview.png") as picture:
        assert picture.size == SIZE


def test_without_an_address_a_page_names_none(tmp_path):
    html = build(tmp_path, address="")
    page = head(html / "back" / "page.html")
    assert page.select("link[rel=canonical], link[rel=alternate], meta[property], meta[name=description]") == []
    assert [link["href"] for link in page.select("[href]") if "://" in link["href"]] == []
    assert not (html / "sitemap.xml").exists()
    assert not (html / "_static" / "preview.png").exists()


def test_an_address_loses_its_last_slash():
    assert site_address({"tool": {"d2l": {"address": f"{ADDRESS}/"}}}) == ADDRESS
    assert site_address({"tool": {"d2l": {"address": ""}}}) == ""


@pytest.mark.parametrize("wrong", ["books.example", "https://", "ftp://books.example", "https://books.example/a b"])
def test_what_is_no_address_is_an_error_with_its_cure(wrong):
    with pytest.raises(BookError, match="is no address of a site: write one such as https://OWNER"):
        site_address({"tool": {"d2l": {"address": wrong}}})
