"""What stands one click away: solutions, and the code of claims."""

import pytest
from tiny_book import claim, code, notebook, prose, words

HEAD = prose("# Page\n\nText.")


def solution(text):
    return f":::{{dropdown}} Solution\n{text}\n:::"


def results(word, *tags):
    """Return what a shared cell gave, one cell for each of two frameworks."""
    return [code("work()", name, "remove-input", *tags, outputs=[f"{word} {name}\n"]) for name in ("pytorch", "jax")]


def shared(*tags):
    """Return the cells of a solution with text, code and results."""
    cells = [code("work()", "solution"), *results("took", *tags), prose("Go on.")]
    return [prose("1. Try.\n\n" + solution("Because.")), *cells]


CELLS = {
    "shared-solution": shared(),
    "tagged-solution": shared("solution"),
    "two-solutions": [
        *[prose(solution(f"By {name}."), name) for name in ("pytorch", "jax")],
        *[code(f"solve_{name}()", name, "solution", outputs=[f"{name}\n"]) for name in ("pytorch", "jax")],
    ],
    "one-solution": [
        prose("Both.", "pytorch"),
        prose("Try.\n\n" + solution("Because."), "jax"),
        code("f()", "jax", "solution"),
    ],
    "code-alone": [code("solve()", "solution", outputs=["42\n"])],
    "many-solutions": [
        prose("1. One.\n\n" + solution("First.")),
        code("one()", "solution"),
        prose(f"2. Two.\n\n{solution('Second.')}\n\n3. Three.\n\n{solution('Third.')}\n\n{solution('Fourth.')}"),
        code("four()", "solution"),
    ],
    "prose-within": [
        prose(solution("Because.")),
        code("a()", "solution"),
        prose("Then.", "jax"),
        code("b()", "solution"),
        prose("After.", "jax"),
    ],
    "an-answer": [prose(":::{dropdown} Answer\n42\n:::"), code("work()")],
    "claims-of-one": [
        code(
            "d2l.claim()",
            "jax",
            "claims",
            outputs=[claim("It is fast", True, "0.1; below 0.5"), claim("It fits", None, note="not checked: no core")],
        )
    ],
    "claims-that-differ": [
        code("d2l.claim()", "claims"),
        *[code("d2l.claim()", n, "remove-input", outputs=[claim(f"Holds in {n}")]) for n in ("pytorch", "jax")],
    ],
    "claim-among-outputs": [code("work()", outputs=["before\n", claim("It is fast"), "after\n✓ printed\n"])],
    "claims-not-run": [code("d2l.claim()", "claims"), prose("Text.")],
    "claims-in-solution": [
        prose(solution("Because.")),
        code("d2l.claim()", "solution", "claims", outputs=[claim("It is so")]),
    ],
    "marks": [code("x", outputs=[claim("So it is", held) for held in (True, False, None)])],
    "missed": [
        code(
            "d2l.claim()", "claims", outputs=[claim("It is fast", False, "0.7; not below 0.5", "The machine is slow.")]
        )
    ],
}
PAGES = {name: notebook(HEAD, *cells) for name, cells in CELLS.items()}


@pytest.fixture
def folds(book):
    """A function that returns the folds of a page with a title."""
    return lambda name, title="Solution": [
        fold for fold in book.article(name).select("details") if words(fold.summary) == title
    ]


@pytest.mark.parametrize("name", ["shared-solution", "tagged-solution"])
def test_text_code_and_results_of_a_solution_are_one_fold(folds, name):
    (fold,) = folds(name)
    assert words(fold) == "Solution Because. work() PyTorch took pytorch JAX took jax"
    assert len(fold.select(".frameworks")) == 1
    assert fold.select("details") == []
    assert "Go on." in words(fold.find_next_sibling())


def test_solutions_that_differ_are_one_fold_with_tabs_in_it(folds):
    (fold,) = folds("two-solutions")
    assert len(fold.select(".frameworks")) == 1
    for name in ("pytorch", "jax"):
        assert words(fold.select_one(f".only-{name}")) == f"By {name}. solve_{name}() {name}"


def test_a_solution_of_one_framework_is_a_fold_in_its_tab_alone(book, folds):
    (fold,) = folds("one-solution")
    assert words(fold) == "Solution Because. f()"
    assert "only-jax" in fold.find_parent(class_="panel")["class"]
    page = book.article("one-solution")
    assert words(page.select_one(".only-jax")).startswith("Try.")
    assert page.select(".frameworks .frameworks") == []


def test_each_exercise_has_its_own_fold_with_or_without_text(book, folds):
    texts = ["First. one()", "Second.", "Third.", "Fourth. four()"]
    assert [words(fold) for fold in folds("many-solutions")] == [f"Solution {text}" for text in texts]
    assert [words(item) for item in book.article("many-solutions").select("ol > li")] == ["One.", "Two.", "Three."]
    assert [words(fold) for fold in folds("code-alone")] == ["Solution solve() 42"]


def test_prose_of_a_framework_within_a_solution_goes_with_it_and_other_prose_does_not(folds):
    assert [words(fold) for fold in folds("prose-within")] == ["Solution Because. a() JAX Then. b()"]


def test_an_answer_without_code_stays_as_it_is(folds):
    assert [words(fold) for fold in folds("an-answer", "Answer")] == ["Answer 42"]
    assert folds("an-answer") == []


def test_a_builder_that_cannot_fold_shows_solutions_and_claims_in_order(book):
    paragraphs = book.text("shared-solution")
    start = paragraphs.index("Because.")
    assert "Solution" in paragraphs[start - 1]
    expected = ["Because.", "work()", "**PyTorch**", "took pytorch", "**JAX**", "took jax", "Go on."]
    assert paragraphs[start : start + 7] == expected
    paragraphs = book.text("missed")
    start = paragraphs.index("✗ It is fast (0.7; not below 0.5)")
    assert paragraphs[start + 1] == "The machine is slow."
    assert "how it is checked" in paragraphs[start + 2]
    assert paragraphs[start + 3] == "d2l.claim()"


def test_a_cell_of_claims_shows_its_lines_and_folds_its_code(book, folds):
    lines = ["✓ It is fast (0.1; below 0.5)", "– It fits not checked: no core"]
    page = book.article("claims-of-one")
    assert [words(line) for line in page.select_one(".cell").select(".claim")] == lines
    (fold,) = folds("claims-of-one", "how it is checked")
    assert words(fold) == "how it is checked d2l.claim()"
    assert (bool(fold.find_previous(class_="claim")), fold.find_next(class_="claim")) == (True, None)
    assert len(page.select("pre")) == 1


def test_a_mark_has_a_word_for_those_who_hear_the_page(book):
    found = [(mark.get_text(), mark["aria-label"]) for mark in book.article("marks").select(".claim [role=img]")]
    assert found == [("✓", "held"), ("✗", "missed"), ("–", "not checked")]


def test_claims_that_differ_stand_in_tabs_above_the_code_that_they_share(book):
    page = book.article("claims-that-differ")
    (cell,) = page.select(".tag_claims")
    assert [words(panel) for panel in cell.select(".panel")] == ["✓ Holds in pytorch", "✓ Holds in jax"]
    assert [words(fold) for fold in cell.select(":scope > details")] == ["how it is checked d2l.claim()"]
    assert words(page).count("d2l.claim()") == 1
    assert [part["id"] for part in page.select(".cell[id]")] == ["c2", "c3"]


def test_a_claim_beside_other_code_stands_among_the_outputs_in_order(book):
    page = book.article("claim-among-outputs")
    assert words(page.select_one(".cell_output")) == "before ✓ It is fast after ✓ printed"
    assert [words(line) for line in page.select(".claim")] == ["✓ It is fast"]
    assert words(page.select_one(".cell_input")) == "work()"
    assert page.select("details") == []


def test_claims_that_were_not_run_show_their_code_and_those_of_a_solution_fold_in_its_fold(book, folds):
    page = book.article("claims-not-run")
    assert words(page.select_one(".cell_input")) == "d2l.claim()"
    assert page.select("details") == []
    (fold,) = folds("claims-in-solution")
    assert words(fold) == "Solution Because. ✓ It is so how it is checked d2l.claim()"
