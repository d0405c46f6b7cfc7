"""Exercises that are checked: the worked solution passes, the empty stub and a wrong answer do not.

Predictions are checked against a measurement, which the notebooks themselves run.
"""

import ast
import doctest
import functools
import itertools
import re

import jupytext
import numpy as np
import pytest
from written import SECTIONS
from wrong_answers import WRONG

from book import FRAMEWORKS, ROOT
from book.cells import expand
from d2l_lab.exercises.answers import HELD, MISSED, OPEN, examine
from d2l_lab.exercises.checks import CASES, GUESSES, check
from d2l_lab.instruments.timing import Measurement
from d2l_lab.machine.disturbance import Disturbance

CALL = re.compile(r'd2l\.check\("(\w+)", \1\)')
WEIGHED = re.compile(r'^d2l\.check\("(\w+)", guess, ', re.M)
STUB = re.compile(r"guess = None  # your prediction: (seconds|a (?:share|ratio|number of \w+))")


@functools.cache
def entries(section):
    return expand(jupytext.read(ROOT / "notebooks" / f"{section}.md"))


def checked(section):
    """Return (name, stub, code of the solution) of each exercise of a section that is checked."""
    cells = entries(section)
    found = []
    for i, entry in enumerate(cells):
        if "exercise" in entry.tags and (call := CALL.fullmatch(entry.source)):
            later = itertools.dropwhile(lambda each: "exercise" in each.tags, cells[i + 1 :])
            told = itertools.takewhile(lambda each: "solution" in each.tags, later)
            solution = [each.source for each in told if each.kind == "code" and each.framework is None]
            found.append((call[1], cells[i - 1], "\n".join(solution)))
    return found


def predicted(section):
    """Return {framework: [(name, unit of the stub, whether a solution has a prediction of this name checked)]}."""
    found = {}
    for framework in FRAMEWORKS:
        cells = [entry for entry in entries(section) if entry.kind == "code" and entry.framework in (None, framework)]
        asked = [
            (stub.source, WEIGHED.search(check.source))
            for stub, check in itertools.pairwise(cells)
            if "exercise" in stub.tags and "exercise" in check.tags
        ]
        solved = [
            WEIGHED.search(cell.source) for cell in cells if "solution" in cell.tags and "guess = " in cell.source
        ]
        names = [each[1] for each in solved if each]
        found[framework] = [(call[1], STUB.fullmatch(stub)[1], call[1] in names) for stub, call in asked if call]
    return found


ALL = {name: (stub, solution) for section in SECTIONS for name, stub, solution in checked(section)}


def defined(source, name):
    """Return the function that code defines, with its imports and its other functions, without running the rest."""
    tree = ast.parse(source)
    tree.body = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.Import | ast.ImportFrom)]
    space = {"np": np}
    exec(compile(tree, name, "exec"), space)
    return space[name], space


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_has_two_exercises_or_more_that_are_checked_in_every_framework(section):
    cells = [entry for entry in entries(section) if "exercise" in entry.tags]
    functions = [entry for entry in cells if not STUB.match(entry.source) and not WEIGHED.search(entry.source)]
    assert len(functions) == 2 * len(checked(section)) >= 4  # a stub and its check each
    assert {entry.framework for entry in functions} == {None}


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_has_a_prediction_that_readers_and_its_solution_check_in_every_framework(section):
    by_framework = [*predicted(section).values()]
    assert by_framework[0]
    assert all(each == by_framework[0] for each in by_framework)
    for name, unit, solved in by_framework[0]:
        assert solved
        assert (unit == "seconds") == (GUESSES[name].unit == "s")


def test_every_prediction_that_can_be_checked_is_asked_for_once():
    named = [name for section in SECTIONS for name, *_ in predicted(section)["pytorch"]]
    assert sorted(named) == sorted(GUESSES)
    assert not {*GUESSES} & {*CASES}


@pytest.mark.parametrize("name", GUESSES)
def test_a_prediction_that_misses_meets_a_hint_and_none_is_not_measured(name, capsys):
    check(name, None, measured=lambda: 1 / 0)
    assert capsys.readouterr().out == f"{OPEN} {name}: predict first, with a number in the cell above\n"
    check(name, 2.0, measured=lambda: 3.1)
    first, hint = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{MISSED} {name}: predicted 2")
    assert first.endswith(", off by 1.55 ×")
    assert hint == f"  Hint: {GUESSES[name].hint}"
    assert 10 < len(GUESSES[name].hint) <= 120
    check(name, 2.0, measured=lambda: 2.9)
    assert capsys.readouterr().out.endswith(", within 1.5 ×\n")


def test_every_check_has_a_wrong_answer_in_one_section():
    named = [name for section in SECTIONS for name, _, _ in checked(section)]
    assert sorted(named) == sorted(CASES)
    assert {name for name, _, _ in WRONG} == set(CASES)


@pytest.mark.parametrize("name", ALL)
def test_the_stub_says_by_example_what_is_asked(name, capsys):
    stub, _ = ALL[name]
    (function,) = ast.parse(stub.source).body
    assert isinstance(function, ast.FunctionDef)
    assert len(function.body) == 1
    assert ">>> " in ast.get_docstring(function)
    check(name, defined(stub.source, name)[0])
    assert capsys.readouterr().out.startswith(f"{OPEN} {name} returns nothing yet: write it in the cell above")


@pytest.mark.parametrize("name", ALL)
def test_the_worked_solution_does_what_the_stub_says(name):
    stub, solution = ALL[name]
    answer, space = defined(solution, name)
    outcome = examine(name, answer, CASES[name])
    assert outcome.startswith(HELD), outcome
    assert f'd2l.check("{name}", {name})' in solution
    example = doctest.DocTestParser().get_doctest(
        ast.get_docstring(ast.parse(stub.source).body[0]), space, name, None, 0
    )
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0


@pytest.mark.parametrize(("name", "answer", "words"), WRONG, ids=[f"{name}, {words}" for name, _, words in WRONG])
def test_a_wrong_answer_meets_a_hint_that_fits(name, answer, words):
    outcome = examine(name, answer, CASES[name])
    assert outcome.startswith(MISSED)
    assert words in outcome.partition("Hint: ")[2]


@pytest.mark.parametrize("name", CASES)
def test_a_hint_is_a_line_of_words(name):
    hints = [case.hint for case in CASES[name]]
    assert len(hints) >= 3
    assert all(10 < len(hint) <= 120 and "\n" not in hint and "return" not in hint for hint in hints)


@pytest.mark.parametrize(
    ("name", "answer", "error", "words"),
    [
        (
            "convolutoin",
            len,
            ValueError,
            "there is no exercise 'convolutoin' to check; there are: adapt ahead away backed_up",
        ),
        ("convolution", (1, 2), TypeError, "convolution without parentheses"),
    ],
)
def test_what_cannot_be_checked_is_an_error(name, answer, error, words):
    with pytest.raises(error, match=words):
        check(name, answer)


@pytest.mark.parametrize(
    ("answer", "measured", "error", "words"),
    [
        (1.0, None, TypeError, "check takes a function that measures product, not None"),
        (1.0, 2.0, TypeError, "check takes a function that measures product, not 2.0"),
        (max, max, TypeError, "check takes a number, the prediction of product, not a function"),
        ("1 ms", lambda: 1, TypeError, "a prediction of product is a number, not '1 ms'"),
        (True, lambda: 1, TypeError, "a prediction of product is a number, not True"),
        (-1, lambda: 1, ValueError, "a prediction of product is a number above 0, not -1"),
        (float("nan"), lambda: 1, ValueError, "a prediction of product is a number above 0, not nan"),
        (1, lambda: 0, ValueError, "what was measured of product is a number above 0, not 0"),
    ],
)
def test_what_is_no_prediction_or_no_measurement_is_an_error_in_one_line(answer, measured, error, words):
    with pytest.raises(error) as raised:
        check("product", answer, measured)
    assert str(raised.value) == words


def test_figures_of_a_check_have_units_and_a_disturbed_measurement_says_so(capsys):
    busy = Measurement((0.004, 0.005, 0.006), 1, Disturbance(others=1.5, cores=2))
    check("product", 0.0045, lambda: busy)
    assert capsys.readouterr().out == (
        "✓ product: predicted 4.50 ms, measured 5.00 ms, within 1.5 ×; disturbed: other programs took 1.5 of 2 cores\n"
    )
