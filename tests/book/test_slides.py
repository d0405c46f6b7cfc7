"""Slides: which cells a deck shows, where, and what is refused. Runs no notebook."""

import json
import re

import awkward
import jupytext
import pytest
import tiny_book
from bs4 import BeautifulSoup
from editions import speaking
from tiny import HEAD, NUMBERS, SVG, Project
from tiny_book import said

from book import FRAMEWORKS, ROOT, BookError
from book.cells import cell_problems, expand, lint, of, split
from book.layout import Edition
from book.run_keys import run_key
from book.slides.deck import deck, slides, with_outputs
from book.slides.showing import shown
from book.slides.writing import contents, page
from book.translations import CHINESE
from d2l_lab.instruments.predictions import Comparison


def prose(text, mark=None):
    return tiny_book.prose(text) | {"id": "p", "metadata": marked(mark)}


def code(text, mark=None, outputs=(), **metadata):
    return tiny_book.code(text, outputs=outputs, **marked(mark) | metadata) | {"id": "c"}


def marked(mark):
    return {"slideshow": {"slide_type": mark}} if mark else {}


def told(*cells):
    """Return each slide as (kind, title, sources of its cells)."""
    return [(s.kind, s.title, [cell["source"] for cell in s.cells]) for s in slides(cells, "tiny.md")]


def source(*cells):
    """Return a source with these cells and one of each framework."""
    everyone = f"```{{code-cell}} ipython3\n:tags: [{', '.join(FRAMEWORKS)}]\n\npass\n```\n"
    return jupytext.reads(HEAD + "# Tiny\n\n" + everyone + "\n" + "\n".join(cells), fmt="md:myst")


def test_headings_open_slides_that_marks_fill():
    found = told(
        prose("# Tiny"),
        prose("Why?", "slide"),
        prose("## One"),
        code("1", "slide"),
        code("2", "fragment"),
        code("3", "subslide"),
        code("left out"),
        prose("### Within"),
        code("4", "subslide"),
    )
    assert found == [
        ("slide", "Tiny", ["<p>Why?</p>\n"]),
        ("slide", "One", ["1", "2"]),
        ("subslide", "One", ["3"]),
        ("subslide", "Within", ["4"]),
    ]
    shown_cells = slides([prose("# Tiny"), code("1", "fragment"), code("2", "fragment")], "tiny.md")[0].cells
    assert [cell["metadata"].get("slideshow") for cell in shown_cells] == [None, {"slide_type": "fragment"}]


def test_text_becomes_the_notes_of_its_slide_or_of_the_next():
    text = "## One\n\nSay $x$.\n\n![A sum.][sum]\n\n<details>\n<summary>Answer</summary>\n\n42\n\n</details>"
    notebook = deck([prose("# Tiny"), prose(f"{text}\n\n[sum]: data:image/svg+xml;base64,AA")], "jax", "", "tiny.md")
    (notes,) = [c["source"] for c in notebook["cells"] if c["metadata"].get("slideshow") == {"slide_type": "notes"}]
    assert "<math" in notes
    assert all(word not in notes for word in ("42", "Answer", "<img"))
    found = slides([prose("# Tiny\n\n## One\n\nNote.\n\n### Within"), code("1", "subslide")], "tiny.md")
    assert [(slide.kind, slide.above, slide.title) for slide in found[1:]] == [("slide", "One", "Within")]
    assert found[1].notes


def test_exercises_appear_whole_but_for_what_is_folded():
    fold = "<details>\n   <summary>Answer</summary>\n\n   42\n\n   </details>"
    found = told(
        prose("# Tiny\n\n## Exercises\n\n1. Add 1. `Why`?"),
        code("solved", "slide"),
        prose(f"2. See Ho et al. (2013).\n   And?\n\n   Or so?\n\n   {fold}"),
        prose("3. (a) Count.\n   * How?\n\n## Further Reading\n\nMore."),
    )
    ((kind, title, (source,)),) = found[1:]
    assert (kind, title) == ("slide", "Exercises")
    asked = [" ".join(item.get_text().split()) for item in BeautifulSoup(source, "html.parser").select("ol > li")]
    assert asked == ["Add 1. Why?", "See Ho et al. (2013). And? Or so?", "(a) Count. How?"]


def test_exercises_go_on_with_their_numbers_where_a_slide_has_no_room_for_more():
    questions = "\n".join(f"{number}. {'Why? ' * 100}" for number in range(1, 6))
    with speaking(Edition(ROOT, CHINESE)):
        found = told(prose("# 小小"), prose(f"## 练习\n\n{questions}\n6. {'为什么？' * 150}"))
    assert [(kind, title) for kind, title, _ in found[1:]] == [("slide", "练习"), *3 * [("subslide", "练习")]]
    counts = [source.count("<li>") for *_, (source,) in found[1:]]
    assert counts == [2, 2, 1, 1]
    assert [re.search(r'start="(\d)"', source)[1] for *_, (source,) in found[1:]] == ["1", "3", "5", "6"]


def test_long_code_shows_its_output_alone():
    long = "\n".join(["1"] * 15)
    (slide,) = slides([prose("# Tiny"), code(long, "slide", [said("2\n")])], "tiny.md")
    assert slide.cells[0]["metadata"]["d2l_drawn"]
    with pytest.raises(BookError, match="15 lines of code without an output are no slide"):
        slides([prose("# Tiny"), code(long, "slide")], "tiny.md")


def test_predictions_stand_in_one_table_without_messages_of_libraries():
    outputs = [tiny_book.shown(Comparison(name, "model", "s", 1.0, 1.5, 1.4, 1.6)) for name in ("first", "second")]
    found = shown([said("log", "stderr"), *outputs, said("W" * 300 + "\n")], "")
    assert len(found) == 1
    assert found[0]["data"]["text/html"].count("<tr>") == 3


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (tiny_book.shown({"image/svg+xml": SVG}), 'alt="a &lt;sum&gt;"'),
        (tiny_book.shown({"image/svg+xml": SVG}, **{"image/svg+xml": {"alt": "made"}}), 'alt="made"'),
        (tiny_book.shown({"text/html": "<img src=sum.png>"}), "a &lt;sum&gt;"),
        (tiny_book.shown({"text/markdown": "See <img src=sum.png>"}), "a &lt;sum&gt;"),
    ],
)
def test_a_picture_has_the_words_of_its_maker_else_those_of_its_cell(output, words):
    (found,) = shown([output], "a <sum>")
    assert words in found["data"]["text/html"]


@pytest.mark.parametrize(
    ("mark", "fault"),
    [
        ({"slide_type": "slyde"}, "unknown slide_type 'slyde'; known: slide subslide fragment"),
        ("slide", "slideshow is 'slide': write {slide_type: …} with one of slide subslide fragment"),
        ({}, "slideshow is {}: write {slide_type: …} with one of slide subslide fragment"),
    ],
)
def test_a_mark_that_means_nothing_is_refused_with_its_place(mark, fault):
    with pytest.raises(BookError, match=re.escape(f"tiny.md, cell 3 (One.): {fault}")):
        lint(source(f"+++ {json.dumps({'slideshow': mark})}\n\nOne.\n"), "tiny.md")


@pytest.mark.parametrize("cell", [code("1", "slide", tags=["solution"]), code("d2l.claim('one', 1, above=0)", "slide")])
def test_what_is_folded_cannot_be_marked(cell):
    assert len(list(cell_problems(cell))) == 1


def test_a_mark_changes_nothing_but_the_slides():
    cell = "```{{code-cell}} ipython3\n{}1 + 1\n```\n"
    plain, with_mark = (source(cell.format(mark)) for mark in ("", ":slideshow: {slide_type: slide}\n\n"))
    before, after = expand(plain), expand(with_mark)
    assert [entry.id for entry in before] == [entry.id for entry in after]
    keys = [run_key(of(entries, "jax"), "jax", {}, {}) for entries in (before, after)]
    assert keys[0] == keys[1]
    last = split(after, ["jax"], NUMBERS, {}, "tiny.md")["jax"]["cells"][-1]
    assert last["metadata"] == {"slideshow": {"slide_type": "slide"}}


def test_only_a_marked_cell_has_to_have_run():
    marked, unmarked = {"cells": [code("1", "slide")]}, {"cells": [code("1")]}
    assert with_outputs(unmarked, {"cells": []}, "tiny", "run it")[0]["outputs"] == []
    with pytest.raises(BookError, match=r"tiny, cell 1 \(1\) has changed since its notebook ran: run it"):
        with_outputs(marked, {"cells": []}, "tiny", "run it")


def test_a_section_that_has_not_run_is_one_line_with_the_cure(tmp_path):
    project = Project(tmp_path)
    project.code("1")
    done = project.here("slides", "--frameworks", "jax")
    cure = "make book FRAMEWORKS=jax SECTIONS=tiny runs it"
    missing = tmp_path / "_build" / "executed" / "jax" / "tiny.ipynb"
    assert (done.returncode, done.stderr) == (1, f"error: {missing} is missing: {cure}\n")


def test_a_deck_is_one_file_with_its_scripts():
    text = page(deck([prose("# Tiny"), code("1 + 1", "slide", [said("2\n")])], "jax", "A & B", "tiny.md"), "Tiny")
    assert '<p class="above">A &amp; B</p><h1>Tiny</h1>' in text
    assert '<pre class="output">2</pre>' in text
    assert "Reveal.initialize" in text
    assert "<script src" not in text
    assert "<link" not in text


def test_the_list_of_decks_names_book_framework_and_titles_which_are_no_markup():
    text = contents({"a": "A & B<"}, "jax")
    assert "<h1>Computational Performance in JAX: slides</h1>" in text
    assert '<a href="a.html">A &amp; B&lt;</a>' in text


@pytest.mark.parametrize("step", ["notebooks", "slides"])
def test_the_slides_of_a_section_that_is_no_more_go_with_it(tmp_path, step):
    project = Project(tmp_path)
    names = {name: tmp_path / "_build" / "slides" / "jax" / f"{name}.html" for name in ("index", "tiny", "gone")}
    for name, path in names.items():
        project.write(path, '<a href="gone.html">Gone</a>' if name == "index" else name)
    if step == "slides":
        project.write("_build/executed/jax/tiny.ipynb", json.dumps({"cells": []}))
    project.make(step)
    assert [path.exists() for path in names.values()] == [True, True, False]
    assert re.findall('href="(.*?)"', names["index"].read_text(encoding="utf-8")) == ["tiny.html"]
    text = names["tiny"].read_text(encoding="utf-8")
    written = "<title>Tiny · Computational Performance · JAX</title>" in text
    assert (step == "slides") == written != (text == "tiny")  # or it has not been written anew


def test_a_slide_holds_each_output_whole():
    cells = [cell | {"id": "c"} for cell in awkward.cells(**marked("slide"))]
    found = deck([prose("# Awkward"), *cells, prose("After it.", "slide")], "jax", "about", "awkward.md")
    boxes = BeautifulSoup(page(found, "Awkward"), "html5lib").select(".slides > section > section > .box")
    seen = dict(zip(awkward.OUTPUTS, boxes, strict=False))
    for name, words in awkward.WORDS.items():
        for script in seen[name].select("script, style"):
            script.decompose()
        assert "".join((name + words).split()) in "".join(seen[name].get_text().split())
    assert boxes[-1].get_text().split()[-2:] == ["After", "it."]


def test_an_output_that_cannot_be_shown_is_named_with_its_cell():
    cell = code("show()", "slide", outputs=[tiny_book.shown({"image/svg+xml": "<b>"}, **{"image/svg+xml": {}})])
    with pytest.raises(BookError, match=r"^tiny.md, cell 2 \(show\(\)\) shows what holds no drawing$"):
        deck([prose("# Tiny"), cell], "jax", "about", "tiny.md")


def test_a_slide_says_which_paths_its_heading_is_on():
    cells = [prose("# Tiny"), prose("## One & two"), code("1", "slide"), prose("## Three"), code("3", "slide")]
    notebook = deck(cells, "jax", "Book", "tiny.md", {"One & two": "on the laptop path"})
    heads = [cell["source"] for cell in notebook["cells"] if cell["source"].startswith("<p") or "<h" in cell["source"]]
    assert heads[1].startswith('<p class="above">on the laptop path</p><h2>One')
    assert heads[2] == "<h2>Three</h2>"
