"""Catalogues of texts, fixed words, records and labels are kept up to date, and translators told what to mend."""

import ast
from dataclasses import asdict
from itertools import product

import pytest
from editions import speaking, translate

from book import ROOT
from book.layout import Edition
from book.outputs import CLAIM, PREDICTION, RUNNING_TOTAL
from book.record_html import HTML
from book.translations import CHINESE
from book.translations.__main__ import main
from book.translations.catalogues import folder, messages, names, read
from book.translations.record_texts import COMPUTED, OURS
from book.translations.said import fixed_texts
from book.translations.update import update
from book.words import say_record
from d2l_lab.instruments.claims import Claim
from d2l_lab.instruments.levers import AS_WRITTEN
from d2l_lab.instruments.predictions import Comparison
from d2l_lab.instruments.words import pattern
from d2l_lab.plots.words import OURS as DRAWN

ONE = """\
# One

First words.

+++ {"tags": ["solution", "jax"]}

Words and `code`.

## Summary

```{code-cell} ipython3
:tags: [jax]

d2l.claim("A cache is "
          "faster", ratio, above=2)
for way in ways:
    d2l.predict(f"a step, {way}", 2 * alpha).compare(times[way], if_missed=hint)
hint = "Look at the\\n clock."
d2l.predict(name, 3).compare(d2l.compare({"x": f}, 3), "The next cell tells.")
```

```{code-cell} ipython3
%%writefile x.py
claim("not shown", 1)
```

% names: eager, compiled, "both, in turn"
% gain: a step, eager → one step, compiled
"""
FILES = {
    "notebooks/one.md": ONE,
    "notebooks/two.md": "# Two\n\n## Summary\n\n## Answer\n",
    "notebooks/img/one.svg": '<svg xmlns="http://www.w3.org/2000/svg"><text>Answer</text></svg>',
    "book/some.py": 'print("not said", say("Answer"), say("In your own loop"), say("{n} of " "{all}"))',
    "book/some.html": "<b>{{ say('Search') }}</b>",
}
CATALOGUES = {
    "book": {"Summary", "Answer"},
    "one": {"One", "First words.", "Words and `code`."},
    "two": {"Two"},
    "pages": {"In your own loop", "{n} of {all}", "Search"},
    "figures": {"Answer"},
    "records": {
        *("A cache is faster", "a step, {way}", "Look at the clock.", "The next cell tells."),
        *("eager", "compiled", "both, in turn", "a step, eager", "one step, compiled", *OURS, *DRAWN, *COMPUTED),
    },
}
RECORDS = {
    "A cache is faster": "缓存更快",
    "a step, {way}": "一步，{way}",
    "compiled": "编译",
    "Look at the clock.": "看看时钟。",
    "{lever}: cost": "{lever}：代价",
}


@pytest.fixture
def project(tmp_path):
    """The folder of a tiny project with its catalogues."""
    for name, text in FILES.items():
        write(tmp_path, name, text)
    return tmp_path


def write(root, name, text):
    """Write a file of a project, and bring the catalogues up to date."""
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text, encoding="utf-8")
    update(Edition(root), CHINESE)


def catalogues(root):
    """Return the text of each catalogue."""
    place = folder(Edition(root), CHINESE)
    return {name: (place / f"{name}.po").read_text(encoding="utf-8") for name in names(place)}


def check(root, capsys, *only):
    """Check catalogues as a translator does; return the status and what was said."""
    status = main(["check", *only, "--root", str(root)])
    return status, "".join(capsys.readouterr())


def test_every_text_of_the_book_is_in_one_catalogue(project):
    place = folder(Edition(project), CHINESE)
    found = {name: {each.id for each in messages(read(place / f"{name}.po"))} for name in names(place)}
    assert found == CATALOGUES
    assert "#. paragraph, solution, jax\nmsgid" in catalogues(project)["one"]


def test_an_update_without_changes_leaves_the_files_as_they_are(project):
    translate(project, "figures", {"Answer": "答"})
    translate(project, "one", {"First words.": "开头的话。"}, comment="# free: word\n")
    update(Edition(project), CHINESE)
    before = catalogues(project)
    update(Edition(project), CHINESE)
    assert catalogues(project) == before
    assert "答" not in before["book"]  # a label has a translation of its own


def test_a_translation_follows_its_text(project):
    translate(project, "one", {"One": "一"}, comment="# free: one\n")
    write(project, "notebooks/three.md", "# Three\n\n## One\n")
    found = catalogues(project)
    assert '# free: one\n#. heading\nmsgid "One"\nmsgstr "一"' in found["book"]
    assert "一" not in found["one"]


def test_the_catalogue_of_a_source_that_is_gone_is_deleted(project):
    (project / "notebooks" / "two.md").unlink()
    update(Edition(project), CHINESE)
    assert "two" not in catalogues(project)


def test_a_translator_is_told_where_each_slip_is(project, capsys):
    path = translate(project, "one", {"First words.": "开头的words."})
    line = path.read_text("utf-8").split("\n").index('msgid "First words."') + 1
    status, said = check(project, capsys, "one")
    assert status == 1
    assert said.startswith(f"{path.relative_to(project)}:{line}: msgid 'First words.'\n  no space between")
    assert "\n  a half-width full stop" in said
    assert said.endswith("1 translations to mend\none: 1 of 4 units translated (29% of the words)\n")


def test_a_translator_may_free_a_message_of_a_term(project, capsys):
    path = translate(project, "one", {"First words.": "开头。"})
    assert check(project, capsys)[0] == 0
    path.with_name("terms.csv").write_text("english,translations,never\nword,词,\n", encoding="utf-8")
    assert "'word' is 词" in check(project, capsys)[1]
    path.write_text(path.read_text("utf-8").replace('msgid "First', '# free: word\nmsgid "First'), "utf-8")
    assert check(project, capsys)[0] == 0


def test_a_text_that_pages_find_by_its_first_words_has_to_begin_with_them(project, capsys):
    write(project, "notebooks/one.md", "# One\n\n**In your own loop**: wait.\n")
    translate(project, "pages", {"In your own loop": "在你的循环里"})
    translate(project, "one", {"**In your own loop**: wait.": "**在循环里**：等待。"})
    assert "does not begin with **在你的循环里**" in check(project, capsys)[1]


def test_what_is_not_yet_translated_is_nothing_to_mend(project, capsys):
    translate(project, "one", {"First words.": "words的."}, comment="#, fuzzy\n")
    status, said = check(project, capsys)
    assert status == 0
    assert ", 1 fuzzy" in said


def test_an_unknown_catalogue_is_one_clear_line(project, capsys):
    known = ", ".join(sorted(CATALOGUES))
    assert check(project, capsys, "three") == (1, f"error: there is no catalogue 'three': name one of {known}\n")


@pytest.mark.parametrize("line", ['msgstr "一', 'msgstr "说"一"了"', 'msgstr "$\\alpha$"', 'msgstr: "一"', "一"])
def test_a_line_that_no_catalogue_has_is_an_error(project, capsys, line):
    path = translate(project, "one", {"One": "一"})
    damaged = path.read_text(encoding="utf-8").replace('msgstr "一"', line)
    path.write_text(damaged, encoding="utf-8")
    assert main(["update", "--root", str(project)]) == 1
    assert f": no line of a catalogue: {line}" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == damaged


def test_no_call_hides_in_an_f_string_where_it_is_not_collected():
    calls = [
        node
        for path in (ROOT / "book").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "say"
    ]
    texts = {call.args[0].value for call in calls if isinstance(call.args[0], ast.Constant)}
    assert texts - {text for text, _ in fixed_texts(ROOT / "book")} == set()


def test_records_are_shown_in_the_language_with_what_was_filled_in(project):
    translate(project, "records", RECORDS)
    times = dict.fromkeys(("measured", "low", "high"), 2.0)
    compared = {"name": "a step, compiled", "kind": "model", "unit": "s", "predicted": 1.0, "section": "one", **times}
    claimed = asdict(Claim("A cache is faster", True))
    row = {"lever": "compiled", "seconds": 1.0, "promised": None, "learns": True, "kept": True, "verdict": "gains"}
    with speaking(Edition(project, CHINESE)):
        shown = HTML[PREDICTION]([compared | {"if_missed": "Look at the clock."}])
        shown += HTML[CLAIM]([claimed]) + HTML[RUNNING_TOTAL]([{"rows": [row]}])
        texts = "a step, eager", "a step, compiled: cost", "another"
        assert list(map(say_record, texts)) == ["一步，eager", "一步，编译：代价", "another"]
    for words in ("一步，编译", "看看时钟。", "缓存更快", ">编译"):
        assert words in shown


@pytest.mark.parametrize(
    ("code", "msgid", "translation", "shown"),
    [
        ("f'{n} GPUs of {n}'", "{n} GPUs of {n}", "{n} 个 GPU 中的 {n} 个", "2 个 GPU 中的 2 个"),
        ("f'{x:.1f} of {x:.0f} s'", "{x} of {x_} s", "{x_} s 中的 {x}", "2 s 中的 2.5"),
        ("f'{value2} of {n + 1}'", "{value2} of {value2_}", "{value2_} 中的 {value2}", "3 中的 7"),
        ("f'the set {{1}} of {n}'", "the set {{1}} of {n}", "{n} 的集合 {{1}}", "2 的集合 {1}"),
        ("f'the set {{1}}'", "the set {{1}}", "集合 {{1}}", "集合 {1}"),
        ("'the set {1} or { or {}'", "the set {1} or { or {}", "集合 {1} 或 { 或 {}", "集合 {1} 或 { 或 {}"),
        ("f'a step (eager?) {none}'", "a step (eager?) {none}", "一步（eager）{none}", "一步（eager）"),
        ("f'{n}{way}: cost'", "{n}{way}: cost", "{way}{n}：代价", "2eager：代价"),  # where one ends nobody knows
        ("f'a step {n}'", "a step {n}", "步骤 {n}", "步骤 2"),  # and not the first half of the next
        ("f'a step {n}, {way}'", "a step {n}, {way}", "步骤 {n}，{way}", "步骤 2，eager"),
    ],
)
def test_a_record_with_fields_of_any_kind_is_shown_in_the_language(tmp_path, code, msgid, translation, shown):
    steps = "d2l.claim(f'a step {n}', 1)\nd2l.claim(f'a step {n}, {way}', 1)"
    write(tmp_path, "notebooks/one.md", f"# One\n\n```{{code-cell}} ipython3\n{steps}\nd2l.claim({code}, 1)\n```\n")
    translate(tmp_path, "records", {msgid: translation})
    record = eval(code, {"n": 2, "x": 2.46, "value2": 7, "none": "", "way": "eager"})
    assert pattern(msgid).fullmatch(record)
    with speaking(Edition(tmp_path, CHINESE)):
        assert say_record(record) == shown


def test_what_the_package_itself_says_of_records_is_collected():
    found = []

    def say(text, **fields):
        found.append(text)
        return text.format(**fields)

    for bounds in ({"above": "2"}, {"below": "2"}, {"above": "1", "below": "3"}):
        assert Claim("Two", False, "5", **bounds).evidence(say).endswith(f"{max(bounds.values())}, missed")
    for measured, low, reason in product((-1.0, 3.0), (-1.0, 2.0), ("", "Look.")):
        Comparison("x", "saving", "s", 1.0, measured, low, 3.0, reason).note(say)
    assert len(set(found)) == 9
    assert set(found) <= {text for text, _ in fixed_texts(ROOT / "d2l_lab")}
    assert AS_WRITTEN in OURS
