"""Sources, readers' notebooks and the merged notebook, without running anything."""

import base64
import copy
import json

import jupytext
import nbformat
import pytest
from jupytext.config import load_jupytext_configuration_file
from markdown_it import MarkdownIt
from tiny import HEAD, NUMBERS, OTHERS, SECTION, SVG, Project

import book
from book import ROOT, BookError
from book.cells import expand, lint, of, split
from book.keys import run_key
from book.layout import Layout
from book.merge import all_claims, merge
from book.outputs import clean
from book.plain import PlainError, convert, outline
from book.sources import slugs
from d2l_utils.claims import MIME

FRAMEWORKS = list(book.FRAMEWORKS)
IMAGES = {"img/sum.svg": SVG.encode()}


def read(text):
    return jupytext.reads(text, fmt="md:myst")


def code(source, *tags, **metadata):
    lines = [f":tags: [{', '.join(tags)}]"] if tags else []
    lines += [f":{name}: {value}" for name, value in metadata.items()]
    return "\n".join(["```{code-cell} ipython3", *lines, "", source, "```", ""])


def whole(*cells):
    """Return a source in which each framework has a cell, followed by `cells`."""
    return read(HEAD + "# Tiny\n\n" + code("pass", *FRAMEWORKS) + "\n" + "\n".join(cells))


def plain(text):
    return convert(text, NUMBERS).text


def split_text(source, framework, images=IMAGES):
    return split(expand(source), [framework], NUMBERS, images, "tiny.md")[framework]


def reader(framework="jax", source=SECTION):
    return split_text(read(source), framework)


def said(text, name="stdout"):
    return {"output_type": "stream", "name": name, "text": text}


def claimed(sentence, held, **more):
    data = {MIME: {"sentence": sentence, "held": held, "evidence": "2, above 1", "note": ""} | more, "text/plain": "?"}
    return {"output_type": "display_data", "metadata": {}, "data": data}


def ran(source, framework, outputs=None):
    """Return a notebook as if it had been executed; `outputs` maps code to the text that it prints or its output."""
    notebook = split_text(source, framework)
    for cell in notebook["cells"]:
        if given := (outputs or {}).get(cell["source"]):
            cell["outputs"] = [said(given) if isinstance(given, str) else given]
    notebook["metadata"]["d2l"] = {"key": "", "seconds": 1, "date": "2026-01-01", "machine": {}, "versions": {}}
    return notebook


def merged(source, outputs=None, frameworks=FRAMEWORKS, lacking=()):
    """Merge runs in which `outputs` maps a framework to what `ran` takes; those `lacking` have not run."""
    executed = {word: ran(source, word, (outputs or {}).get(word)) for word in frameworks if word not in lacking}
    return merge(expand(source), list(frameworks), executed, "tiny.md")


# The rules of a source


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        (code("1", "jxa"), "tiny.md, cell 3 (1): unknown tag 'jxa'; known: pytorch "),
        (code("1", colour="red"), "tiny.md, cell 3 (1): unknown metadata 'colour'; known: tags alt"),
        ('+++ {"tags": ["solution"]}\n\nText.', "tiny.md, cell 3 (Text.): tag 'solution' is for code cells"),
        ('+++ {"tags": ["jax"]}\n\nText.\n\n## More', "tiny.md, cell 3 (Text.): a heading stands in a cell tagged jax"),
    ],
)
def test_a_source_that_breaks_a_rule_is_refused_with_file_and_cell(cell, problem):
    with pytest.raises(BookError) as error:
        lint(whole(cell), "tiny.md")
    assert str(error.value).startswith(problem)


def test_a_section_without_a_cell_of_some_framework_is_refused():
    with pytest.raises(BookError, match=f"^tiny.md: no cell of {FRAMEWORKS[-1]}$"):
        lint(read(HEAD + code("1", *FRAMEWORKS[:-1])), "tiny.md")


def test_all_problems_are_told_at_once():
    with pytest.raises(BookError) as error:
        lint(whole(code("1", "one"), code("2", "two")), "tiny.md")
    assert len(str(error.value).split("\n")) == 2


def test_a_sound_source_passes():
    lint(read(SECTION), "tiny.md")


# Ids


def test_ids_are_unique_even_for_equal_cells():
    ids = [entry.id for entry in expand(whole(code("1"), code("1"), code("1", "jax"), code("1", "jax", "pytorch")))]
    assert len(set(ids)) == len(ids)


def test_a_changed_cell_changes_no_other_id():
    before = expand(whole(code("1"), code("2", "jax"), code("3")))
    after = expand(whole(code("1"), code("20", "jax"), code("3")))
    assert [a.id == b.id for a, b in zip(before, after, strict=True)] == [True] * 6 + [False, True]


def test_a_cell_has_the_same_id_in_the_readers_and_in_the_merged_notebook():
    source = read(SECTION)
    ids = {cell["id"] for cell in merged(source, {"jax": {"raise": ""}})["cells"]}
    for framework in FRAMEWORKS:
        assert {cell["id"] for cell in split_text(source, framework)["cells"]} <= ids


# The reader's notebook


def test_a_readers_notebook_holds_the_cells_of_its_framework_only():
    sources = "\n".join(cell["source"] for cell in reader("jax")["cells"])
    assert "word = 'jax'" in sources
    assert "Only JAX" in sources
    assert "torch" not in sources
    assert "word = 'tensor'" in "\n".join(cell["source"] for cell in reader(OTHERS[0])["cells"])


def test_a_readers_notebook_is_valid_and_names_its_kernel():
    notebook = reader("jax")
    nbformat.validate(nbformat.from_dict(notebook))
    assert notebook["metadata"]["kernelspec"]["name"] == "d2l-jax"


def test_a_readers_notebook_has_no_directive_or_role_left():
    for cell in reader("jax")["cells"]:
        if cell["cell_type"] == "markdown":
            assert ":::" not in cell["source"]
            assert "{" not in cell["source"].replace("`{eq}`", "").replace("`{numref}`", "").replace(r"\tag{", "")


def test_a_picture_travels_inside_its_cell():
    lines = reader("jax")["cells"][0]["source"].split("\n")
    assert "![Two boxes: one sum][img/sum.svg]" in lines
    assert "**Fig. 1.1** Two numbers go in, see (1.1)." in lines
    assert lines[-1] == "[img/sum.svg]: data:image/svg+xml;base64," + base64.b64encode(SVG.encode()).decode()


def test_a_solution_is_folded_and_a_checked_cell_keeps_its_tag():
    cells = {cell["source"]: cell["metadata"] for cell in reader("jax")["cells"]}
    assert cells["1 + 1"] == {"tags": ["solution"], "jupyter": {"source_hidden": True}}
    assert any(metadata.get("tags") == ["nbval-check-output"] for metadata in cells.values())


def test_only_works_cited_in_the_notebook_are_listed():
    last = reader("jax")["cells"][-1]["source"]
    assert last == "## References\n\n* Lovelace. *Notes*. 1843.\n* Boole. *Laws*. 1854."


def test_a_missing_picture_is_named_with_its_cell():
    with pytest.raises(BookError, match=r"^tiny.md, cell 1 \(# Tiny\): picture img/sum.svg is missing"):
        split_text(read(SECTION), "jax", {})


def test_what_cannot_be_said_in_plain_markdown_is_named_with_its_cell():
    with pytest.raises(BookError, match=r"^tiny.md, cell 3 \(See\): unknown role {abbr}`x`; known: numref"):
        split_text(whole("See\n{abbr}`x`."), "jax", {})


# Plain Markdown


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{numref}`fig-sum`", "Fig. 1.1"),
        ("{eq}`eq-sum` and {eq}`eq-sum`", "(1.1) and (1.1)"),
        ("``{eq}`eq-sum` `` {eq}`eq-sum`", "``{eq}`eq-sum` `` (1.1)"),
        (r"\{eq}`eq-sum` {eq}`eq-sum`", r"\{eq}`eq-sum` (1.1)"),
        ("{ref}`first`", "Adding"),
        ("{ref}`how to add <first>`", "how to add"),
        ("{ref}`other-start`", "[Other](other.ipynb)"),
        ("{cite:p}`ada1843, boole1854`", "(Lovelace, 1843; Boole, 1854)"),
        ("{cite:t}`ada1843`", "Lovelace (1843)"),
        ("{ref}`two\nlines <first>`\nand {eq}`eq-sum`", "two lines\nand (1.1)"),
        ("$x$ {eq}`eq-sum` $y$, `{eq}` {eq}`eq-sum`", "$x$ (1.1) $y$, `{eq}` (1.1)"),
        ("| a | b |\n|---|---|\n| {eq}`eq-sum` | {eq}`eq-sum` |", "| a | b |\n|---|---|\n| (1.1) | (1.1) |"),
        ("(first)=\n## Adding", "## Adding"),
        ("% a remark\nText.", "Text."),
        ("$$x$$ (eq-sum)", r"$$ x \tag{1.1} $$"),
        ("* a {eq}`eq-sum`\n* b\n  {eq}`eq-sum`", "* a (1.1)\n* b\n  (1.1)"),
        ("> {eq}`eq-sum`\n> more", "> (1.1)\n> more"),
        ("```python\n:::{figure} x\n{eq}`a`\n```", "```python\n:::{figure} x\n{eq}`a`\n```"),
        (":::{admonition} Tip\nGo.\n:::", "> **Tip**\n>\n> Go."),
        ("* a\n\n  :::{admonition} Tip\n  Go.\n  :::\n* b", "* a\n\n  > **Tip**\n  >\n  > Go.\n* b"),
        ("* a\n\n  $$\n  x\n  $$\n* b", "* a\n\n  $$ x $$\n* b"),
        (":::{dropdown} The `x`\nIt.\n:::", "<details>\n<summary>The <code>x</code></summary>\n\nIt.\n\n</details>"),
        (
            ":::{figure} img/sum.svg\n:name: fig-sum\n:alt: one [sum]\n:::",
            "![one \\[sum\\]][img/sum.svg]\n\n**Fig. 1.1**",
        ),
    ],
)
def test_myst_becomes_plain_markdown(source, expected):
    assert plain(source) == expected


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (":::{tab-set}\n:::", "unknown directive {tab-set}; known: admonition"),
        ("{abbr}`x`", "unknown role {abbr}`x`"),
        ("{numref}`fig-gone`", "unknown label 'fig-gone'"),
        ("$$x$$ (eq-gone)", "unknown label 'eq-gone'"),
        ("{cite:p}`gone`", "unknown work 'gone'"),
        ("{numref}`Figure %s <fig-sum>`", "write the number alone, {numref}`fig-sum`"),
        (":::{figure} img/sum.svg\n:name: fig-sum\n:::", "figure img/sum.svg has no :alt:"),
        (":::{figure} img/sum.svg\n:alt: x\n:::", "figure img/sum.svg has no :name:"),
        ("![a sum](img/sum.svg)", "picture img/sum.svg stands in the text: make it a {figure}"),
        ("[text](other.md)", "link to 'other.md'"),
        ("<!-- a remark --> see {eq}`eq-sum`", "{eq}`eq-sum` stands where it is not read"),
        ("<!--\n{eq}`eq-sum`\n-->", "{eq}`eq-sum` stands where it is not read"),
        ('[text](https://a.b "see {eq}`eq-sum`")', "stands where it is not read"),
        ('An <abbr title="{eq}`eq-sum`">x</abbr>.', "stands where it is not read"),
        ("<div>\n:::{admonition} Tip\nGo.\n:::\n</div>", ":::{admonition} Tip stands where it is not read"),
        (":::{figure} img/sum.svg\n:name: fig-sum\n:alt: see {eq}`eq-sum`\n:::", "stands where it is not read"),
        ("Text.[^1]\n\n[^1]: Note.", "a footnote"),
        (":::plain\n:::", ":::plain opens no directive"),
    ],
)
def test_what_is_left_over_is_an_error_in_plain_words(source, problem):
    with pytest.raises(PlainError) as error:
        plain(source)
    assert problem in str(error.value)


def test_an_answer_inside_a_quote_still_folds_and_is_still_markdown():
    text = plain(
        "::::{admonition} Estimate\nHow much?\n\n:::{dropdown} Answer\n**Two**\n\n```python\nx\n```\n:::\n::::"
    )
    html = MarkdownIt("commonmark").render(text)
    start, end = html.index("<blockquote>"), html.index("</blockquote>")
    inside = html[start:end]
    assert inside.index("<details>") < inside.index("<strong>Two</strong>") < inside.index("</details>")
    assert '<pre><code class="language-python">x' in inside


# Keys and outputs


def key_of(source, framework="jax", around=None, profile=None):
    return run_key(of(expand(read(source)), framework), framework, around or {}, profile or {})


def test_prose_and_another_frameworks_cell_do_not_change_the_key():
    assert key_of(SECTION) == key_of(SECTION.replace("For everyone", "For all"))
    assert key_of(SECTION) == key_of(SECTION.replace("'torch'", "'pytorch'"))


@pytest.mark.parametrize("change", [("word = 'jax'", "word = 'flax'"), ("[raises-exception]", "[remove-stderr]")])
def test_code_and_tags_change_the_key(change):
    assert key_of(SECTION) != key_of(SECTION.replace(*change))


@pytest.mark.parametrize(
    "change",
    [
        ("As {numref}", "So {numref}"),
        ("For everyone", "For all"),
        ("Two numbers go in", "Two numbers come in"),
        ("It is **2**", "It is *2*"),
        ("z = x", "z = 2 x"),
        ("1 + 1", "1 + 2"),
    ],
)
def test_a_changed_sentence_or_formula_changes_no_number(change):
    assert change[0] in SECTION
    assert outline_of(SECTION) == outline_of(SECTION.replace(*change))


@pytest.mark.parametrize(
    "change",
    [
        ("# Tiny", "# Small"),
        ("## Adding", "### Adding"),
        ("(first)=", "(one)="),
        (":name: fig-sum", ":name: fig-add"),
        ("(eq-sum)\n", "(eq-add)\n"),
        ("\n\nTwo numbers go in, see {eq}`eq-sum`.", ""),
        ("{cite:p}`ada1843,boole1854`", "{cite:p}`ada1843`"),
        ("It is **2**", "{cite:t}`boole1854` says **2**"),
        (":::{bibliography}", ":::{dropdown}"),
    ],
)
def test_whatever_numbers_depend_on_is_in_the_outline(change):
    assert change[0] in SECTION
    assert outline_of(SECTION) != outline_of(SECTION.replace(*change))


def outline_of(text):
    return [outline(cell["source"]) for cell in read(text).cells if cell.cell_type == "markdown"]


def test_outputs_lose_widgets_and_paths_and_their_streams_are_joined():
    widget = {
        "output_type": "display_data",
        "metadata": {},
        "transient": {"display_id": "1"},
        "data": {"text/plain": "Box", "application/vnd.jupyter.widget-view+json": {}},
    }
    warning = "/tmp/ipykernel_12/345.py:1: Warning\n/tmp/d2l-x/a /home/me/b /home/men\n"
    found = clean([said("a"), said("b"), said(warning, "stderr"), widget], {"/tmp/d2l-x": ".", "/home/me": "~"})
    assert found == [
        said("ab"),
        said("cell.py:1: Warning\n./a ~/b /home/men\n", "stderr"),
        {"output_type": "display_data", "metadata": {}, "data": {"text/plain": "Box"}},
    ]


# The merged notebook


def tags_and_outputs(notebook, source):
    return [
        (cell["metadata"].get("tags", []), "".join(output["text"] for output in cell["outputs"]))
        for cell in notebook["cells"]
        if cell["source"] == source
    ]


def test_a_shared_cell_with_equal_outputs_stands_once():
    outputs = {word: {"1": "same\n"} for word in FRAMEWORKS}
    assert tags_and_outputs(merged(whole(code("1")), outputs), "1") == [([], "same\n")]


def test_a_shared_cell_with_different_outputs_gets_one_output_per_framework():
    outputs = {word: {"1": word} for word in FRAMEWORKS}
    assert tags_and_outputs(merged(whole(code("1")), outputs), "1") == [
        ([], ""),
        *[([word, "remove-input"], word) for word in FRAMEWORKS],
    ]


def test_a_cell_of_two_frameworks_stands_once_for_each():
    notebook = merged(whole(code("1", "jax", "pytorch")), {"jax": {"1": "j"}, "pytorch": {"1": "p"}})
    assert tags_and_outputs(notebook, "1") == [(["pytorch"], "p"), (["jax"], "j")]


def test_a_solution_keeps_its_tag_and_so_do_the_cells_that_show_its_results():
    outputs = {word: {"1": word} for word in FRAMEWORKS[:2]}
    found = tags_and_outputs(merged(whole(code("1", "solution")), outputs, FRAMEWORKS[:2]), "1")
    shown = [([word, "remove-input", "solution"], word) for word in FRAMEWORKS[:2]]
    assert found == [(["solution"], ""), *shown]


CLAIM = "d2l.claim('so it is', True)"


@pytest.mark.parametrize(
    ("source", "only"),
    [
        (CLAIM, True),
        (f"{CLAIM}\n# a remark\nd2l.claim('again', lambda: 2,\n          above=1)", True),
        (f"{CLAIM}\nprint(1)", False),
        (f"if x:\n    {CLAIM}", False),
        ("d2l.claims('no', 1)", False),
        ("claim('no', 1)", False),
        ("%time\nx = 1", False),
        ("# a remark", False),
    ],
)
def test_a_cell_of_nothing_but_claims_is_folded_for_the_reader_and_tagged_in_the_book(source, only):
    for tags in ((), ("jax",)):
        text = whole(code(source, *tags))
        (cell,) = [cell for cell in split_text(text, "jax")["cells"] if cell["source"] == source]
        assert cell["metadata"] == ({"jupyter": {"source_hidden": True}} if only else {})
        (cell,) = [cell for cell in merged(text)["cells"] if cell["source"] == source]
        assert cell["metadata"].get("tags", []) == [*tags, *(["claims"] if only else [])]


def test_claims_that_differ_are_shown_by_cells_without_the_tag():
    outputs = {word: {CLAIM: claimed("so it is", True, evidence=word)} for word in FRAMEWORKS[:2]}
    found = [
        cell["metadata"]["tags"]
        for cell in merged(whole(code(CLAIM)), outputs, FRAMEWORKS[:2])["cells"]
        if cell["source"] == CLAIM
    ]
    assert found == [["claims"], *[[word, "remove-input"] for word in FRAMEWORKS[:2]]]


def test_a_page_says_under_its_title_what_was_not_run():
    source = whole(code("1"))
    line = "This section was not run{} in this build: `make book` runs it."
    whole_page, part = merged(source, lacking=FRAMEWORKS), merged(source, lacking=FRAMEWORKS[2:])
    assert whole_page["cells"][0]["source"].split("\n")[:3] == ["# Tiny", "", line.format("")]
    assert part["cells"][0]["source"].split("\n")[2] == line.format(
        f" in {', '.join(book.FRAMEWORKS[word] for word in FRAMEWORKS[2:])}"
    )
    assert list(part["metadata"]["d2l"]["frameworks"]) == FRAMEWORKS[:2]
    assert line.format("") not in merged(source)["cells"][0]["source"]
    nbformat.validate(nbformat.from_dict(whole_page))


def test_what_ran_of_a_shared_cell_is_shown_as_that_frameworks_when_others_did_not_run():
    outputs = {word: {"1": "same\n"} for word in FRAMEWORKS}
    found = tags_and_outputs(
        merged(whole(code("1")), outputs, lacking=[word for word in FRAMEWORKS if word != "pytorch"]), "1"
    )
    assert found == [([], ""), (["pytorch", "remove-input"], "same\n")]


def test_framework_prose_is_wrapped_in_a_fence_longer_than_its_own():
    notebook = merged(whole('+++ {"tags": ["jax"]}\n\n```````python\nx\n```````'))
    assert notebook["cells"][-1]["source"] == "````````{framework} jax\n```````python\nx\n```````\n````````"


def test_a_book_of_two_frameworks_has_no_cell_of_the_others():
    notebook = merged(read(SECTION), frameworks=["pytorch", "jax"])
    assert list(notebook["metadata"]["d2l"]["frameworks"]) == ["pytorch", "jax"]
    tags = {tag for cell in notebook["cells"] for tag in cell["metadata"].get("tags", [])}
    assert not tags & set(OTHERS)
    nbformat.validate(nbformat.from_dict(notebook))


def test_the_merged_notebook_is_the_same_every_time():
    outputs = {word: {"1 + 1": word} for word in FRAMEWORKS}
    assert json.dumps(merged(read(SECTION), outputs)) == json.dumps(merged(read(SECTION), outputs))


def pictured(metadata, **cell):
    source = whole(code("draw()", "jax", **cell))
    notebook = ran(source, "jax")
    notebook["cells"][-1]["outputs"] = [
        {"output_type": "display_data", "data": {"image/svg+xml": SVG}, "metadata": copy.deepcopy(metadata)}
    ]
    return merge(expand(source), ["jax"], {"jax": notebook}, "tiny.md")["cells"][-1]["metadata"]["mystnb"]


def test_the_words_of_a_picture_come_from_its_cell_or_else_from_its_maker():
    own = {"image/svg+xml": {"alt": "made"}}
    assert pictured(own) == {"image": {"alt": "made"}}
    assert pictured(own, alt="written") == {"image": {"alt": "written"}}


def test_a_picture_without_words_is_refused():
    with pytest.raises(BookError, match=r"^tiny.md, cell 3 \(draw\(\)\): a picture without words"):
        pictured({})


def test_claims_are_what_came_as_data_and_no_printed_line():
    source = whole(code("1"), code("2", "jax"))
    outputs = {
        "pytorch": {"1": claimed("fast", True)},
        "jax": {"1": claimed("fast", None), "2": "✓ printed\n– a list item\n"},
    }
    notebook = merged(source, outputs, ["pytorch", "jax"])
    shown = {tuple(cell["metadata"].get("tags", [])): cell["id"] for cell in notebook["cells"] if cell["source"] == "1"}
    ids = [shown["pytorch", "remove-input"], shown["jax", "remove-input"]]
    assert all_claims(notebook, "tiny") == [
        {"section": "tiny", "framework": "pytorch", "cell": ids[0], "held": True, "sentence": "fast"},
        {"section": "tiny", "framework": "jax", "cell": ids[1], "held": None, "sentence": "fast"},
    ]


def test_a_claim_that_all_frameworks_show_alike_counts_for_each():
    outputs = {word: {"1": claimed("fast", True)} for word in ("pytorch", "jax")}
    found = all_claims(merged(whole(code("1")), outputs, ["pytorch", "jax"]), "tiny")
    assert [claim["framework"] for claim in found] == ["pytorch", "jax"]


# Jupytext

KERNEL_SAYS = {"name": "python", "pygments_lexer": "ipython3", "file_extension": ".py", "version": "3.11.2"}


@pytest.mark.parametrize("path", [None, *sorted((ROOT / "notebooks").glob("*.md"))], ids=str)
def test_a_save_in_jupyterlab_leaves_a_source_as_it_is(path):
    text = SECTION if path is None else path.read_text(encoding="utf-8")
    if not text.startswith("---\njupytext:"):
        return  # a page, no notebook
    settings = load_jupytext_configuration_file(str(ROOT / "jupytext.toml"))
    notebook = read(text)
    notebook.metadata["language_info"] = KERNEL_SAYS
    for cell in notebook.cells:
        cell.metadata["trusted"] = True
    assert jupytext.writes(notebook, fmt="md:myst", config=settings) == text


# Readers' notebooks on disk


def test_sections_stand_in_the_order_of_the_table_of_contents_wherever_else_their_names_stand(tmp_path):
    for slug in ("hardware", "loops", "zeros"):
        (tmp_path / "notebooks").mkdir(exist_ok=True)
        (tmp_path / "notebooks" / f"{slug}.md").touch()
    trees = "```{toctree}\n:maxdepth: 2\n\nZero <zeros>\nloops\n```\n\n:::{toctree}\nhardware\n:::\n"
    (tmp_path / "notebooks" / "index.md").write_text(f"What hardware loops do.\n\n{trees}")
    assert slugs(Layout(tmp_path)) == ["zeros", "loops", "hardware"]


def test_only_the_section_whose_source_or_picture_changed_is_split_again(tmp_path):
    project = Project(tmp_path)
    project.code("1", slug="other")

    def split_again():
        before = {path: path.stat().st_mtime_ns for path in (tmp_path / "_build" / "source").glob("*")}
        done = project.here("notebooks", "--frameworks", "jax")
        assert (done.returncode, done.stderr) == (0, "")
        paths = (tmp_path / "_build" / "source").glob("*")
        return sorted(path.stem for path in paths if path.stat().st_mtime_ns != before.get(path))

    assert split_again() == ["other", "tiny"]
    assert split_again() == []
    project.section(SECTION.replace("For everyone", "For all"))
    assert split_again() == ["tiny"]
    assert "For all." in [cell["source"] for cell in project.read("notebooks")["cells"]]
    project.write("notebooks/img/sum.svg", SVG.replace("1", "2"))
    assert split_again() == ["tiny"]
    project.path("notebooks", slug="other").unlink()
    split_again()
    assert project.path("notebooks", slug="other").exists()


def test_what_a_reader_saved_in_a_notebook_stays_until_its_source_changes(tmp_path):
    project = Project(tmp_path)
    project.here("notebooks", "--frameworks", "jax")
    project.write(project.path("notebooks"), '{"cells": [], "mine": true}')
    project.here("notebooks", "--frameworks", "jax")
    assert project.read("notebooks")["mine"]
