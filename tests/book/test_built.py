"""What a finished `make book` left. It needs the environments of all frameworks."""

import json
import os
import subprocess

import pytest

from book import ROOT
from book.layout import Layout
from book.translations.catalogues import sources
from book.translations.lookup import pattern
from book.translations.records import OURS, extract

pytestmark = pytest.mark.slow


def test_a_second_make_book_runs_no_notebook_and_writes_no_page():
    pages = ROOT / "_build" / "html"
    before = {path: path.stat().st_mtime_ns for path in pages.rglob("*.html")}
    assert before, "run `make book`"
    choice = [f"{name}={os.environ[name]}" for name in ("FRAMEWORKS", "SECTIONS") if name in os.environ]
    assert (
        "all were up to date"
        in subprocess.run(["make", "book", *choice], cwd=ROOT, capture_output=True, text=True).stdout
    )
    assert {path: path.stat().st_mtime_ns for path in pages.rglob("*.html")} == before


def test_a_translator_finds_all_that_its_records_say():
    texts = set[str]()
    for name, fields in {"claims": ("sentence", "evidence", "note"), "predictions": ("name", "otherwise")}.items():
        for record in json.loads((ROOT / "_build" / "book" / f"{name}.json").read_text(encoding="utf-8")):
            texts |= {record[field] for field in fields if record[field]}
    assert texts, "run `make book`"
    collected = [*OURS, *(text for source in sources(Layout(ROOT)).values() for text in extract(source))]
    patterns = [pattern(text) for text in collected]
    assert [text for text in sorted(texts) if not any(each.fullmatch(text) for each in patterns)] == []
