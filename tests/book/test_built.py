"""What a finished `make book` left."""

import json

import pytest

from book import ROOT
from book.layout import Layout
from book.translations.catalogues import sources
from book.translations.lookup import pattern
from book.translations.records import OURS, extract

pytestmark = pytest.mark.slow


def test_a_translator_finds_all_that_its_records_say():
    texts = set[str]()
    for name, fields in {"claims": ("sentence", "evidence", "note"), "predictions": ("name", "otherwise")}.items():
        for record in json.loads((ROOT / "_build" / "book" / f"{name}.json").read_text(encoding="utf-8")):
            texts |= {record[field] for field in fields if record[field]}
    assert texts, "run `make book`"
    collected = [*OURS, *(text for source in sources(Layout(ROOT)).values() for text in extract(source))]
    patterns = [pattern(text) for text in collected]
    assert [text for text in sorted(texts) if not any(each.fullmatch(text) for each in patterns)] == []
