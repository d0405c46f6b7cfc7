"""A path through the book needs nothing that it skips, and takes as long as the landing page says."""

import csv
import json
import re
from functools import cache
from pathlib import Path

import jupytext
import pytest

from book import FRAMEWORKS, ROOT
from book.cells import expand, of
from book.paths import FENCE, is_read, minutes, on, parents_of, paths_in, titled
from book.sources import toctree

INDEX = (ROOT / "notebooks" / "index.md").read_text(encoding="utf-8")
PAGES = [page for page in toctree(INDEX) if "/" not in page]
PATHS = paths_in(INDEX)
ROWS = [(path, row) for path, rows in PATHS.items() for row in rows]
GLOSSARY = (ROOT / "notebooks" / "back" / "glossary.md").read_text(encoding="utf-8")
OWN_LOOP = "ten-minutes"  # on which a path spends more than reading takes
EXERCISES = "Exercises"
ORDINARY = {"stages", "larger minibatch", "hybrid", "sums"}  # terms whose words have their everyday sense on a path


@cache
def entries(page):
    return expand(jupytext.read(ROOT / "notebooks" / f"{page}.md"))


def prose(page, parts, read=True):
    """Return the paragraphs of a page that stand in these parts and its openings, or those that do not."""
    parents = parents_of(entries(page), parts)
    texts = [
        FENCE.sub("", text)
        for entry, titles, text in titled(entries(page))
        if entry.kind == "markdown" and "solution" not in entry.tags and EXERCISES not in titles
        if is_read(titles, parts, parents) == read
    ]
    return "\n\n".join(texts)


def test_there_are_two_paths_of_parts_that_exist():
    assert list(PATHS) == ["laptop", "gpu"]
    for path, row in ROWS:
        titles = [title for _, above, _ in titled(entries(row.section)) for title in above]
        assert row.parts, (path, row.section)
        assert [part for part in row.parts if part not in titles] == [], (path, row.section)


@pytest.mark.parametrize("path", PATHS)
def test_a_term_of_a_path_is_defined_on_it_or_in_the_glossary(path):
    mid_sentence = re.compile(r"(?<=[\w,;(] )\*\*([^*]+)\*\*")
    read = {page: prose(page, on(PATHS[path], page)) for page in PAGES if on(PATHS[path], page)}
    known = {term.lower() for text in read.values() for term in re.findall(r"\*\*([^*]+)\*\*", text)}
    known |= {part.lower().removeprefix("a ") for row in PATHS[path] for part in row.parts}
    missing = []
    for page in PAGES:
        skipped = prose(page, on(PATHS[path], page), read=False) if page in read else prose(page, [""], read=False)
        skipped += "" if page in read else prose(page, [])
        for term in {term.lower() for term in mid_sentence.findall(skipped)} - known:
            word = re.compile(rf"(?<![\w-]){re.escape(term)}s?(?![\w-])", re.IGNORECASE)
            if term not in ORDINARY and not re.search(
                rf"^{re.escape(term.rstrip('s'))}", GLOSSARY, re.IGNORECASE | re.MULTILINE
            ):
                missing += [f"{term} ({page}) is used in {other}" for other, text in read.items() if word.search(text)]
    assert "\n".join(missing) == ""


def test_a_question_that_a_path_opens_with_is_answered_on_it():
    with Path(__file__).with_name("questions.csv").open(encoding="utf-8") as file:
        answers = {}
        for row in csv.DictReader(file):
            answers.setdefault((row["section"], row["question"]), []).append(row["part"])
    for path, row in ROWS:
        opening = " ".join(text for _, titles, text in titled(entries(row.section)) if len(titles) == 1)
        for question in re.findall(r"[^.?!\n]*\?(?=\s|$)", FENCE.sub("", opening)):
            parts = answers.get((row.section, question.strip()), [])
            assert set(parts) & set(row.parts), f"{path}, {row.section}: {question}"


def outputs(page, framework):
    path = ROOT / "_build" / "executed" / framework / f"{page}.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return {cell["id"]: cell["outputs"] for cell in cells if cell["cell_type"] == "code"}


@pytest.mark.slow
def test_a_path_takes_the_minutes_that_the_landing_page_says():
    ran = [
        name
        for name in FRAMEWORKS
        if all((ROOT / "_build" / "executed" / name / f"{page}.ipynb").exists() for page in PAGES)
    ]
    assert ran, "run `make book`"
    for path, rows in PATHS.items():
        counted = {}
        for row in rows:
            own = [minutes(of(entries(row.section), word), row.parts, outputs(row.section, word)) for word in ran]
            counted[row.section] = sum(own) / len(own)
            slack = max(2, 0.15 * row.minutes)
            wanted = row.minutes / 2 if row.section == OWN_LOOP else row.minutes
            assert abs(counted[row.section] - wanted) <= slack, (path, row.section, counted[row.section])
    assert 110 <= sum(row.minutes for row in PATHS["laptop"]) <= 125
