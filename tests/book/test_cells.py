"""Sources, readers' notebooks and the merged notebook, without running anything.

`golden` holds one section with all that a section may have, the numbers of its book, and long tables.
"""

import tomllib
from base64 import b64encode

import jupytext
import nbformat
import pytest
from jupytext.config import load_jupytext_configuration_file
from tiny import GOLDEN, HEAD, NUMBERS, SECTION, SVG, Project
from tiny_book import said, shown

from book import FRAMEWORKS, ROOT, BookError
from book.cells import expand, lint, of, only_claims, split
from book.layout import Edition
from book.merge import all_records, merge
from book.myst import PlainError, outline
from book.outputs import clean, unrepeated
from book.plain_markdown import convert
from book.run_keys import run_key
from book.sources import slugs
from d2l_lab.instruments.claims import MIME

PAIR = ["pytorch", "jax"]  # the frameworks of the merged notebook
TABLES = tomllib.loads((GOLDEN / "tables.toml").read_text(encoding="utf-8"))
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


def reader(source, framework="jax", images=IMAGES):
    return split(expand(source), [framework], NUMBERS, images, "tiny.md")[framework]


def claimed(sentence, held):
    return shown(
        {MIME: {"sentence": sentence, "held": held, "figure": "2", "above": "1", "note": ""}, "text/plain": "?"}
    )


def merged(source, outputs, frameworks=PAIR, record=None):
    """Merge runs: `outputs` maps a framework that has run to the outputs that its code has."""
    executed = {}
    for framework, own in outputs.items():
        notebook = executed[framework] = reader(source, framework)
        for cell in notebook["cells"]:
            cell["outputs"] = own.get(cell["source"], [])
        notebook["metadata"]["d2l"] = {"seconds": 1, "date": "2026-01-01", "machine": {}, "versions": {}}
    return merge(expand(source), frameworks, executed, "tiny.md", record)


def test_the_golden_section_becomes_both_kinds_of_notebook():
    source, outputs = read(SECTION), {}
    codes = {cell["source"].split("\n")[-1]: cell["source"] for cell in source.cells if cell.cell_type == "code"}
    for number, (framework, word, held) in enumerate((("pytorch", "torch", True), ("jax", "jax", None)), 1):
        two = {"output_type": "execute_result", "metadata": {}, "data": {"text/plain": "2"}, "execution_count": number}
        outputs[framework] = {
            codes["print('one for all')"]: [said("one for all\n")],
            codes["print('– a list item')"]: [said(f"word: {word}\n✓ a tick\n– a list item\n")],
            codes["d2l.claim('a word is long', len(word), above=3)"]: [claimed("a word is long", held)],
            "d2l.claim('one is positive', 1, above=0)": [claimed("one is positive", True)],
            "1 + 1": [two],
            "word": [two | {"data": {"text/plain": repr(word)}}],
        }
    (draws,) = [code for code in codes.values() if code.startswith("from IPython.display")]
    outputs["jax"][draws] = [shown({"image/svg+xml": SVG}, **{"image/svg+xml": {"alt": "made"}})]
    own, both = reader(source), merged(source, outputs)
    assert list(summarised(own)) == TABLES["reader"]
    assert list(summarised(both)) == TABLES["merged"]
    assert not any(cell.get("execution_count") for cell in both["cells"])
    assert {cell["id"] for cell in own["cells"]} < {cell["id"] for cell in both["cells"]}


def summarised(notebook):
    """Return a line for each cell: its tags, the last line of its code or the first of its prose, and its outputs."""
    nbformat.validate(nbformat.from_dict(notebook))
    for cell in notebook["cells"]:
        lines = cell["source"].split("\n")
        hidden = ["hidden"] if cell["metadata"].get("jupyter") == {"source_hidden": True} else []
        tags = [*cell["metadata"].get("tags", []), *hidden]
        found = [next(iter(output.get("data", {})), output.get("text")) for output in cell.get("outputs", [])]
        yield [" ".join(tags), lines[-1] if cell["cell_type"] == "code" else lines[0], *found]


# The rules of a source


@pytest.mark.parametrize(
    ("cells", "problems"),
    [
        ([code("1", "jxa")], ["cell 3 (1): unknown tag 'jxa'; known: pytorch "]),
        ([code("1", colour="red")], ["cell 3 (1): unknown metadata 'colour'; known: tags alt"]),
        (['+++ {"tags": ["drawing"]}\n\nText.'], ["cell 3 (Text.): tag 'drawing' is for code cells"]),
        ([code("1", "all")], ["cell 3 (1): tag 'all' is for prose, and stands alone"]),
        (['+++ {"tags": ["jax"]}\n\nA.\n\n## B'], ["cell 3 (A.): a heading stands in a cell tagged jax"]),
        ([code("1", "one"), code("2", "two")], ["cell 3 (1): unknown tag 'one'", "cell 4 (2): unknown tag 'two'"]),
    ],
)
def test_every_breach_of_the_rules_is_told_with_its_cell(cells, problems):
    with pytest.raises(BookError) as error:
        lint(whole(*cells), "tiny.md")
    for line, problem in zip(str(error.value).split("\n"), problems, strict=True):
        assert line.startswith(f"tiny.md, {problem}")


@pytest.mark.parametrize("tag", ["", ' {"tags": ["all"]}', ' {"tags": ["jax"]}'])
def test_untagged_prose_between_two_cells_of_one_framework_is_refused_unless_it_is_meant_for_all(tag):
    source = whole(code("1", "jax"), f"+++{tag}\n\nText.\n\n+++\n", code("2", "jax"))
    if tag:
        lint(source, "tiny.md")
        return
    with pytest.raises(BookError, match=r"cell 4 \(Text\.\): untagged prose between two cells of jax"):
        lint(source, "tiny.md")


def test_untagged_prose_before_a_cell_of_others_is_everybodys():
    lint(whole(code("1", "jax"), "Text.\n", code("2", "pytorch", "jax"), "More.\n", code("3")), "tiny.md")


def test_a_section_without_a_cell_of_some_framework_is_refused():
    *others, last = FRAMEWORKS
    with pytest.raises(BookError, match=f"^tiny.md: no cell of {last}$"):
        lint(read(HEAD + code("1", *others)), "tiny.md")


def test_a_changed_cell_changes_no_other_id():
    cells = [code("1"), code("1"), code("1", "jax"), code("1", "jax", "pytorch"), code("2", "jax"), code("3")]
    before = [entry.id for entry in expand(whole(*cells))]
    assert len(set(before)) == len(before)
    cells[4] = code("20", "jax")
    after = [entry.id for entry in expand(whole(*cells))]
    assert [a == b for a, b in zip(before, after, strict=True)] == [True] * (len(before) - 2) + [False, True]


@pytest.mark.parametrize(("source", "only"), TABLES["claims"])
def test_a_cell_of_nothing_but_claims_is_known(source, only):
    assert only_claims(source) is only


# Plain Markdown


@pytest.mark.parametrize(
    ("source", "images", "problem"),
    [
        (SECTION, {}, r"^tiny.md, cell 1 \(# Tiny\): picture img/sum.svg is missing"),
        (f"{HEAD}See\n{{abbr}}`x`.", IMAGES, r"^tiny.md, cell 1 \(See\): unknown role {abbr}`x`; known: numref"),
    ],
)
def test_what_no_reader_could_see_is_named_with_its_cell(source, images, problem):
    with pytest.raises(BookError, match=problem):
        reader(read(source), images=images)


@pytest.mark.parametrize(("source", "plain"), TABLES["converted"])
def test_what_a_notebook_can_say_is_said_in_plain_markdown(source, plain):
    assert convert(source, NUMBERS).text == plain


@pytest.mark.parametrize("plain", [plain for _, plain in TABLES["converted"] if ".ipynb" not in plain])
def test_plain_markdown_stays_as_it_is(plain):
    assert convert(plain, NUMBERS).text == plain


def test_the_pictures_of_a_cell_lie_in_it():
    first = reader(read(SECTION))["cells"][0]
    assert first["source"].endswith(f"\n\n[img/sum.svg]: data:image/svg+xml;base64,{b64encode(SVG.encode()).decode()}")


def test_the_works_that_are_cited_end_the_notebook():
    last = reader(read(SECTION))["cells"][-1]
    assert last["source"] == "## References\n\n* Lovelace. *Notes*. 1843.\n* Boole. *Laws*. 1854."


@pytest.mark.parametrize(("source", "problem"), TABLES["refused"])
def test_what_is_left_over_is_an_error_in_plain_words(source, problem):
    with pytest.raises(PlainError) as error:
        convert(source, NUMBERS)
    assert problem in str(error.value)


# Keys and outputs


@pytest.mark.parametrize(
    ("change", "same"),
    [
        (("For everyone", "For all"), True),
        (("'torch'", "'pytorch'"), True),
        (("word = 'jax'", "word = 'flax'"), False),
        (("[raises-exception]", "[remove-stderr]"), False),
    ],
)
def test_only_what_a_framework_runs_is_in_its_key(change, same):
    assert change[0] in SECTION
    before, after = (of(expand(read(text)), "jax") for text in (SECTION, SECTION.replace(*change)))
    assert (run_key(before, "jax", {}, {}) == run_key(after, "jax", {}, {})) == same


@pytest.mark.parametrize(("old", "new", "same"), TABLES["changes"])
def test_only_what_numbers_depend_on_is_in_the_outline(old, new, same):
    assert old in SECTION
    before, after = (
        [outline(cell["source"]) for cell in read(text).cells if cell.cell_type == "markdown"]
        for text in (SECTION, SECTION.replace(old, new))
    )
    assert (before == after) == same


def test_outputs_lose_what_only_this_machine_can_show():
    widget = shown({"text/plain": "Box", "application/vnd.jupyter.widget-view+json": {}})
    warning = "/tmp/ipykernel_12/345.py:1: Warning\n/tmp/d2l-x/a /home/me/b /home/men /home/me/env/c\n"
    outputs = [said("a"), said(warning, "stderr"), widget | {"transient": {"display_id": "1"}}]
    assert clean(outputs, {"/tmp/d2l-x": ".", "/home/me": "~", "/home/me/env": "<environment>"}) == [
        said("a"),
        said("cell.py:1: Warning\n./a ~/b /home/men <environment>/c\n", "stderr"),
        shown({"text/plain": "Box"}),
    ]


def test_what_a_cell_has_taken_away_again_is_on_no_page():
    kept = [said("b = 3\n"), shown({"text/plain": "chain: predicted 2.00 s"}), shown({"text/html": "<p>"})]
    assert unrepeated([shown({"text/plain": ""}), *kept]) == kept


# The merged notebook


def test_a_page_says_under_its_title_what_was_not_run():
    source, line = whole(code("1")), "This section was not run{} in this build: `make book` runs it."
    nothing = merged(source, {}, list(FRAMEWORKS))
    assert nothing["cells"][0]["source"].split("\n")[:3] == ["# Tiny", "", line.format("")]
    nbformat.validate(nbformat.from_dict(nothing))
    part = merged(source, {"jax": {"1": [said("same\n")]}})
    assert part["cells"][0]["source"].split("\n")[2] == line.format(" in PyTorch")
    assert list(part["metadata"]["d2l"]["frameworks"]) == ["jax"]
    found = [(cell["metadata"].get("tags", []), cell["outputs"]) for cell in part["cells"] if cell["source"] == "1"]
    assert found == [([], []), (["jax", "remove-input"], [said("same\n")])]


def test_what_is_kept_off_the_page_stays_off_where_the_frameworks_show_different_outputs():
    outputs = {framework: {"1": [said(framework)]} for framework in PAIR}
    found = merged(whole(code("1", "remove-stderr, solution")), outputs)
    own = [cell["metadata"]["tags"] for cell in found["cells"] if cell["source"] == "1" and cell["outputs"]]
    assert own == [[framework, "remove-input", "remove-stderr", "solution"] for framework in PAIR]


def test_the_words_of_a_picture_come_from_its_maker_where_its_cell_has_none():
    source, picture = whole(code("draw()", "jax")), {"image/svg+xml": SVG}
    outputs = {"jax": {"draw()": [shown(picture, **{"image/svg+xml": {"alt": "made"}})]}}
    assert merged(source, outputs, ["jax"])["cells"][-1]["metadata"]["mystnb"] == {"image": {"alt": "made"}}
    with pytest.raises(BookError, match=r"^tiny.md, cell 3 \(draw\(\)\): a picture without words"):
        merged(source, {"jax": {"draw()": [shown(picture)]}}, ["jax"])


def test_a_claim_that_all_show_alike_counts_for_each_framework():
    outputs = {name: {"fast": [claimed("fast", True)], "good": [claimed("good", name == "jax")]} for name in PAIR}
    notebook = merged(whole(code("fast"), code("good")), outputs)
    sources = {cell["id"]: cell["source"] for cell in notebook["cells"]}
    found = all_records(notebook, "tiny", MIME)
    assert [(claim["framework"], claim["sentence"], claim["held"], sources[claim["cell"]]) for claim in found] == [
        (name, word, word == "fast" or name == "jax", word) for name in PAIR for word in ("fast", "good")
    ]


# Sources and readers' notebooks on disk


@pytest.mark.parametrize("slug", ["", *slugs(Edition(ROOT))])
def test_a_save_in_jupyterlab_leaves_a_source_as_it_is(slug):
    text = (ROOT / "notebooks" / f"{slug}.md").read_text(encoding="utf-8") if slug else SECTION
    settings = load_jupytext_configuration_file(str(ROOT / "jupytext.toml"))
    notebook = read(text)
    notebook.metadata["language_info"] = {"name": "python", "pygments_lexer": "ipython3", "file_extension": ".py"}
    for cell in notebook.cells:
        cell.metadata["trusted"] = True
    assert jupytext.writes(notebook, fmt="md:myst", config=settings) == text


def test_sections_stand_in_the_order_of_the_table_of_contents_wherever_else_their_names_stand(tmp_path):
    (tmp_path / "notebooks").mkdir()
    for slug in ("hardware", "loops", "zeros"):
        (tmp_path / "notebooks" / f"{slug}.md").touch()
    trees = "```{toctree}\n:maxdepth: 2\n\nZero <zeros>\nloops\n```\n\n:::{toctree}\nhardware\n:::\n"
    (tmp_path / "notebooks" / "index.md").write_text(f"What hardware loops do.\n\n{trees}")
    assert slugs(Edition(tmp_path)) == ["zeros", "loops", "hardware"]


def test_only_the_section_whose_source_or_picture_changed_is_split_again(tmp_path):
    project = Project(tmp_path)
    project.code("1", slug="other")

    def split_again():
        notebooks = tmp_path / "_build" / "notebooks" / "jax"
        before = {path: path.stat().st_mtime_ns for path in notebooks.glob("*")}
        project.make("notebooks")
        return sorted(path.stem for path in notebooks.glob("*") if path.stat().st_mtime_ns != before.get(path))

    assert split_again() == ["index", "other", "tiny"]
    assert split_again() == []
    project.section(SECTION.replace("For everyone", "For all"))
    assert split_again() == ["tiny"]
    assert any(cell["source"].startswith("For all.") for cell in project.read("notebooks")["cells"])
    project.write("notebooks/img/sum.svg", SVG.replace("1", "2"))
    assert split_again() == ["tiny"]
    project.write("notebooks/index.md", "# Another index\n")
    assert split_again() == ["index"]
    project.path("notebooks", slug="other").unlink()
    split_again()
    assert project.path("notebooks", slug="other").exists()
