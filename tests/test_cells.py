"""Sources, readers' notebooks and the merged notebook, without running anything."""

import base64
import copy
import json

import jupytext
import nbformat
import pytest
from jupytext.config import load_jupytext_configuration_file
from markdown_it import MarkdownIt
from tiny import FRAMEWORKS, HEAD, NUMBERS, ROOT, SECTION, SVG, Project

from book import BookError
from book.cells import expand, lint, split
from book.merge import all_claims, merge
from book.outputs import clean, key, transplant
from book.plain import PlainError, convert

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


def reader(framework="jax", source=SECTION):
    return split(read(source), framework, NUMBERS, IMAGES, "tiny.md")


def ran(source, framework, outputs=None):
    """Return a notebook as if it had been executed; `outputs` maps code to the text it prints."""
    notebook = split(source, framework, NUMBERS, IMAGES, "tiny.md")
    for cell in notebook["cells"]:
        text = (outputs or {}).get(cell["source"])
        if text:
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": text}]
    notebook["metadata"]["d2l"] = {"key": key(notebook, "pins"), "seconds": 1, "date": "2026-01-01"}
    return notebook


def merged(source, outputs=None, frameworks=FRAMEWORKS):
    """Merge runs in which `outputs` maps a framework to what `ran` takes."""
    executed = {word: ran(source, word, (outputs or {}).get(word)) for word in frameworks}
    return merge(source, executed, dict.fromkeys(frameworks, "pins"), "tiny.md")


# The rules of a source


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        (code("1", "jxa"), "tiny.md, cell 3 (1): unknown tag 'jxa'; known: pytorch tensorflow jax mxnet nbval-check"),
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
    with pytest.raises(BookError, match="^tiny.md: no cell of mxnet$"):
        lint(read(HEAD + code("1", "pytorch", "tensorflow", "jax")), "tiny.md")


def test_all_problems_are_told_at_once():
    with pytest.raises(BookError) as error:
        lint(whole(code("1", "one"), code("2", "two")), "tiny.md")
    assert len(str(error.value).split("\n")) == 2


def test_a_sound_source_passes():
    lint(read(SECTION), "tiny.md")


# Ids


def test_ids_are_unique_even_for_equal_cells():
    ids = [entry.id for entry in expand(whole(code("1"), code("1"), code("1", "jax"), code("1", "jax", "mxnet")))]
    assert len(set(ids)) == len(ids)


def test_a_changed_cell_changes_no_other_id():
    before = expand(whole(code("1"), code("2", "jax"), code("3")))
    after = expand(whole(code("1"), code("20", "jax"), code("3")))
    assert [a.id == b.id for a, b in zip(before, after, strict=True)] == [True] * 6 + [False, True]


def test_a_cell_has_the_same_id_in_the_readers_and_in_the_merged_notebook():
    source = read(SECTION)
    ids = {cell["id"] for cell in merged(source, {"jax": {"raise": ""}})["cells"]}
    for framework in FRAMEWORKS:
        assert {cell["id"] for cell in split(source, framework, NUMBERS, IMAGES, "tiny.md")["cells"]} <= ids


# The reader's notebook


def test_a_readers_notebook_holds_the_cells_of_its_framework_only():
    sources = "\n".join(cell["source"] for cell in reader("jax")["cells"])
    assert "word = 'jax'" in sources
    assert "Only JAX" in sources
    assert "torch" not in sources
    assert "word = 'tensor'" in "\n".join(cell["source"] for cell in reader("mxnet")["cells"])


def test_a_readers_notebook_is_valid_and_names_its_kernel():
    notebook = reader("mxnet")
    nbformat.validate(nbformat.from_dict(notebook))
    assert notebook["metadata"]["kernelspec"]["name"] == "d2l-mxnet"


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
        split(read(SECTION), "jax", NUMBERS, {}, "tiny.md")


def test_what_cannot_be_said_in_plain_markdown_is_named_with_its_cell():
    with pytest.raises(BookError, match=r"^tiny.md, cell 3 \(See\): unknown role {abbr}`x`; known: numref"):
        split(whole("See\n{abbr}`x`."), "jax", NUMBERS, {}, "tiny.md")


# Plain Markdown


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{numref}`fig-sum`", "Fig. 1.1"),
        ("{eq}`eq-sum` and {eq}`eq-sum`", "(1.1) and (1.1)"),
        ("``{eq}`eq-sum` `` {eq}`eq-sum`", "``{eq}`eq-sum` `` (1.1)"),
        (r"\{eq}`eq-sum` {eq}`eq-sum`", r"\{eq}`eq-sum` (1.1)"),
        ("{doc}`other`", "[Other](other.ipynb)"),
        ("{doc}`the next <other>`", "[the next](other.ipynb)"),
        ("{doc}`the map <index>`", "the map"),
        ("{ref}`first`", "Adding"),
        ("{ref}`how to add <first>`", "how to add"),
        ("{ref}`other-start`", "[Other](other.ipynb)"),
        ("{cite:p}`ada1843, boole1854`", "(Lovelace, 1843; Boole, 1854)"),
        ("{cite:t}`ada1843`", "Lovelace (1843)"),
        ("{download}`the drawing <img/sum.svg>`", "the drawing"),
        ("(first)=\n## Adding", "## Adding"),
        ("% a remark\nText.", "Text."),
        ("$$x$$ (eq-sum)", r"$$ x \tag{1.1} $$"),
        ("* a {eq}`eq-sum`\n* b\n  {eq}`eq-sum`", "* a (1.1)\n* b\n  (1.1)"),
        ("> {eq}`eq-sum`\n> more", "> (1.1)\n> more"),
        ("```python\n:::{figure} x\n{eq}`a`\n```", "```python\n:::{figure} x\n{eq}`a`\n```"),
        (":::{tip}\nGo.\n:::", "> **Tip**\n>\n> Go."),
        (":::{note} Go.\n:::", "> **Note**\n>\n> Go."),
        ("```{warning}\n:class: wide\nStop.\n```", "> **Warning**\n>\n> Stop."),
        ("* a\n\n  :::{tip}\n  Go.\n  :::\n* b", "* a\n\n  > **Tip**\n  >\n  > Go.\n* b"),
        ("* a\n\n  $$\n  x\n  $$\n* b", "* a\n\n  $$ x $$\n* b"),
        (":::{dropdown} The `x`\nIt.\n:::", "<details>\n<summary>The <code>x</code></summary>\n\nIt.\n\n</details>"),
        (r"![one \[sum\]](img/sum.svg)", r"![one \[sum\]][img/sum.svg]"),
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
        ("{doc}`gone`", "unknown section 'gone'"),
        ("{cite:p}`gone`", "unknown work 'gone'"),
        ("{numref}`Figure %s <fig-sum>`", "write the number alone, {numref}`fig-sum`"),
        (":::{figure} img/sum.svg\n:name: fig-sum\n:::", "figure img/sum.svg has no :alt:"),
        (":::{figure} img/sum.svg\n:alt: x\n:::", "figure img/sum.svg has no :name:"),
        ("![](img/sum.svg)", "picture img/sum.svg has no alternative text"),
        ("[text](other.md)", "link to 'other.md'"),
        ("{ref}`two\nlines <first>`", "write {ref}`two lines <first>` on one line"),
        ("Text.[^1]\n\n[^1]: Note.", "a footnote"),
        (":::plain\n:::", ":::plain opens no directive"),
    ],
)
def test_what_is_left_over_is_an_error_in_plain_words(source, problem):
    with pytest.raises(PlainError) as error:
        plain(source)
    assert problem in str(error.value)


def test_an_answer_inside_a_quote_still_folds_and_is_still_markdown():
    text = plain("::::{admonition} Napkin\nHow much?\n\n:::{dropdown} Answer\n**Two**\n\n```python\nx\n```\n:::\n::::")
    html = MarkdownIt("commonmark").render(text)
    start, end = html.index("<blockquote>"), html.index("</blockquote>")
    inside = html[start:end]
    assert inside.index("<details>") < inside.index("<strong>Two</strong>") < inside.index("</details>")
    assert '<pre><code class="language-python">x' in inside


# Keys and outputs


def test_prose_does_not_change_the_key():
    assert key(reader(), "pins") == key(reader(source=SECTION.replace("For everyone", "For all")), "pins")


@pytest.mark.parametrize(
    "change",
    [
        ("word = 'jax'", "word = 'flax'"),
        ("[raises-exception]", "[raises-exception, hide-input]"),
    ],
)
def test_code_and_tags_change_the_key(change):
    assert key(reader(), "pins") != key(reader(source=SECTION.replace(*change)), "pins")


def test_pins_and_kernel_change_the_key():
    keys = {key(reader(), "pins"), key(reader(), "others")}
    notebook = reader()
    notebook["metadata"]["kernelspec"]["name"] = "d2l-other"
    assert len(keys | {key(notebook, "pins")}) == 3


def test_another_frameworks_cell_does_not_change_the_key():
    assert key(reader(), "pins") == key(reader(source=SECTION.replace("'torch'", "'pytorch'")), "pins")


def test_new_prose_takes_over_old_outputs():
    source = read(SECTION)
    old = ran(source, "jax", {"1 + 1": "2\n"})
    new = transplant(reader(source=SECTION.replace("For everyone", "For all")), old)
    assert "For all." in [cell["source"] for cell in new["cells"]]
    assert [cell["outputs"] for cell in new["cells"] if cell["source"] == "1 + 1"] == [
        [{"output_type": "stream", "name": "stdout", "text": "2\n"}]
    ]


def test_outputs_lose_widgets_and_paths_and_their_streams_are_joined():
    def said(text, name="stdout"):
        return {"output_type": "stream", "name": name, "text": text}

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
    notebook = merged(whole(code("1", "mxnet", "jax")), {"jax": {"1": "j"}, "mxnet": {"1": "m"}})
    assert tags_and_outputs(notebook, "1") == [(["jax"], "j"), (["mxnet"], "m")]


def test_a_solution_is_hidden_and_so_are_its_outputs():
    outputs = {word: {"1": word} for word in FRAMEWORKS[:2]}
    found = tags_and_outputs(merged(whole(code("1", "solution")), outputs, FRAMEWORKS[:2]), "1")
    assert found == [
        (["solution", "hide-cell"], ""),
        (["pytorch", "remove-input", "hide-output"], "pytorch"),
        (["tensorflow", "remove-input", "hide-output"], "tensorflow"),
    ]


def test_the_fold_of_an_output_alone_says_that_it_holds_a_result():
    outputs = {word: {"1": word} for word in FRAMEWORKS[:2]}
    notebook = merged(whole(code("1", "solution")), outputs, FRAMEWORKS[:2])
    found = [cell["metadata"].get("mystnb", {}).get("code_prompt_show") for cell in notebook["cells"][-3:]]
    assert found == [None, "Show the result", "Show the result"]


def test_framework_prose_is_wrapped_in_a_fence_longer_than_its_own():
    notebook = merged(whole('+++ {"tags": ["jax"]}\n\n```````python\nx\n```````'))
    assert notebook["cells"][-1]["source"] == "````````{framework} jax\n```````python\nx\n```````\n````````"


def test_a_book_of_two_frameworks_has_no_cell_of_the_others():
    notebook = merged(read(SECTION), frameworks=["pytorch", "jax"])
    assert list(notebook["metadata"]["d2l"]["frameworks"]) == ["pytorch", "jax"]
    tags = {tag for cell in notebook["cells"] for tag in cell["metadata"].get("tags", [])}
    assert not tags & {"tensorflow", "mxnet"}
    nbformat.validate(nbformat.from_dict(notebook))


def test_the_merged_notebook_is_the_same_every_time():
    assert json.dumps(merged(read(SECTION))) == json.dumps(merged(read(SECTION)))


def test_a_stale_notebook_stops_the_merge_with_its_cell():
    old, new = whole(code("1")), whole(code("2"))
    executed = {word: ran(old, word) for word in FRAMEWORKS}
    with pytest.raises(BookError, match=r"^tiny.md \(pytorch\): the executed notebook is stale at cell 3 \(2\)"):
        merge(new, executed, dict.fromkeys(FRAMEWORKS, "pins"), "tiny.md")


def test_a_notebook_of_other_pins_stops_the_merge():
    source = whole(code("1"))
    with pytest.raises(BookError, match=r"^tiny.md \(jax\): the executed notebook is stale: its pins or d2l_utils"):
        merge(source, {"jax": ran(source, "jax")}, {"jax": "new pins"}, "tiny.md")


def pictured(metadata, **cell):
    source = whole(code("draw()", "jax", **cell))
    notebook = ran(source, "jax")
    notebook["cells"][-1]["outputs"] = [
        {"output_type": "display_data", "data": {"image/svg+xml": SVG}, "metadata": copy.deepcopy(metadata)}
    ]
    return merge(source, {"jax": notebook}, {"jax": "pins"}, "tiny.md")["cells"][-1]["metadata"]["mystnb"]


def test_the_words_of_a_picture_come_from_its_cell_or_else_from_its_maker():
    own = {"image/svg+xml": {"alt": "made"}}
    assert pictured(own) == {"image": {"alt": "made"}}
    assert pictured(own, alt="written") == {"image": {"alt": "written"}}


def test_a_picture_without_words_is_refused():
    with pytest.raises(BookError, match=r"^tiny.md, cell 3 \(draw\(\)\): a picture without words"):
        pictured({})


def test_claims_are_found_by_what_was_printed():
    source = whole(code("1"), code("2", "jax"))
    outputs = {
        "pytorch": {"1": "✓ fast (2, above 1)\n"},
        "jax": {"1": "✓ fast (2, above 1)\n", "2": "x\n✗ slow\n  y\n– both\n  not checked: z\n"},
    }
    notebook = merged(source, outputs, ["pytorch", "jax"])
    ids = {cell["source"]: cell["id"] for cell in notebook["cells"]}
    assert all_claims(notebook, "tiny") == [
        {"section": "tiny", "framework": "pytorch", "cell": ids["1"], "held": True, "sentence": "fast (2, above 1)"},
        {"section": "tiny", "framework": "jax", "cell": ids["1"], "held": True, "sentence": "fast (2, above 1)"},
        {"section": "tiny", "framework": "jax", "cell": ids["2"], "held": False, "sentence": "slow"},
        {"section": "tiny", "framework": "jax", "cell": ids["2"], "held": None, "sentence": "both"},
    ]


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


def test_split_reads_a_source_that_was_changed_since(tmp_path):
    project = Project(tmp_path)
    assert project.split("jax").returncode == 0
    project.section(SECTION.replace("For everyone", "For all"))
    assert project.split("jax").returncode == 0
    assert "For all." in [cell["source"] for cell in project.read("notebooks")["cells"]]
