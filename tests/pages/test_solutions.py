"""What stands one click away: solutions, and the code of claims."""

import pytest
from tiny_book import claim, code, page_of, prose, text_of

HEAD = prose("# Page\n\nText.")


def solution(text):
    return f":::{{dropdown}} Solution\n{text}\n:::"


def words(element):
    return " ".join(element.get_text().split())


def folds(page, title="Solution"):
    return [fold for fold in page.select("details") if words(fold.summary) == title]


def results(word, *tags):
    """Return what a shared cell gave, one cell for each of two frameworks."""
    return [code("work()", name, "remove-input", *tags, outputs=[f"{word} {name}\n"]) for name in ("pytorch", "jax")]


@pytest.mark.parametrize("tags", [(), ("solution",)])
def test_text_code_and_results_of_a_solution_are_one_fold(tmp_path, tags):
    cells = [
        prose("1. Try.\n\n" + solution("Because.")),
        code("work()", "solution"),
        *results("took", *tags),
        prose("Go on."),
    ]
    page = page_of(tmp_path, HEAD, *cells)
    (fold,) = folds(page)
    assert words(fold) == "Solution Because. work() PyTorch took pytorch JAX took jax"
    assert len(fold.select(".frameworks")) == 1
    assert page.select("details details") == []
    assert "Go on." in words(fold.find_next_sibling())


def test_solutions_that_differ_are_one_fold_with_tabs_in_it(tmp_path):
    cells = [prose(solution(f"By {name}."), name) for name in ("pytorch", "jax")]
    cells += [code(f"solve_{name}()", name, "solution", outputs=[f"{name}\n"]) for name in ("pytorch", "jax")]
    (fold,) = folds(page_of(tmp_path, HEAD, *cells))
    assert len(fold.select(".frameworks")) == 1
    assert words(fold.select_one(".only-pytorch")) == "By pytorch. solve_pytorch() pytorch"
    assert words(fold.select_one(".only-jax")) == "By jax. solve_jax() jax"


def test_a_solution_of_one_framework_is_a_fold_in_its_tab_alone(tmp_path):
    cells = [prose("Both.", "pytorch"), prose("Try.\n\n" + solution("Because."), "jax"), code("f()", "jax", "solution")]
    page = page_of(tmp_path, HEAD, *cells)
    (fold,) = folds(page)
    assert words(fold) == "Solution Because. f()"
    assert "only-jax" in fold.find_parent(class_="panel")["class"]
    assert words(page.select_one(".only-jax")).startswith("Try.")
    assert page.select(".frameworks .frameworks") == []


def test_code_without_a_text_is_a_solution_too(tmp_path):
    (fold,) = folds(page_of(tmp_path, HEAD, code("solve()", "solution", outputs=["42\n"])))
    assert words(fold) == "Solution solve() 42"


def test_each_exercise_has_its_own_fold(tmp_path):
    cells = [
        prose("1. One.\n\n" + solution("First.")),
        code("one()", "solution"),
        prose(f"2. Two.\n\n{solution('Second.')}\n\n3. Three.\n\n{solution('Third.')}\n\n{solution('Fourth.')}"),
        code("four()", "solution"),
    ]
    page = page_of(tmp_path, HEAD, *cells)
    assert [words(fold) for fold in folds(page)] == [
        "Solution First. one()",
        "Solution Second.",
        "Solution Third.",
        "Solution Fourth. four()",
    ]
    outside = [words(item) for item in page.select("ol > li")]
    assert outside == ["One.", "Two.", "Three."]


def test_prose_of_a_framework_within_a_solution_goes_with_it_and_other_prose_does_not(tmp_path):
    inside = [prose(solution("Because.")), code("a()", "solution"), prose("Then.", "jax"), code("b()", "solution")]
    (fold,) = folds(page_of(tmp_path, HEAD, *inside, prose("After.", "jax")))
    assert words(fold) == "Solution Because. a() JAX Then. b()"


def test_an_answer_without_code_stays_as_it_is(tmp_path):
    page = page_of(tmp_path, HEAD, prose(":::{dropdown} Answer\n42\n:::"), code("work()"))
    assert [words(fold) for fold in folds(page, "Answer")] == ["Answer 42"]
    assert folds(page) == []


def test_a_builder_that_cannot_fold_shows_a_solution_in_order(tmp_path):
    cells = [prose(solution("Because.")), code("work()", "solution"), *results("took")]
    paragraphs = text_of(tmp_path, HEAD, *cells)
    start = paragraphs.index("Because.")
    assert "Solution" in paragraphs[start - 1]
    assert paragraphs[start:] == ["Because.", "work()", "**PyTorch**", "took pytorch", "**JAX**", "took jax"]


def test_a_cell_of_claims_shows_its_lines_and_folds_its_code(tmp_path):
    outputs = [claim("It is fast", True, "0.1; below 0.5"), claim("It fits", None, note="not checked: no core")]
    page = page_of(tmp_path, HEAD, code("d2l.claim()", "jax", "claims", outputs=outputs))
    cell = page.select_one(".cell")
    (fold,) = folds(page, "how it is checked")
    assert words(fold) == "how it is checked d2l.claim()"
    assert [words(line) for line in cell.select(".claim")] == [
        "✓ It is fast (0.1; below 0.5)",
        "– It fits not checked: no core",
    ]
    assert fold.find_previous(class_="claim")
    assert not fold.find_next(class_="claim")
    assert len(page.select("pre")) == 1


@pytest.mark.parametrize(
    ("held", "sign", "word"), [(True, "✓", "held"), (False, "✗", "missed"), (None, "–", "not checked")]
)
def test_a_mark_has_a_word_for_those_who_hear_the_page(tmp_path, held, sign, word):
    mark = page_of(tmp_path, HEAD, code("x", outputs=[claim("So it is", held)])).select_one(".claim [role=img]")
    assert (mark.get_text(), mark["aria-label"]) == (sign, word)


def test_claims_that_differ_stand_in_tabs_above_the_code_that_they_share(tmp_path):
    shown = [code("d2l.claim()", n, "remove-input", outputs=[claim(f"Holds in {n}")]) for n in ("pytorch", "jax")]
    page = page_of(tmp_path, HEAD, code("d2l.claim()", "claims"), *shown)
    (cell,) = page.select(".tag_claims")
    assert [words(panel) for panel in cell.select(".panel")] == ["✓ Holds in pytorch", "✓ Holds in jax"]
    (fold,) = folds(page, "how it is checked")
    assert fold in cell.find_all(recursive=False)
    assert words(page).count("d2l.claim()") == 1
    assert [part["id"] for part in page.select(".cell[id]")] == ["c2", "c3"]


def test_a_claim_beside_other_code_stands_among_the_outputs_in_order(tmp_path):
    outputs = ["before\n", claim("It is fast"), "after\n✓ printed\n"]
    page = page_of(tmp_path, HEAD, code("work()", outputs=outputs))
    assert words(page.select_one(".cell_output")) == "before ✓ It is fast after ✓ printed"
    assert [words(line) for line in page.select(".claim")] == ["✓ It is fast"]
    assert words(page.select_one(".cell_input")) == "work()"
    assert page.select("details") == []


def test_claims_that_were_not_run_show_their_code(tmp_path):
    page = page_of(tmp_path, HEAD, code("d2l.claim()", "claims"), prose("Text."))
    assert words(page.select_one(".cell_input")) == "d2l.claim()"
    assert page.select("details") == []


def test_claims_within_a_solution_fold_within_its_fold(tmp_path):
    cells = [prose(solution("Because.")), code("d2l.claim()", "solution", "claims", outputs=[claim("It is so")])]
    (fold,) = folds(page_of(tmp_path, HEAD, *cells))
    assert words(fold) == "Solution Because. ✓ It is so how it is checked d2l.claim()"


def test_a_builder_that_cannot_fold_shows_the_claim_before_its_code(tmp_path):
    outputs = [claim("It is fast", False, "0.7; not below 0.5", "The machine is slow.")]
    paragraphs = text_of(tmp_path, HEAD, code("d2l.claim()", "claims", outputs=outputs))
    start = paragraphs.index("✗ It is fast (0.7; not below 0.5)")
    assert paragraphs[start + 1] == "The machine is slow."
    assert "how it is checked" in paragraphs[start + 2]
    assert paragraphs[start + 3] == "d2l.claim()"
