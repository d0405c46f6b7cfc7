"""The page of what d2l lends: every name once, with its parameters and its docstring."""

import re

import pytest
from tiny_book import ROOT, build, page_of

from book import MODULES
from book.pages.api import definition, described, exports, markdown

PAGE = (ROOT / "notebooks" / "back" / "functions.md").read_text(encoding="utf-8")
INDEX = "# Tiny\n\n```{api} measure Span Job train_step\n```\n"


@pytest.fixture(scope="module")
def article(tmp_path_factory):
    return page_of(tmp_path_factory.mktemp("book"), index=INDEX, page="index")


def test_the_page_names_what_the_modules_export_and_each_name_once():
    named = " ".join(re.findall(r"```\{api\} (.+)", PAGE)).split()
    assert len(named) == len(set(named))
    assert {frozenset(exports(module)) for module in MODULES.values()} == {frozenset(named)}


@pytest.mark.parametrize("name", exports("torch"))
def test_every_name_has_a_docstring_in_every_framework(name):
    assert all(definition(module, name) is not None for module in MODULES.values())
    assert "\n: " in described(name)


def test_an_entry_has_parameters_and_a_place(article):
    assert [term.code.get_text() for term in article.select("dl.api > dt")] == [
        "d2l.measure(function, repeats=9, budget=10.0)",
        "d2l.Span(row, start, end, kind)",
        "d2l.Job(command, n=None, *, environment=None, deadline=120, may_fail=(), isolated=False)",
        "d2l.train_step(net, optimizer, X, y)",
    ]
    assert article.dt["id"] == "d2l-measure"


def test_methods_and_parameters_stand_in_lists(article):
    lines = [item.get_text() for item in article.select("dl.api > dd")[2].select("li")]
    assert [line.partition(":")[0] for line in lines][:2] == ["command", "environment"]
    assert any(line.startswith(".wait(*ranks): Wait until") for line in lines)


def test_what_differs_has_a_line_for_each_framework(article):
    lines = [item.get_text() for item in article.select("dl.api > dd")[3].select("li")]
    assert [line.partition(":")[0] for line in lines] == ["PyTorch", "TensorFlow", "JAX", "MXNet"]
    assert "torch.optim" in lines[0]


def test_a_paragraph_of_text_stays_as_it_is():
    assert markdown("a b\n  c") == "a b\n  c"
    assert markdown("a   one\n    more\nb   two") == "* `a`: one more\n* `b`: two"


def test_a_name_that_nobody_exports_is_an_error(tmp_path):
    status, warnings, _ = build(tmp_path, builder="html", index=INDEX.replace("Span", "Spam"))
    assert status != 0
    assert "d2l lends no Spam; known: Timer" in warnings
