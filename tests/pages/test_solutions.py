"""What stands one click away: exercises to be checked, solutions, and code that only claims or draws."""

import pytest
from tiny_book import claim, code, notebook, outline, prose

HEAD = prose("# Page\n\nText.")


def results(word, *tags):
    """Return what a shared cell gave, one cell for each of two frameworks."""
    return [code("work()", name, "remove-input", *tags, outputs=[f"{word} {name}\n"]) for name in ("pytorch", "jax")]


CELLS = {
    "text-code-and-results-of-a-solution-are-one-fold": [
        prose("1. Try."),
        prose("Because.", "solution"),
        code("work()", "solution"),
        *results("took", "solution"),
        prose("Go on."),
    ],
    "solutions-that-differ-are-one-fold-with-tabs-in-it": [
        *[prose(f"By {name}.", name, "solution") for name in ("pytorch", "jax")],
        *[code(f"solve_{name}()", name, "solution", outputs=[f"{name}\n"]) for name in ("pytorch", "jax")],
    ],
    "a-solution-of-one-framework-is-a-fold-in-its-tab-alone": [
        prose("Both.", "pytorch"),
        prose("Try.", "jax"),
        prose("Because.", "jax", "solution"),
        code("f()", "jax", "solution"),
    ],
    "code-without-text-is-a-fold": [code("solve()", "solution", outputs=["42\n"])],
    "each-exercise-has-its-own-fold": [
        prose("1. One."),
        prose("First.", "solution"),
        code("one()", "solution"),
        prose("2. Two."),
        prose("Second.", "solution"),
    ],
    "prose-of-a-framework-within-a-solution-goes-with-it-and-other-prose-does-not": [
        prose("Because.", "solution"),
        code("a()", "solution"),
        prose("Then.", "jax", "solution"),
        code("b()", "solution"),
        prose("After.", "jax"),
    ],
    "a-stub-and-its-check-are-one-fold-above-the-solution": [
        prose("1. Write it."),
        code("def f(): ...", "exercise"),
        code("d2l.check()", "exercise", outputs=["– nothing yet\n"]),
        prose("Because.", "solution"),
        prose("2. Write more."),
        code("def g(): ...", "exercise"),
        code("d2l.check()", "exercise"),
        *results("checked"),
        prose("Go on."),
    ],
    "an-answer-without-code-stays-as-it-is": [prose(":::{dropdown} Answer\n42\n:::"), code("work()")],
    "a-cell-of-claims-shows-its-lines-and-folds-its-code": [
        code(
            "d2l.claim()",
            "jax",
            "claims",
            outputs=[claim("It is fast", figure="0.1", below="0.5"), claim("It fits", False, note="It is full.")],
        )
    ],
    "claims-that-differ-stand-in-tabs-above-the-code-that-they-share": [
        code("d2l.claim()", "claims"),
        *[code("d2l.claim()", n, "remove-input", outputs=[claim(f"Holds in {n}")]) for n in ("pytorch", "jax")],
    ],
    "a-cell-that-draws-shows-what-it-drew-and-folds-its-code": [code("plot()", "drawing", outputs=["a curve\n"])],
    "a-claim-beside-other-code-stands-among-the-outputs-in-order": [
        code("work()", outputs=["before\n", claim("It is fast"), "after\n✓ printed\n"])
    ],
    "claims-that-were-not-run-show-their-code": [code("d2l.claim()", "claims"), prose("Text.")],
    "claims-of-a-solution-fold-in-its-fold": [
        prose("Because.", "solution"),
        code("d2l.claim()", "solution", "claims", outputs=[claim("It is so")]),
    ],
    "a-claim-that-missed-has-its-figures-and-its-note": [
        code(
            "d2l.claim()",
            "claims",
            outputs=[claim("It is fast", False, figure="0.7", below="0.5", note="The machine's slow.")],
        )
    ],
}
PAGES = {name: notebook(HEAD, *cells) for name, cells in CELLS.items()}
PAGES["marks"] = notebook(HEAD, code("x", outputs=[claim("So it is", held) for held in (True, False)]))


@pytest.mark.parametrize("page", CELLS)
def test_a_page_reads_as_its_outline_says(book, outlines, page):
    assert outline(book.article(page)) == outlines[page]


def test_a_mark_has_a_word_for_those_who_hear_the_page(book):
    found = [(mark.get_text(), mark["aria-label"]) for mark in book.article("marks").select(".claim [role=img]")]
    assert found == [("✓", "held"), ("✗", "missed")]
