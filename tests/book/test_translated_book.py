"""The book in another language: readers' notebooks and pages with the same code, outputs and folds as in English."""

from types import SimpleNamespace
from zipfile import ZipFile

import pytest
from editions import translate
from tiny import HEAD, Project

from book import FRAMEWORKS, BookError
from book.layout import Edition
from book.sources import number
from book.translations import CHINESE
from book.translations.catalogues import folder
from book.translations.translate import coverage_line, write_sources
from book.translations.update import update

DRAWING = '<svg xmlns="http://www.w3.org/2000/svg"><text>a queue</text></svg>'
CODE = f"""
```{{code-cell}} ipython3
:tags: [{", ".join(FRAMEWORKS)}]

print("one output")  # once
```
"""
SECTION = f"""{HEAD}# Tiny

Some words of prose.

Wait for `x`.

:::{{dropdown}} Answer
Forty-two.
:::
{CODE}
+++ {{"tags": ["solution"]}}

The secret.
"""
NEEDED = "No account or data set is needed."
MODULE = f'say("Answer"), say("Solution"), say("Check your code"), say("{NEEDED}")\n'
TRANSLATIONS = {
    "tiny": {"Tiny": "小节", "Some words of prose.": "几句话。", "Wait for `x`.": "等待。", "The secret.": "秘密。"},
    "book": {"Answer": "答案"},
    "pages": {"Solution": "解答", NEEDED: "不需要账号。"},
    "figures": {"a queue": "队列"},
    "comments": {"once": "一次"},
}


@pytest.fixture
def project(tmp_path):
    """A tiny project, translated but for one paragraph, with a fault in another: the code is gone."""
    result = Project(tmp_path, SECTION)
    result.write("notebooks/other.md", f"{HEAD}# Other\n\n:::{{dropdown}} Answer\nNone.\n:::\n{CODE}")
    result.write("book/words.py", MODULE)
    result.write("notebooks/img/queue.svg", DRAWING)
    update(Edition(tmp_path), CHINESE)
    for name, translations in TRANSLATIONS.items():
        translate(tmp_path, name, translations)
    return result


def notebooks(project, step="notebooks"):
    """Let `python -m book` write the notebooks; return the English one and the Chinese one."""
    done = project.here(step, "--languages", "zh")
    assert (done.returncode, done.stderr) == (0, "")
    return project.read(step), project.read(f"{step}/zh")


def unpacked(project, name):
    """Return the files of a bundle."""
    with ZipFile(project.root / "_build" / "bundle" / f"{name}.zip") as packed:
        return {path.removeprefix(f"{name}/"): packed.read(path) for path in packed.namelist()}


def prose(found):
    return "\n".join("".join(cell["source"]) for cell in found["cells"] if cell["cell_type"] == "markdown")


def code(found, part="source"):
    return [(cell["id"], cell[part]) for cell in found["cells"] if cell["cell_type"] == "code"]


def test_a_readers_notebook_has_the_words_of_its_language_around_the_same_code(project):
    english, chinese = notebooks(project)
    translated = ("# 1. 小节", "几句话。", "<summary>答案</summary>", "<summary>解答</summary>", "秘密。")
    for words in (*translated, "Forty-two.", "Wait for `x`."):  # what has no translation, or a faulty one, is English
        assert words in prose(chinese)
    assert "Some words of prose." in prose(english)
    assert "<summary>Solution</summary>" in prose(english)
    assert code(chinese) == [(id, source.replace("# once", "# 一次")) for id, source in code(english)] != code(english)
    sources = [Edition(project.root, language).sources for language in (None, CHINESE)]
    drawings = [(place / "img" / "queue.svg").read_text(encoding="utf-8") for place in sources]
    assert [drawings[0], ">队列</text>" in drawings[1]] == [DRAWING, True]


def test_handouts_in_another_language_hold_no_answers(project):
    words = prose(notebooks(project, "handouts")[1])
    assert [part in words for part in ("几句话。", "答案", "Forty-two", "解答", "秘密")] == [True] + 4 * [False]


@pytest.mark.slow
def test_a_bundle_in_another_language_has_the_same_files(project):
    done = project.here("bundle", "--frameworks", "jax", "--languages", "zh")
    assert (done.returncode, done.stderr) == (0, "")
    english, chinese = (unpacked(project, name) for name in ("d2l-jax", "d2l-jax-zh"))
    assert [*english, "d2l-words.json"] == sorted(chinese, key=[*english, "d2l-words.json"].index)
    assert "几句话。" in chinese["tiny.ipynb"].decode()
    assert chinese["README.md"].decode().endswith("不需要账号。\n")
    assert english["README.md"].decode().endswith(f"{NEEDED}\n")


def test_what_is_gone_from_the_sources_is_gone_from_the_translated_ones(project):
    notebooks(project)
    gone = Edition(project.root, CHINESE).sources / "other.md"
    assert gone.exists()
    (project.root / "notebooks" / "other.md").unlink()
    notebooks(project)
    assert not gone.exists()


def test_a_new_translation_is_in_the_next_notebook(project):
    notebooks(project)
    words = folder(Edition(project.root), CHINESE) / "pages.po"
    words.write_text(words.read_text(encoding="utf-8").replace("解答", "解法"), encoding="utf-8")
    assert "<summary>解法</summary>" in prose(notebooks(project)[1])


def test_the_numbers_of_a_translation_are_named_in_its_language(project, monkeypatch):
    layout, commands = Edition(project.root, CHINESE), []
    write_sources(layout)
    failed = SimpleNamespace(returncode=1)
    monkeypatch.setattr("book.sources.subprocess.run", lambda command, **_: commands.append(command) or failed)
    with pytest.raises(BookError, match="have no numbers"):
        number([], layout)
    assert {"-Dlanguage=zh_CN", str(layout.sources)} <= set(commands[0])


def test_a_changed_sentence_alone_is_english_until_it_is_translated(project):
    edition, start = Edition(project.root, CHINESE), "index 0/1, other 1/3, tiny"
    before = prose(notebooks(project)[1])
    assert coverage_line(edition) == f"zh: 5/10 units translated: {start} 4/6"
    changed = "Some other words of prose."
    project.section(SECTION.replace("Some words of prose.", changed))
    assert prose(notebooks(project)[1]) == before.replace("几句话。", changed)
    assert coverage_line(edition) == f"zh: 4/10 units translated: {start} 3/6"
    update(Edition(project.root), CHINESE)
    assert prose(notebooks(project)[1]) == before.replace("几句话。", changed)
    assert coverage_line(edition) == f"zh: 4/10 units translated (1 outdated): {start} 3/6 (1 outdated)"


@pytest.mark.slow
def test_a_build_in_two_languages_runs_each_notebook_once(project):
    cells = project.root / "started"
    project.section(SECTION.replace("print(", f"open({str(cells)!r}, 'a').write('x'); print("))
    done = project.build(options=["--languages", "zh"])
    assert done.returncode == 0, done.stderr
    assert cells.read_text(encoding="utf-8") == "x"
    assert done.stdout.splitlines()[-1].startswith("zh: 5/10 units translated: ")
    english, chinese = project.merged(), project.read("zh", "book")
    assert code(english, "outputs") == code(chinese, "outputs")
    assert "one output" in str(code(chinese, "outputs"))
    assert "几句话。" in prose(chinese)
    assert not (project.root / "_build" / "executed" / "zh").exists()
