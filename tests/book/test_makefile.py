"""Reading the Makefile starts nothing, its lists are those of the imports, and the make of macOS understands it."""

import re

import pytest
import test_environments
from modules import PATHS, reached

from book import FRAMEWORKS, ROOT

project = test_environments.project  # the fixture
MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = re.search(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE)[1].split()
LOOKING = [f"-n {' '.join(TARGETS)}", "-n _build/html/index.html", "-p", "-npq", "-q"]  # a shell that completes: -npq
LOOKING += [f"-q {target}" for target in ("setup", "book", "test", "epub", "check")]


def test_a_make_that_only_looks_changes_nothing(project):
    python = project.tools / "recorder"
    python.write_text('#!/bin/sh\necho "$@" >> "$UV_LOG"\n')
    python.chmod(0o755)
    (project.root / "notebooks" / "locale" / "zh_CN").mkdir()
    (project.root / "notebooks" / "locale" / "zh_CN" / "book.po").touch()
    for words in LOOKING:
        done = project.run("make", f"PYTHON={python}", *words.split())
        assert "***" not in done.stderr, done.stderr
        assert project.log.read_text() == "", words
        assert not (project.root / "_build").exists(), words
    project.run("make", f"PYTHON={python}", "setup")
    assert project.log.read_text() == f"-m book.setup.environments docs {' '.join(FRAMEWORKS)}\n"


@pytest.mark.parametrize(("setting", "exported"), [("STRICT=1", ["1"]), ("STRICT=0", [])])
def test_a_strict_make_tells_its_programs(project, setting, exported):
    printed = project.run("make", "-pqrR", "help", setting).stdout
    assert re.findall(r"^D2L_STRICT := (.*)$", printed, re.MULTILINE) == exported


@pytest.mark.parametrize("target", ["epub", "pdf", "test"])
def test_documents_are_made_for_the_frameworks_that_this_machine_runs(target, project):
    makes = {"epub": "jax.epub", "pdf": "jax.pdf", "test": "jax.epub"}
    project.setup()
    project.edit("pyproject.toml", '"TensorFlow"\n', '"TensorFlow"\nplatforms = ["vax"]\n')
    project.setup()  # what it could run before it may be out of date
    said = project.run("make", "-n", target, "FRAMEWORKS=tensorflow jax").stdout
    called = [line for line in said.splitlines() if line.startswith("make ") and "performance" in line]
    assert [re.findall(r"performance-(\S+)", line) for line in called] == [[makes[target]]]
    assert "d2l_only=jax" in said
    assert "d2l_only=tensorflow" not in said


def test_no_pattern_matches_the_files_of_another(project):
    """Of two that match, make 3.81 takes the first, and newer ones that with the shortest stem."""
    (project.root / "notebooks" / "locale" / "zh_CN").mkdir()
    (project.root / "notebooks" / "locale" / "zh_CN" / "book.po").touch()
    assert "\n# No implicit rules." in project.run("make", "-pqrR", "help").stdout
    for framework in FRAMEWORKS:
        for ending, language in (("", ""), ("-zh", "-D language=zh_CN ")):
            said = project.run("make", "-n", f"_build/computational-performance-{framework}{ending}.epub").stdout
            assert re.findall(r"-D d2l_only=(\S+) +(.*)-c ", said) == [(framework, language)]


def test_make_3_81_knows_all_that_the_makefile_uses():
    newer = r"\$\((?:file|let|intcmp|guile) |&:|!=|::=|^define \S+ *[:?+]?=|^(?:undefine|private|-?load) "
    newer += r"|^\.(?:ONESHELL|SHELLFLAGS|RECIPEPREFIX|EXTRA_PREREQS|WAIT|NOTINTERMEDIATE)"
    outside = "\n".join(line for line in MAKEFILE.splitlines() if not line.startswith(("\t", "#")))
    assert re.findall(newer, outside, re.MULTILINE) == []
    assert re.findall(newer, "a b &: c\nx != date\n.ONESHELL:\n", re.MULTILINE) == ["&:", "!=", ".ONESHELL"]


def prerequisites(target, printed):
    """Return what a target is made of, directly or not, out of what `make -p` prints."""
    found = set(re.search(rf"^{re.escape(target)}: (.*)$", printed, re.MULTILINE)[1].split())
    return found.union(*(prerequisites(name, printed) for name in found if name.startswith("_build/computational")))


def imported(room):
    """Return the files of all modules that a room of the book and what it imports are made of."""
    found = {module for start in PATHS if f"{start}.".startswith(f"{room}.") for module in [start, *reached(start)]}
    found |= {".".join(module.split(".")[:level]) for module in found for level in (1, 2)}
    return {str(PATHS[module].relative_to(ROOT)) for module in found & PATHS.keys()}


def of_the_book(paths):
    """Return those of our own programs that are not the set-up's: it finds the browser, and writes nothing."""
    return {path for path in paths if re.match(r"book/(?!setup/).*\.py$", path)}


def test_what_is_built_is_made_anew_when_a_module_changes_that_its_programs_import(project):
    printed = project.run("make", "-pqrR", "help").stdout
    pages = prerequisites("_build/html/index.html", printed)
    assert of_the_book(pages) == of_the_book(imported("book.pages"))
    paper = prerequisites("_build/computational-performance-jax.pdf", printed)
    assert of_the_book(paper) == of_the_book(imported("book.pages") | imported("book.paper"))
    decks = prerequisites("_build/slides/jax/index.html", printed)
    assert of_the_book(decks) == of_the_book(imported("book.pages") | imported("book.slides"))
    for room, listed in {"pages": pages, "paper": paper, "slides": decks}.items():
        ours = {path for path in imported(f"book.{room}") if path.startswith("d2l_")}
        assert ours
        assert ours <= listed
        folder = {path for path in (ROOT / "book" / room).rglob("*.*") if "__pycache__" not in path.parts}
        assert {str(path.relative_to(ROOT)) for path in folder if path.is_file()} <= listed
