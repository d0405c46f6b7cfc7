"""Exercises that are checked: the worked solution passes, the empty stub and a wrong answer do not."""

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

from book import ROOT
from book.cells import expand
from d2l_lab.exercises.answers import HELD, MISSED, OPEN, examine
from d2l_lab.exercises.checks import CASES, check

CALL = re.compile(r'd2l\.check\("(\w+)", \1\)')


@functools.cache
def entries(section):
    return expand(jupytext.read(ROOT / "notebooks" / f"{section}.md"))


def checked(section):
    """Return (name, stub, code of the solution) of each exercise of a section that is checked."""
    cells = entries(section)
    found = []
    for i, entry in enumerate(cells):
        if "exercise" in entry.tags and (call := CALL.fullmatch(entry.source)):
            told = itertools.takewhile(lambda later: "solution" in later.tags, cells[i + 1 :])
            solution = [each.source for each in told if each.kind == "code" and each.framework is None]
            found.append((call[1], cells[i - 1], "\n".join(solution)))
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
    assert len(cells) == 2 * len(checked(section)) >= 4  # a stub and its check each
    assert {entry.framework for entry in cells} == {None}


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
        ("convolutoin", len, ValueError, "there is no exercise 'convolutoin' to check; there are: adapt backed_up"),
        ("convolution", (1, 2), TypeError, "convolution without parentheses"),
    ],
)
def test_what_cannot_be_checked_is_an_error(name, answer, error, words):
    with pytest.raises(error, match=words):
        check(name, answer)
