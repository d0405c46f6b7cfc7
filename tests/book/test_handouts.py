"""Handouts: the readers' notebooks without solutions and answers, in a tiny project and in the chapter itself."""

import re

import jupytext
import pytest
from tiny import HEAD, Project

from book import FRAMEWORKS, ROOT
from book.cells import ANSWERS, expand, split

SECTION = f"""{HEAD}# Tiny

1. Try it.

   :::{{dropdown}} Solution
   The secret.
   :::

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

+++ {{"tags": ["jax"]}}

:::{{dropdown}} Solution
A secret of JAX.
:::
"""
OPENING = re.compile(rf"\s*(:::+)\{{dropdown\}} (?:{'|'.join(ANSWERS)})$")


class Same(dict):
    """A table in which every key has the same value."""

    def __init__(self, value):
        self.value = value

    def __contains__(self, key):
        return True

    def __missing__(self, key):
        return self.value


WORK, PAGE = Same({"p": "work", "t": "work"}), Same({"title": "title", "number": "1"})
NUMBERS = {"refs": Same("(1)"), "cites": WORK, "sections": PAGE, "bibliography": {}}
SLUGS = [path.stem for path in sorted((ROOT / "notebooks").glob("*.md")) if path.stem != "index"]


def answered(text):
    """Return the lines in the folds of solutions and answers that a notebook would show as they are."""
    found, fence = [], ""
    for line in text.splitlines():
        opening = OPENING.match(line)
        if opening and not fence:
            fence = opening[1]
        elif line.strip() == fence:
            fence = ""
        elif fence and len(line.strip()) > 20 and not set("{}$`") & set(line):
            found.append(line.strip())
    return found


def test_handouts_lack_solutions_and_answers_and_nothing_else(tmp_path):
    project = Project(tmp_path, SECTION)
    done = project.here("handouts", "--frameworks", "jax")
    assert (done.returncode, done.stderr) == (0, "")
    cells = [cell["source"] for cell in project.read("handouts")["cells"]]
    assert cells[1:] == ["work()"]
    assert [part in cells[0] for part in ("Try it.", "How much?", "It stays.")] == [True] * 3
    assert "ecret" not in "".join(cells) + cells[0]
    assert "Forty" not in cells[0]
    assert project.path("handouts", slug="index").exists()
    assert project.here("notebooks", "--frameworks", "jax").returncode == 0
    assert "The secret." in project.read("notebooks")["cells"][0]["source"]  # the readers' notebooks keep them


@pytest.mark.parametrize("slug", SLUGS)
def test_no_line_of_an_answer_is_left_in_a_handout_of_the_chapter(slug):
    text = (ROOT / "notebooks" / f"{slug}.md").read_text(encoding="utf-8")
    entries = expand(jupytext.reads(text, fmt="md:myst"))
    images = {f"img/{path.name}": b"" for path in (ROOT / "notebooks" / "img").iterdir()}
    secret = answered(text) + [entry.source for entry in entries if "solution" in entry.tags]
    assert secret
    for framework, handout in split(entries, FRAMEWORKS, NUMBERS, images, slug, answers=False).items():
        shown = "\n".join(cell["source"] for cell in handout["cells"])
        assert [line for line in secret if line in shown] == [], framework
        assert not re.search(rf"<summary>(?:{'|'.join(ANSWERS)})s?</summary>", shown)
