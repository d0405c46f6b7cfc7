"""What records say is collected from the cells of the sections, and shown in the language that is being written."""

import pytest

from book.layout import Layout
from book.model_errors import summary_line
from book.outputs import CLAIM, PREDICTION, RUNNING_TOTAL
from book.records import HTML
from book.translations import CHINESE
from book.translations.catalogues import folder, read, update, write
from book.translations.lookup import pattern
from book.translations.records import OURS, extract
from book.words import say_record, set_language
from d2l_utils.claims import claim
from d2l_utils.predictions import Comparison

SECTION = """\
# One

```{code-cell} ipython3
:tags: [jax]

d2l.claim("A cache is "
          "faster", ratio, above=2)
for way in ways:
    d2l.predict(f"a step, {way}", 2 * alpha).compare(times[way], otherwise=hint)
hint = "Look at the\\n clock."
d2l.predict(name, 3).compare(d2l.compare({"x": f}, 3), "The next cell tells.")
```

```{code-cell} ipython3
%%writefile x.py
claim("not shown", 1)
```

% names: eager, compiled
% gain: a step, eager → one step, compiled
"""
TEXTS = [
    "A cache is faster",
    "a step, {way}",
    "Look at the clock.",
    "The next cell tells.",
    "eager",
    "compiled",
    "a step, eager",
    "one step, compiled",
]
TRANSLATIONS = {
    "A cache is faster": "缓存更快",
    "a step, {way}": "一步，{way}",
    "compiled": "编译",
    "Look at the clock.": "看看时钟。",
    "{lever}: cost": "{lever}：代价",
    "{figure}; claimed above {bound}": "{figure}；论断：高于 {bound}",
    "{evidence}, missed": "{evidence}，未达到",
    OURS[-1]: "相差 {times} ×。{reason}",
}


@pytest.fixture
def chinese(tmp_path):
    """A project in Chinese with a section whose records are translated; afterwards the words are English again."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "one.md").write_text(SECTION, encoding="utf-8")
    update(Layout(tmp_path), CHINESE)
    path = folder(Layout(tmp_path), CHINESE) / "records.po"
    catalogue = read(path)
    for text, translation in TRANSLATIONS.items():
        catalogue[text].string = translation
    write(catalogue, path, CHINESE)
    set_language(Layout(tmp_path, CHINESE))
    yield Layout(tmp_path, CHINESE)
    set_language(Layout(tmp_path))


def test_what_cells_show_is_collected_with_fields_for_what_they_fill_in():
    assert sorted(extract(SECTION)) == sorted(TEXTS)


def test_a_text_that_was_filled_in_is_translated_with_what_fills_it(chinese):
    texts = ["a step, compiled", "a step, eager", "a step, compiled: cost", "2.31; claimed above 2, missed", "another"]
    expected = ["一步，编译", "一步，eager", "一步，编译：代价", "2.31；论断：高于 2，未达到", "another"]
    assert [say_record(text) for text in texts] == expected


def test_records_are_shown_in_the_language_of_the_page(chinese):
    compared = {
        "name": "a step, compiled",
        "kind": "model",
        "unit": "s",
        "predicted": 1.0,
        "otherwise": "Look at the clock.",
    }
    compared |= {"measured": 2.0, "low": 2.0, "high": 2.0, "section": "one"}
    claimed = {"sentence": "A cache is faster", "held": True, "evidence": "2.31; claimed above 2", "note": ""}
    row = {"seconds": 1.0, "promised": None, "accuracy": 0.5, "kept": True}
    shown = {
        PREDICTION: (compared, ["一步，编译", "相差 2.00 ×。看看时钟。"]),
        CLAIM: (claimed, ["缓存更快", "2.31；论断：高于 2"]),
        RUNNING_TOTAL: ({"rows": [row | {"lever": "compiled"}]}, ["编译"]),
    }
    for kind, (record, words) in shown.items():
        html = HTML[kind]([record])
        assert [each for each in words if each not in html] == []
    assert "一步，编译" in summary_line([compared])


def test_records_are_in_english_without_a_translation():
    assert say_record("a step, compiled") == "a step, compiled"


def test_what_the_package_itself_writes_into_records_is_collected(monkeypatch):
    found = []
    monkeypatch.setattr("d2l_utils.claims.show", found.append)
    bounds = {"above": 2}, {"below": 2}, {"above": 1, "below": 3}
    for bound in bounds:
        claim("Two", 5, timed=True, **bound)
    misses = [
        Comparison("x", "saving", "s", 1.0, measured, measured, measured, reason)
        for measured in (-1.0, 3.0)
        for reason in ("", "Look.")
    ]
    texts = [each.evidence for each in found] + [each.note for each in misses]
    assert [text for text in texts if not any(pattern(ours).fullmatch(text) for ours in OURS)] == []
    assert len(set(texts)) == 7
