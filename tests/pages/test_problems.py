"""The page of all problems: what it lists, and where its links lead."""

import pytest
from bs4 import BeautifulSoup
from tiny_book import code, page_of, prose

INDEX = "# Tiny\n\n```{toctree}\npage\n```\n\n```{toctree}\nlists\n```\n"
LISTS = "# Lists\n\n```{problems}\n```\n"
ENVELOPE = """\
:::::{admonition} Back-of-the-envelope problem: how long?
A disk reads 1 MB in 4 ms.
It reads 3 MB, see {eq}`eq-sum`.
How long does that take, with `2` disks?
Too long?

::::{dropdown} Answer
1. 12 ms.
::::
:::::
"""
EXERCISES = """\
## Exercises

1. {cite:t}`ada1843` adds `1` and 1. How?

:::{dropdown} Solution
1. No exercise.
:::

2. What is two and two? Count.
   1. Nor is this.
"""
BIB = "@book{ada1843, author={Ada Lovelace}, title={Notes}, year=1843, publisher={Taylor}}"
LIST_OF_WORKS = "```{bibliography}\n:filter: docname in docnames\n```"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("book")
    cells = [
        prose("# Page\n\n1. No exercise\n\n$$ 1 $$ (eq-sum)"),
        prose(ENVELOPE),
        prose(ENVELOPE.replace("how long?", "a heap"), "jax"),
        prose(EXERCISES),
        code("1 + 1", "solution"),
        prose("3. Say why. Do.", "jax"),
        prose("3. Say how. Do.", "pytorch"),
        prose(LIST_OF_WORKS),
    ]
    page_of(folder, *cells, index=INDEX, files={"lists.md": LISTS, "references.bib": BIB})
    return folder / "html"


@pytest.fixture(scope="module")
def listed(folder):
    return BeautifulSoup((folder / "lists.html").read_text(encoding="utf-8"), "html.parser").article


def test_the_problems_of_a_page_stand_under_its_title(listed):
    assert listed.h2.contents[0] == "Page"
    assert [" ".join(item.get_text().split()) for item in listed.select("li")] == [
        "How long? How long does that take, with 2 disks?",
        "A heap (JAX): How long does that take, with 2 disks?",
        "Exercise 1: Lovelace (1843) adds 1 and 1.",
        "Exercise 2: What is two and two?",
        "Exercise 3 (PyTorch): Say how.",
        "Exercise 3 (JAX): Say why.",
    ]


def test_each_problem_links_to_its_place(listed, folder):
    links = [item.a["href"] for item in listed.select("li")]
    assert links == [
        "page.html#envelope-1",
        "page.html?tab=jax#envelope-2-jax",
        "page.html#exercise-1",
        "page.html#exercise-2",
        "page.html?tab=pytorch#exercise-3-pytorch",
        "page.html?tab=jax#exercise-3-jax",
    ]
    page = BeautifulSoup((folder / "page.html").read_text(encoding="utf-8"), "html.parser")
    places = [page.find(id=link.partition("#")[2]) for link in links]
    assert ["how long?" in places[0].get_text(), "two and two" in places[3].get_text()] == [True, True]
    assert None not in places


def test_a_changed_exercise_reaches_the_list(tmp_path):
    for word in ("First", "Second"):
        cells = [prose("# Page"), prose(f"## Exercises\n\n1. {word}.")]
        page = page_of(tmp_path, *cells, index=INDEX, files={"lists.md": LISTS}, page="lists")
        assert page.li.get_text() == f"Exercise 1: {word}."
