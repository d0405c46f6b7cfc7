"""With an address of the site, pages name their addresses, languages, description and picture; without one, nothing."""

import xml.etree.ElementTree as ET

import pytest
from PIL import Image
from tiny_book import Book, notebook, prose

from book import BookError
from book.pages.address import SIZE
from book.site import site_address

ADDRESS = "https://books.example/performance"
SITE = {"back/page": notebook(prose("# Page\n\nIt takes $n^2$ steps & more."), jax={})}


def build(folder, **settings):
    """Build pages with these settings; return the folder of the pages and one of them."""
    book = Book(folder, SITE)
    book.warnings["html"] = book.build(languages="zh", english=folder / "none", **settings)
    return book.output(), book.whole("back/page")


@pytest.mark.parametrize(
    ("language", "own", "link"),
    [
        ("en", "", ("../zh/back/page.html", "zh-Hans", "中文")),
        ("zh_CN", "zh/", ("../../back/page.html", "en", "English")),
    ],
)
def test_a_page_names_its_addresses_in_all_languages(tmp_path, language, own, link):
    html, page = build(tmp_path, address=ADDRESS, language=language)
    assert [link["href"] for link in page.select("link[rel=canonical]")] == [f"{ADDRESS}/{own}back/page.html"]
    assert {link["hreflang"]: link["href"] for link in page.select("link[rel=alternate]")} == {
        "en": f"{ADDRESS}/back/page.html",
        "zh-Hans": f"{ADDRESS}/zh/back/page.html",
        "x-default": f"{ADDRESS}/back/page.html",
    }
    described = {each.get("property", each.get("name")): each["content"] for each in page.select("meta[content]")}
    assert described["description"] == described["og:description"] == "It takes n^2 steps & more."
    assert (html / "back" / "page.html").read_text(encoding="utf-8").count('"It takes n^2 steps &amp; more."') == 2
    assert described["og:title"] == "Page"
    assert described["og:url"] == f"{ADDRESS}/{own}back/page.html"
    assert described["og:image"] == f"{ADDRESS}/_static/preview.png"
    to = page.select_one(".sidebar-sticky a.language")
    assert (to["href"], to["hreflang"], to.text) == link
    assert (html / "sitemap.xml").exists() == (language == "en")  # which brings that of all languages, and the picture
    if language == "en":
        found = {each.text for each in ET.parse(html / "sitemap.xml").iter() if each.tag.endswith("loc")}
        assert found == {f"{ADDRESS}/{folder}{name}.html" for folder in ("", "zh/") for name in ("index", "back/page")}
        with Image.open(html / "_static" / "preview.png") as picture:
            assert picture.size == SIZE


def test_without_an_address_a_page_names_none(tmp_path):
    html, page = build(tmp_path, address="")
    assert page.select("link[rel=canonical], link[rel=alternate], meta[property], meta[name=description]") == []
    assert [link["href"] for link in page.head.select("[href]") if "://" in link["href"]] == []
    assert not (html / "sitemap.xml").exists()
    assert not (html / "_static" / "preview.png").exists()


def test_an_address_loses_its_last_slash():
    assert site_address({"tool": {"d2l": {"address": f"{ADDRESS}/"}}}) == ADDRESS
    assert site_address({"tool": {"d2l": {"address": ""}}}) == ""


@pytest.mark.parametrize("wrong", ["books.example", "https://", "ftp://books.example", "https://books.example/a b"])
def test_what_is_no_address_is_an_error_with_its_cure(wrong):
    with pytest.raises(BookError, match="is no address of a site: write one such as https://OWNER"):
        site_address({"tool": {"d2l": {"address": wrong}}})
