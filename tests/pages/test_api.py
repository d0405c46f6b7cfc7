"""The API reference: every name once, with its parameters and its docstring; what its page is made of."""

import re

import pytest

from book import FRAMEWORKS, MODULES, ROOT, exports
from book.pages.api import blocks, described

PAGE = (ROOT / "notebooks" / "back" / "api.md").read_text(encoding="utf-8")
PAGES = {"api": "# API\n\n```{api} measure Span Job train_step\n```\n"}
MODULE_NAMES = [f"d2l_utils.{module}" for module in MODULES.values()]


@pytest.fixture
def article(book):
    return book.article("api")


def test_the_page_names_what_the_modules_export_and_each_name_once():
    named = " ".join(re.findall(r"```\{api\} (.+)", PAGE)).split()
    for module in MODULE_NAMES:
        assert sorted(named) == sorted(exports.exports(module))


@pytest.mark.parametrize("name", exports.exports(MODULE_NAMES[0]))
def test_every_name_is_defined_and_has_a_docstring_in_every_framework(name):
    assert "\n: " in described(name)


def test_an_entry_has_parameters_without_types_a_place_and_lists(article):
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
    own = [item.get_text().strip() for item in step.select("li")][-len(FRAMEWORKS) :]
    assert [line.partition(":")[0] for line in own] == list(FRAMEWORKS.values())
    assert "torch.optim" in own[0]


def test_a_docstring_becomes_paragraphs_and_items():
    docstring = """Do it.

More,
in two lines.

Parameters
----------
a : int
    What it is,
    in two lines.
b
    Another.

Returns
-------
str
    The result.

Raises
------
ValueError
    If not.
"""
    assert blocks(docstring) == [
        "Do it.",
        "More,\nin two lines.",
        "* `a` (int): What it is, in two lines.",
        "* `b`: Another.",
        "* Returns (str): The result.",
        "* Raises `ValueError`: If not.",
    ]


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package whose names come through every kind of import."""
    monkeypatch.setattr(exports, "ROOT", tmp_path)
    monkeypatch.setattr(exports, "parsed", exports.parsed.__wrapped__)
    (tmp_path / "p" / "room").mkdir(parents=True)
    files = {
        "common": "from p.room.inner import absolute\n__all__ = ['absolute', 'own']\ndef own(): ...\n",
        "room/__init__": (
            "from p import common\nfrom p.common import *\nfrom .inner import old as relative\nimport numpy\n"
            "if TYPE_CHECKING:\n    from p.room.inner import Late\n__all__ = [*common.__all__, 'relative', 'Late']\n"
        ),
        "room/inner": "def absolute(): ...\ndef old(): ...\nclass Late: ...\n",
    }
    for name, text in files.items():
        (tmp_path / "p" / f"{name}.py").write_text(text)


def test_a_definition_is_found_through_relative_absolute_delayed_and_starred_imports(package):
    names = exports.exports("p.room")
    assert names == ["absolute", "own", "relative", "Late"]
    assert [exports.definition("p.room", name).name for name in names] == ["absolute", "own", "old", "Late"]
    assert exports.definition("p.room", "numpy") is None
