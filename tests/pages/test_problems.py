"""The page of all problems: what it lists, and where its links lead."""

import pytest
from tiny_book import Book, code, notebook, prose

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
INDEX = "# Tiny\n\n```{toctree}\nposing\nlists\n```\n"
LISTS = "# Lists\n\n```{problems}\n```\n"
BOOK = {
    "posing": notebook(
        prose("# Posing\n\n1. No exercise\n\n$$ 1 $$ (eq-sum)"),
        prose(ENVELOPE),
        prose(ENVELOPE.replace("how long?", "a heap"), "jax"),
        prose(EXERCISES),
        code("1 + 1", "solution"),
        prose("3. Say why. Do.", "jax"),
        prose("3. Say how. Do.", "pytorch"),
        prose("```{bibliography}\n:filter: docname in docnames\n```"),
    ),
    "lists": LISTS,
}


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return Book(tmp_path_factory.mktemp("problems"), BOOK, files={"references.bib": BIB}, index=INDEX)


@pytest.fixture
def listed(small):
    return small.article("lists")


def test_the_problems_of_a_page_stand_under_its_title(listed):
    assert listed.h2.get_text().removesuffix("#") == "Posing"
    assert [" ".join(item.get_text().split()) for item in listed.select("li")] == [
        "How long? How long does that take, with 2 disks?",
        "A heap (JAX): How long does that take, with 2 disks?",
        "Exercise 1: Lovelace (1843) adds 1 and 1.",
        "Exercise 2: What is two and two?",
        "Exercise 3 (PyTorch): Say how.",
        "Exercise 3 (JAX): Say why.",
    ]


def test_each_problem_links_to_its_place(listed, small):
    links = [item.a["href"] for item in listed.select("li")]
    assert links == [
        "posing.html#envelope-1",
        "posing.html?tab=jax#envelope-2-jax",
        "posing.html#exercise-1",
        "posing.html#exercise-2",
        "posing.html?tab=pytorch#exercise-3-pytorch",
        "posing.html?tab=jax#exercise-3-jax",
    ]
    page = small.article("posing")
    places = [page.find(id=link.partition("#")[2]) for link in links]
    assert ["how long?" in places[0].get_text(), "two and two" in places[3].get_text()] == [True, True]
    assert None not in places


def test_a_changed_exercise_reaches_the_list(tmp_path):
    book = Book(tmp_path, {"page": "# Page\n\n## Exercises\n\n1. First.\n", "lists": LISTS})
    assert book.article("lists").li.get_text() == "Exercise 1: First."
    book.write("page", "# Page\n\n## Exercises\n\n1. Second.\n")
    assert book.build() == (0, "")
    assert book.article("lists").li.get_text() == "Exercise 1: Second."
