"""The page of all problems: what it lists, and where its links lead."""

from tiny_book import Book, code, notebook, prose, words

ENVELOPE = """\
:::::{admonition} Back-of-the-envelope problem: how long?
A disk reads 1 MB in 4 ms.
It reads 3 MB, see {eq}`eq-sum`.
How long does that take, with `2` disks?
Too long?

* Or **(a)** too short?

$$ 12 $$

::::{dropdown} Answer
1. 12 ms.
::::
:::::
"""
EXERCISE = "## Exercises\n\n1. *{cite:t}`li2014`* adds `1` and 1. How?"
SECOND = "2. What is two and two? Count.\n   1. Nor is this."
LISTS = "# Lists\n\n```{problems}\n```\n"
PAGES = {
    "posing": notebook(
        prose("# Posing\n\n1. No exercise\n\n$$ 1 $$ (eq-sum)"),
        prose(ENVELOPE),
        prose(ENVELOPE.replace("how long?", "a heap"), "jax"),
        prose(EXERCISE),
        prose("1. No exercise.", "solution"),
        prose(SECOND),
        code("1 + 1", "solution"),
        prose("3. Say why. Do.", "jax"),
        prose("3. Say how. Do.", "pytorch"),
        prose("```{bibliography}\n:filter: docname in docnames\n```"),
    ),
    "lists": LISTS,
}
ASKED = "A disk reads 1 MB in 4 ms. It reads 3 MB, see (NUMBER.1). How long does that take, with 2 disks? Too long?"
LISTED = {
    "posing.html#envelope-1": f"How long? {ASKED} Or (a) too short? 12 12",
    "posing.html?tab=jax#envelope-2-jax": f"A heap (JAX): {ASKED} Or (a) too short? 12 12",
    "posing.html#exercise-1": "Exercise 1: Li et al. (2014) adds 1 and 1. How?",
    "posing.html#exercise-2": "Exercise 2: What is two and two? Count. Nor is this.",
    "posing.html?tab=pytorch#exercise-3-pytorch": "Exercise 3 (PyTorch): Say how. Do.",
    "posing.html?tab=jax#exercise-3-jax": "Exercise 3 (JAX): Say why. Do.",
}


def test_the_problems_of_a_page_link_to_their_places(book):
    listed = book.article("lists")
    (title,) = listed.select("h2")
    assert title.get_text().endswith(" Posing#")
    wanted = [(link, text.replace("NUMBER", str(book.number("posing")))) for link, text in LISTED.items()]
    assert [(item.a["href"], words(item)) for item in listed.select("h2 ~ ul > li")] == wanted
    page = book.article("posing")
    places = [page.find(id=link.partition("#")[2]).get_text() for link in LISTED]
    found = ["how long?", "a heap", "adds 1", "two and two", "Say how", "Say why"]
    assert all(text in place for text, place in zip(found, places, strict=True))


def test_a_changed_exercise_reaches_the_list(tmp_path):
    book = Book(tmp_path, {"page": "# Page\n\n## Exercises\n\n1. First.\n", "lists": LISTS})
    assert book.article("lists").li.get_text() == "Exercise 1: First."
    book.write("page", "# Page\n\n## Exercises\n\n1. Second.\n")
    assert book.build() == (0, "")
    assert book.article("lists").li.get_text() == "Exercise 1: Second."
