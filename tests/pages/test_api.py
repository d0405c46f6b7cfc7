"""The API reference: every name once, with its parameters and its docstring; what its page is made of."""

import re

import griffe
import pytest

from book import FRAMEWORKS, ROOT
from book.pages.api import blocks, described, known
from d2l_utils.common import D2L_NAMES, NAMES

PAGE = (ROOT / "notebooks" / "back" / "api.md").read_text(encoding="utf-8")
PAGES = {"api": "# API\n\n```{api} measure Span Job train_step\n```\n"}


@pytest.fixture
def article(book):
    return book.article("api")


def test_the_page_names_once_what_the_modules_export():
    named = " ".join(re.findall(r"```\{api\} (.+)", PAGE)).split()
    assert sorted(named) == sorted(known()) == sorted(NAMES + D2L_NAMES)


@pytest.mark.parametrize("name", NAMES + D2L_NAMES)
def test_every_name_has_a_docstring_in_every_framework(name):
    assert "\n: " in described(name)


def test_an_entry_describes_the_parameters(article):
    assert [term.code.get_text() for term in article.select("dl.api > dt")] == [
        "d2l.measure(function, repeats=9, budget=10.0)",
        "d2l.Span(row, start, end, kind)",
        "d2l.Job(command, n=None, *, environment=None, deadline=120, may_fail=(), isolated=False)",
        "d2l.train_step(net, optimizer, X, y)",
    ]
    assert article.dt["id"] == "d2l-measure"
    measure, _, job, step = article.select("dl.api > dd")
    assert measure.li.get_text().strip().startswith("function (callable): What is timed")
    assert any(item.get_text().strip().startswith(".wait(*ranks): Wait until") for item in job.select("li"))
    assert step.li.get_text().strip() == "net: A network that returns logits of shape (n, classes)."
    own = [item.get_text().strip() for item in step.select("li")][-len(FRAMEWORKS) :]
    assert [line.partition(":")[0] for line in own] == list(FRAMEWORKS.values())
    assert "torch.optim" in own[0]


def test_a_docstring_becomes_lines_of_markdown():
    parts = {
        "Parameters": "a : int\n    What it is,\n    in two lines.\nb, c\n    Others.",
        "Returns": "str\n    The result.",
        "Raises": "ValueError\n    If not.",
    }
    docstring = "Do it.\n\nMore.\n" + "".join(f"\n{name}\n-------\n{text}\n" for name, text in parts.items())
    assert blocks(griffe.Function("f", docstring=griffe.Docstring(docstring))) == [
        "Do it.",
        "More.",
        "* `a` (int): What it is, in two lines.",
        "* `b, c`: Others.",
        "* Returns (str): The result.",
        "* Raises `ValueError`: If not.",
    ]
