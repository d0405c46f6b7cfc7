"""The decks that `make slides` wrote last, in each language; D2L_DOCUMENTS names another framework."""

import os
import re

import jupytext
import pytest
from bs4 import BeautifulSoup
from editions import layout_of

from book import FRAMEWORKS, MODULES, ROOT
from book.cells import expand, of
from book.words import say

SECTIONS = re.findall(r"^\d+\. \{doc\}`(.+?)`: ", (ROOT / "notebooks" / "index.md").read_text("utf-8"), re.MULTILINE)
FEWEST, MOST = 8, 20  # slides of a section
HARMLESS = ("data:", "#")
pytestmark = pytest.mark.slow
layout = layout_of("slides")


@pytest.fixture(scope="module")
def slides_framework():
    """The framework whose decks are read."""
    found = {name: ROOT / "_build" / "slides" / name / "index.html" for name in FRAMEWORKS}
    written = [name for name, path in found.items() if path.exists()]
    if not written:
        pytest.fail("no decks: run `make slides FRAMEWORKS=jax`")
    return os.environ.get("D2L_DOCUMENTS") or max(written, key=lambda name: found[name].stat().st_mtime)


@pytest.fixture(scope="module")
def folder(layout, slides_framework):
    """The folder of the decks."""
    return layout.derived / "slides" / slides_framework


@pytest.fixture(scope="module")
def decks(folder):
    """The decks by their sections, as they are parsed."""
    paths = {section: folder / f"{section}.html" for section in SECTIONS}  # `make test SECTIONS=…` writes some
    texts = {section: path.read_text(encoding="utf-8") for section, path in paths.items() if path.exists()}
    return {section: BeautifulSoup(text, "html.parser") for section, text in texts.items()}


@pytest.fixture(scope="module")
def sources(decks, layout, slides_framework):
    """The cells of each section in the framework."""
    texts = {section: layout.source(section).read_text(encoding="utf-8") for section in decks}
    return {name: of(expand(jupytext.reads(text, fmt="md:myst")), slides_framework) for name, text in texts.items()}


def test_the_list_names_every_deck_in_the_book_s_order(decks, folder, layout):
    text = (folder / "index.html").read_text(encoding="utf-8")
    assert re.findall(r'href="(.+?)\.html"', text) == list(decks) != []
    assert f'<html lang="{layout.lang}">' in text
    assert f"<h1>{say('Computational Performance')}" in text


def test_a_deck_says_its_language(decks, layout):
    assert {deck.html["lang"] for deck in decks.values()} == {layout.lang}


def test_a_deck_has_its_section_s_title_enough_slides_and_pictures(decks, sources):
    for section, deck in decks.items():
        title = re.search(r"^# (.+)$", sources[section][0].source, re.MULTILINE)[1]
        assert deck.h1.get_text() == title
        assert FEWEST <= len(deck.select(".slides section section")) <= MOST, section
        assert deck.select(".box img"), section
        assert all(picture["alt"] for picture in deck.select("img")), section


def test_every_section_marks_a_figure_and_all_of_them_are_on_slides(decks, sources):
    for section, cells in sources.items():
        marked = [cell.source for cell in cells if cell.slide and cell.kind == "markdown"]
        figures = sum(text.count(":::{figure}") for text in marked)
        shown = decks[section].select(".box > .picture img[src^='data:image/svg'], .fragment img")
        assert len(shown) >= figures > 0, section


def test_a_deck_closes_with_summary_and_questions_and_has_notes(decks):
    for section, deck in decks.items():
        assert [heading.get_text() for heading in deck.select("h2")[-2:]] == [say("Summary"), say("Exercises")], section
        assert len(deck.select("aside.notes")) >= FEWEST / 2, section


def test_code_on_slides_is_that_of_one_framework(decks, slides_framework):
    others = [module for name, module in MODULES.items() if name != slides_framework]
    imports = re.compile(rf"\b(import|from) ({'|'.join(others)})\b|d2l_utils import ({'|'.join(others)})\b")
    code = [pre.get_text() for deck in decks.values() for pre in deck.select("pre")]
    assert len(code) > 5 * len(decks)
    assert [match[0] for text in code if (match := imports.search(text))] == []


def test_no_deck_tells_a_solution_or_an_answer(decks, sources):
    for section, deck in decks.items():
        assert deck.select(".slides details") == []
        solved = {" ".join(cell.source.split()) for cell in sources[section] if "solution" in cell.tags}
        assert solved & {" ".join(pre.get_text().split()) for pre in deck.select("pre")} == set(), section


def test_a_deck_loads_nothing(decks):
    for section, deck in decks.items():
        loaded = [node["src"] for node in deck.select("[src]")] + [node["href"] for node in deck.select("link")]
        assert [address for address in loaded if not address.startswith(HARMLESS)] == [], section
        styles = " ".join(style.get_text() for style in deck.select("style"))
        assert re.findall(r"@import|url\((?!['\"]?data:)[^)]*\)", styles) == [], section
