"""README.md, docs/running.md and CONTRIBUTING.md name only what exists."""

import re
from pathlib import Path
from statistics import mean

import jupytext
from written import SECTIONS

from book import FRAMEWORKS
from book.cells import expand, of, only_claims
from book.paths import UNREAD, titled, words

ROOT = Path(__file__).parents[2]
TEXT = "\n".join((ROOT / page).read_text() for page in ("README.md", "docs/running.md", "CONTRIBUTING.md"))
MADE_LATER = ("_build/", "work/", "handout", "d2l-")  # by make, by the reader, a kernel's name
TARGETS = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))


def test_what_a_page_names_exists():
    assert set(re.findall(r"(?:`|^)make ([a-z-]+)", TEXT, re.MULTILINE)) <= TARGETS
    named = re.findall(r"`([\w./-]+/[\w./-]*|[\w-]+\.(?:md|toml|yml|cff))`|\]\(([\w./-]+)\)", TEXT)
    known = {path.removeprefix("../") for path in map("".join, named) if not path.startswith(MADE_LATER)}
    folders = [ROOT, ROOT / "notebooks", ROOT / "d2l_utils", ROOT / "d2l_lab", ROOT / "book", ROOT / "tests"]
    assert [path for path in known if not any((folder / path).exists() for folder in folders)] == []


def test_the_table_of_contents_lists_the_sections_by_their_titles():
    titles = []
    for slug in SECTIONS:
        cells = jupytext.read(ROOT / "notebooks" / f"{slug}.md").cells
        titles.append(re.search(r"^# (.+)$", cells[0].source, re.MULTILINE)[1])
    table = (ROOT / "README.md").read_text().split("## What Is in It")[1]
    assert re.findall(r"^\| ([^|]+) \| [^|]+ \| \d+ \|$", table, re.MULTILINE) == titles


def lengths(entries):
    """Return the words and the lines of code that readers of one framework see, without exercises and folds."""
    shown = [(entry, text) for entry, titles, text in titled(entries) if "Exercises" not in titles]
    read = [text for entry, text in shown if entry.kind == "markdown" and "solution" not in entry.tags]
    code = [
        text
        for entry, text in shown
        if entry.kind == "code" and not {*UNREAD} & {*entry.tags} and not only_claims(entry.source)
    ]
    return sum(map(words, read)), sum(bool(line.strip()) for text in code for line in text.split("\n"))


def test_the_table_of_contents_says_how_long_a_section_takes():
    listed = re.findall(r"^\| [^|]+ \| [^|]+ \| (\d+) \|$", (ROOT / "README.md").read_text(), re.MULTILINE)
    for slug, minutes in zip(SECTIONS, listed, strict=True):
        entries = expand(jupytext.read(ROOT / "notebooks" / f"{slug}.md"))
        counted = [lengths(of(entries, framework)) for framework in FRAMEWORKS]
        assert abs(int(minutes) - mean(count / 200 + lines / 20 for count, lines in counted)) < 1.5, slug
