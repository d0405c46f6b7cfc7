"""The headings of readers' notebooks."""

from tiny import NUMBERS, Project
from tiny_book import code, notebook, prose

from book.cells import Entry
from book.headings import FOLDED, folded, marked, numbered
from book.paths import Row

SECTION = "# Loading\n\nText.\n\n## One\n\n### Within\n\n```sh\n# a comment\n```\n\n> # Quoted"


def test_they_have_the_numbers_of_the_page():
    cells = [prose(SECTION), code("# code"), prose("### Again\n\n## Two\n\n### Deeper")]
    found = "\n".join(cell["source"] for cell in numbered(notebook(*cells), "4")["cells"])
    lines = [line for line in found.split("\n") if "# " in line]
    assert lines[:3] == ["# 4. Loading", "## 4.1. One", "### 4.1.1. Within"]
    assert lines[3:6] == ["# a comment", "> # Quoted", "# code"]
    assert lines[6:] == ["### 4.1.2. Again", "## 4.2. Two", "### 4.2.1. Deeper"]


def test_the_code_of_a_solution_is_folded_up_to_the_next_exercise():
    solved = [code("d2l.check(f)", "exercise"), prose("Secret."), code("1", "solution"), code("2", "solution")]
    given = notebook(prose("## Exercises\n\n1. How?"), *solved, prose("2. Why?"), *solved, prose("## Further Reading"))
    cells = folded(given)["cells"]
    assert [(cell["source"].split("\n")[0], cell["metadata"]) for cell in cells if cell["source"][:7] == "###### "] == [
        ("###### Code of the solution", FOLDED),
        ("###### Exercise 2", {}),
        ("###### Code of the solution", FOLDED),
    ]
    assert [cell["source"].split("\n")[-1] for cell in cells] == [
        "1. How?",
        *(own := ["d2l.check(f)", "Secret.", "###### Code of the solution", "1", "2"]),
        "2. Why?",
        *own,
        "## Further Reading",
    ]
    assert len({cell["id"] for cell in cells}) == len(cells)


def test_a_section_that_the_landing_page_names_has_its_number_in_its_notebooks(tmp_path, monkeypatch):
    monkeypatch.setitem(NUMBERS["sections"], "tiny", {"number": "3", "title": "Tiny"})
    project = Project(tmp_path)
    for stage in ("notebooks", "handouts"):
        project.make(stage)
        assert project.read(stage)["cells"][0]["source"].startswith("# 3. Tiny\n")


def test_the_parts_of_a_path_bear_a_mark_and_end_with_a_link_to_the_next():
    laptop = [Row("tiny", ["One", "Within"], 5), Row("other", ["Far"], 5)]
    cells = [prose("# Tiny\n\n## One\n\nText.\n\n## Two\n\n### Within"), code("1"), prose("### Again")]
    given = notebook(*[cell | {"id": "p"} for cell in cells])
    found = [cell["source"] for cell in marked(given, "tiny", {"laptop": laptop, "gpu": [laptop[1]]})["cells"]]
    assert [line for line in found[0].split("\n") if line] == [
        "# Tiny",
        "## One",
        "*on the laptop path*",
        "Text.",
        "*Next on the laptop path: Within*",
        "## Two",
        "### Within",
        "*on the laptop path*",
    ]
    assert found[1:] == ["1", "*Next on the laptop path: [Far](other.ipynb)*", "### Again"]
    assert marked(given, "else", {"laptop": laptop}) is given


def test_a_part_says_what_it_uses_of_what_its_path_skips():
    cells = [prose("# Tiny\n\n## One"), code("two = 2"), prose("## Two"), code("print(two)")]
    entries = [Entry(str(i), "", cell["cell_type"], cell["source"], "jax", (), None) for i, cell in enumerate(cells)]
    given = notebook(*[cell | {"id": "p"} for cell in cells])
    found = marked(given, "tiny", {"laptop": [Row("tiny", ["Two"], 5)]}, entries)["cells"]
    said = "Its cells use names from parts that the path skips: `two` (One)"
    assert found[2]["source"].split("\n\n") == ["## Two", "*on the laptop path*", said]


def test_a_notebook_ends_with_the_last_link_of_a_path():
    given = notebook(prose("# Other\n\n## Far\n\n```sh\n# no heading\n```") | {"id": "p"})
    found = marked(given, "other", {"gpu": [Row("other", ["Far"], 5)]})["cells"]
    assert found[-1]["source"] == "*Here the GPU path ends.*"
    assert "no heading\n```" in found[0]["source"]
