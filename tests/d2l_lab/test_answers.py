"""What a reader is told about an answer."""

import numpy as np
import pytest

from d2l_lab.exercises.answers import Case, examine

CASES = (
    Case(([1, 2],), 3, "add them up"),
    Case((np.arange(9.0),), 36, "all of them"),
)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (sum, "✓ total: 2 cases hold"),
        (lambda x: None, "– total returns nothing yet: write it in the cell above"),
        (lambda x: 3, "✗ total(<array of shape (9,)>) returned 3\n  Hint: all of them"),
        (lambda x: x[0], "✗ total([1, 2]) returned 1\n  Hint: add them up"),
        (lambda x: "three", "✗ total([1, 2]) returned 'three'\n  Hint: add them up"),
        (lambda x: np.ones(3), "✗ total([1, 2]) returned [1.0, 1.0, 1.0]\n  Hint: add them up"),
        (lambda x: [3], "✗ total([1, 2]) returned [3]\n  Hint: add them up"),
        (lambda x: 1 / 0, "✗ total([1, 2]) raised ZeroDivisionError: division by zero"),
        (lambda: 3, "✗ total([1, 2]) raised TypeError"),
    ],
)
def test_an_answer_is_told_what_became_of_it(answer, says):
    assert examine("total", answer, CASES).startswith(says)


def test_an_answer_cannot_change_the_cases_and_may_be_what_they_cannot_look_at():
    def spends(x):
        total = 0
        while len(x):
            total, x[:] = total + x[0], x[1:]
        return total

    numbers = [1, 2]
    for _ in range(2):
        assert examine("total", spends, (Case((numbers,), 3, "…"),)).startswith("✓")
    assert numbers == [1, 2]
    case = Case((1,), lambda result: result[5] == 0, "six numbers")
    assert examine("six", lambda n: [n], (case,)) == "✗ six(1) returned [1]\n  Hint: six numbers"
