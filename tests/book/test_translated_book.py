"""The book in another language: readers' notebooks and pages with the same code, outputs and folds as in English."""

import json
import subprocess
from zipfile import ZipFile

import pytest
from tiny import HEAD, Project

from book import FRAMEWORKS
from book.layout import Layout
from book.sources import number
from book.translations import CHINESE
from book.translations.catalogues import folder, update
from book.translations.translate import coverage_line, write_sources

DRAWING = '<svg xmlns="http://www.w3.org/2000/svg"><text>a queue</text></svg>'
CODE = f"""
```{{code-cell}} ipython3
:tags: [{", ".join(FRAMEWORKS)}]

print("one output")
```
"""
SECTION = f"""{HEAD}# Tiny

Some words of prose.

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
    "tiny": {"Tiny": "小小的一节", "Some words of prose.": "几句话。", "The secret.": "秘密。"},
    "book": {"Answer": "答案"},
    "pages": {"Solution": "解答", NEEDED: "不需要账号。"},
    "figures": {"a queue": "队列"},
}


@pytest.fixture
def project(tmp_path):
    """A tiny project, translated but for one paragraph."""
    result = Project(tmp_path, SECTION)
    result.write("notebooks/other.md", f"{HEAD}# Other\n\n:::{{dropdown}} Answer\nNone.\n:::\n{CODE}")
    result.write("book/words.py", MODULE)
    result.write("notebooks/img/queue.svg", DRAWING)
    update(Layout(tmp_path), CHINESE)
    for name, translations in TRANSLATIONS.items():
        path = folder(Layout(tmp_path), CHINESE) / f"{name}.po"
        text = path.read_text(encoding="utf-8")
        for msgid, msgstr in translations.items():
            assert f'msgid "{msgid}"\nmsgstr ""' in text, msgid
            text = text.replace(f'msgid "{msgid}"\nmsgstr ""', f'msgid "{msgid}"\nmsgstr "{msgstr}"')
        path.write_text(text, encoding="utf-8")
    return result


def notebook(project, path):
    return json.loads((project.root / "_build" / path).read_text(encoding="utf-8"))


def unpacked(project, name):
    """Return the files of a bundle."""
    with ZipFile(project.root / "_build" / "bundle" / f"{name}.zip") as packed:
        return {path.removeprefix(f"{name}/"): packed.read(path) for path in packed.namelist()}


def prose(found):
    return "\n".join("".join(cell["source"]) for cell in found["cells"] if cell["cell_type"] == "markdown")


def code(found):
    return [(cell["id"], "".join(cell["source"])) for cell in found["cells"] if cell["cell_type"] == "code"]


def test_a_readers_notebook_has_the_words_of_its_language_and_the_same_code(project):
    done = project.here("notebooks", "--languages", "zh")
    assert (done.returncode, done.stderr) == (0, "")
    english, chinese = notebook(project, "notebooks/jax/tiny.ipynb"), notebook(project, "notebooks/zh/jax/tiny.ipynb")
    for words in (
        "# 小小的一节",
        "几句话。",
        "<summary>答案</summary>",
        "Forty-two.",
        "<summary>解答</summary>",
        "秘密。",
    ):
        assert words in prose(chinese)
    assert "Some words of prose." in prose(english)
    assert "<summary>Solution</summary>" in prose(english)
    assert code(chinese) == code(english) != []


def test_handouts_in_another_language_hold_no_answers(project):
    project.here("handouts", "--languages", "zh")
    words = prose(notebook(project, "handouts/zh/jax/tiny.ipynb"))
    assert "几句话。" in words
    for hidden in ("答案", "Forty-two", "解答", "秘密"):
        assert hidden not in words


def test_a_bundle_in_another_language_has_its_readme_and_its_notebooks_and_the_same_files(project):
    done = project.here("bundle", "--frameworks", "jax", "--languages", "zh")
    assert (done.returncode, done.stderr) == (0, "")
    english, chinese = (unpacked(project, name) for name in ("d2l-jax", "d2l-jax-zh"))
    assert english.keys() == chinese.keys()
    assert "几句话。" in chinese["tiny.ipynb"].decode()
    assert chinese["README.md"].decode().endswith("不需要账号。\n")
    assert english["README.md"].decode().endswith(f"{NEEDED}\n")


def test_a_new_translation_is_in_the_next_notebook(project):
    project.here("notebooks", "--languages", "zh")
    path = folder(Layout(project.root), CHINESE) / "pages.po"
    path.write_text(path.read_text(encoding="utf-8").replace("解答", "解法"), encoding="utf-8")
    project.here("notebooks", "--languages", "zh")
    assert "<summary>解法</summary>" in prose(notebook(project, "notebooks/zh/jax/tiny.ipynb"))


def test_drawings_have_their_labels_in_the_language(project):
    project.here("notebooks", "--languages", "zh")
    assert ">队列</text>" in (project.root / "_build" / "zh" / "sources" / "img" / "queue.svg").read_text("utf-8")
    assert ">a queue</text>" in (project.root / "notebooks" / "img" / "queue.svg").read_text("utf-8")


def test_what_is_gone_from_the_sources_is_gone_from_the_translated_ones(project):
    project.here("notebooks", "--languages", "zh")
    assert (project.root / "_build" / "zh" / "sources" / "other.md").exists()
    (project.root / "notebooks" / "other.md").unlink()
    project.here("notebooks", "--languages", "zh")
    assert not (project.root / "_build" / "zh" / "sources" / "other.md").exists()


def test_the_numbers_of_a_translation_are_named_in_its_language(project, monkeypatch):
    layout, commands = Layout(project.root, CHINESE), []

    def run(command, **_):
        commands.append(command)
        (layout.derived / "numbers.json").write_text('{"refs": {}}', encoding="utf-8")
        return subprocess.CompletedProcess(command, 0)

    write_sources(layout)
    monkeypatch.setattr("book.sources.subprocess.run", run)
    assert number([], layout) == {"refs": {}}
    assert "-Dlanguage=zh_CN" in commands[0]
    assert str(layout.sources) in commands[0]


def test_a_changed_sentence_is_english_and_counted_and_everything_else_stays(project):
    layout = Layout(project.root, CHINESE)
    project.here("notebooks", "--languages", "zh")
    before = coverage_line(layout)
    project.write("notebooks/tiny.md", SECTION.replace("Some words of prose.", "Other words of prose."))
    project.here("notebooks", "--languages", "zh")
    words = prose(notebook(project, "notebooks/zh/jax/tiny.ipynb"))
    assert "Other words of prose." in words
    assert "几句话。" not in words
    assert "# 小小的一节" in words
    assert "秘密。" in words
    assert (before, coverage_line(layout)) == (
        "zh: 5/9 units translated: index 0/1, other 1/3, tiny 4/5",
        "zh: 4/9 units translated: index 0/1, other 1/3, tiny 3/5",
    )
    update(Layout(project.root), CHINESE)
    project.here("notebooks", "--languages", "zh")
    assert coverage_line(layout) == "zh: 4/9 units translated (1 outdated): index 0/1, other 1/3, tiny 3/5 (1 outdated)"


@pytest.mark.slow
def test_a_build_in_two_languages_runs_each_notebook_once_and_shows_its_outputs_in_both(project):
    cells = project.root / "started"
    project.write("notebooks/tiny.md", SECTION.replace("print(", f"open({str(cells)!r}, 'a').write('x'); print("))
    done = project.build(options=["--languages", "zh"])
    assert done.returncode == 0, done.stderr
    assert cells.read_text(encoding="utf-8") == "x"
    assert done.stdout.splitlines()[-1].startswith("zh: 5/9 units translated: ")
    outputs = [
        [cell["outputs"] for cell in notebook(project, path)["cells"] if cell["cell_type"] == "code"]
        for path in ("book/tiny.ipynb", "zh/book/tiny.ipynb")
    ]
    assert outputs[0] == outputs[1]
    assert "one output" in json.dumps(outputs[1])
    assert "几句话。" in prose(notebook(project, "zh/book/tiny.ipynb"))
    assert not (project.root / "_build" / "executed" / "zh").exists()
