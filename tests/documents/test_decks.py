"""The decks that `make slides` wrote last, in each language; D2L_DOCUMENTS names another framework."""

import re

import jupytext
import pytest
from bs4 import BeautifulSoup
from editions import layout_of
from written import OTHERS, SECTIONS, last_written

from book.cells import expand, of
from book.words import say

FEWEST, MOST = 8, 20  # slides of a section
pytestmark = pytest.mark.slow
layout = layout_of("slides")


@pytest.fixture(scope="module")
def slides_framework():
    return last_written("slides/{}/index.html") or pytest.fail("no decks: run `make slides FRAMEWORKS=jax`")


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
    texts = {section: (layout.sources / f"{section}.md").read_text(encoding="utf-8") for section in decks}
    return {name: of(expand(jupytext.reads(text, fmt="md:myst")), slides_framework) for name, text in texts.items()}


def test_the_list_names_every_deck_in_the_book_s_order(decks, folder, layout):
    text = (folder / "index.html").read_text(encoding="utf-8")
    others = [page for page in OTHERS if (folder / f"{page}.html").exists()]
    assert re.findall(r'href="(.+?)\.html"', text) == [*decks, *others] != []
    assert f'<html lang="{layout.lang}">' in text
    assert f"<h1>{say('Computational Performance')}" in text
    assert {deck.html["lang"] for deck in decks.values()} == {layout.lang}


def test_a_deck_has_slides_enough_below_its_title(decks, sources):
    for section, deck in decks.items():
        title = re.search(r"^# (.+)$", sources[section][0].source, re.MULTILINE)[1]
        assert deck.h1.get_text() == title
        assert FEWEST <= len(deck.select(".slides section section")) <= MOST, section
        assert deck.select(".box img"), section
        assert all(picture["alt"] for picture in deck.select("img")), section


def test_a_deck_has_every_figure_that_is_marked(decks, sources):
    for section, cells in sources.items():
        marked = [cell.source for cell in cells if cell.slide and cell.kind == "markdown"]
        figures = sum(text.count(":::{figure}") for text in marked)
        shown = decks[section].select(".box > .picture img[src^='data:image/svg'], .fragment img")
        assert len(shown) >= figures > 0, section


def test_a_deck_closes_with_the_exercises(decks):
    for section, deck in decks.items():
        headings = dict.fromkeys(heading.get_text() for heading in deck.select("h2"))
        assert list(headings)[-2:] == [say("Summary"), say("Exercises")], section
        assert len(deck.select("aside.notes")) >= FEWEST / 2, section


def test_a_deck_has_every_question_of_the_exercises(decks, sources):
    for section, deck in decks.items():
        prose = [cell.source for cell in sources[section] if cell.kind == "markdown" and "solution" not in cell.tags]
        (exercises,) = re.findall(rf"^## {say('Exercises')}$(.*?)^## ", "\n".join(prose), re.MULTILINE | re.DOTALL)
        items = re.findall(r"^\d+\. .*(?:\n {3}.*)*", exercises, re.MULTILINE)
        listed = [item.get_text() for item in deck.select(".questions > li")]
        assert [len(re.findall("[?？]", text)) for text in listed] == [len(re.findall("[?？]", text)) for text in items]
