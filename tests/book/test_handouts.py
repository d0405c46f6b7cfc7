"""Handouts: the readers' notebooks without solutions and answers, in a tiny project and in the chapter itself."""

import re

import jupytext
import pytest
from tiny import HEAD, Project
from written import SECTIONS

from book import FRAMEWORKS, ROOT
from book.cells import expand, split

SECTION = f"""{HEAD}# Tiny

1. Try it.

+++ {{"tags": ["solution"]}}

The secret.

+++

::::{{admonition}} Estimate
How much?

:::{{dropdown}} Answer
Forty-two.
:::
::::

:::{{dropdown}} Old code
It stays.
:::

```{{code-cell}} ipython3
:tags: [jax, solution]

secret()
```

```{{code-cell}} ipython3
:tags: [{", ".join(FRAMEWORKS)}]

work()
```

+++ {{"tags": ["jax", "solution"]}}

A secret of JAX.
"""
ANSWER = re.compile(r"^(:::+)\{dropdown\} Answer\n(.*?)^\1$", re.MULTILINE | re.DOTALL)


FOUND = {"label": "(1)", "work": {"p": "work", "t": "work"}, "section": {"title": "title", "number": "1"}}
NUMBERS = {"refs": {}, "cites": {}, "sections": {}, "bibliography": {}}


def telling(text):
    """Return the lines of a text that a notebook would show as they are, and that say something."""
    lines = [line.strip() for line in text.splitlines()]
    return [line for line in lines if len(line) > 20 and not set("{}$`") & set(line)]


def test_handouts_lack_only_what_answers(tmp_path):
    project = Project(tmp_path, SECTION)
    project.make("handouts")
    cells = [cell["source"] for cell in project.read("handouts")["cells"]]
    assert [cells[0].split("\n")[-1], *cells[2:]] == ["1. Try it.", "work()"]
    assert [part in cells[1] for part in ("How much?", "It stays.", "Forty")] == [True, True, False]
    assert project.path("handouts", slug="index").exists()
    project.make("notebooks")
    kept = project.read("notebooks")["cells"][1]["source"]  # the readers' notebooks keep them
    assert kept == "<details>\n<summary>Solution</summary>\n\nThe secret.\n\n</details>"


@pytest.mark.parametrize("slug", SECTIONS)
def test_no_line_of_an_answer_is_left_in_a_handout_of_the_chapter(slug, monkeypatch):
    monkeypatch.setattr("book.plain_markdown.look_up", lambda table, name, what: FOUND[what])
    text = (ROOT / "notebooks" / f"{slug}.md").read_text(encoding="utf-8")
    entries = expand(jupytext.reads(text, fmt="md:myst"))
    images = {f"img/{path.name}": b"" for path in (ROOT / "notebooks" / "img").iterdir()}
    solutions = [entry for entry in entries if "solution" in entry.tags]
    told = {kind: [entry.source for entry in solutions if entry.kind == kind] for kind in ("markdown", "code")}
    prose = told["markdown"] + [found[2] for found in ANSWER.finditer(text)]
    secret = told["code"] + [line for part in prose for line in telling(part)]
    assert secret
    for framework, handout in split(entries, FRAMEWORKS, NUMBERS, images, slug, answers=False).items():
        shown = "\n".join(cell["source"] for cell in handout["cells"])
        assert [line for line in secret if line in shown] == [], framework
        assert not re.search(r"<summary>(?:Answer|Solution)s?</summary>", shown)
