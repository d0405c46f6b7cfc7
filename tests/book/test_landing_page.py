"""The landing page as a notebook."""

import json

import nbformat
import pytest
from tiny import Project

from book import ROOT
from book.landing_page import landing_cells
from book.sources import toctree

INDEX = """# Book

Read {doc}`tiny` or {doc}`this <other>`.

+++ {"tags": ["html"]}

```{claims}
```

+++

The end.
"""


@pytest.fixture
def project(tmp_path):
    """A project whose landing page has a part for HTML alone."""
    project = Project(tmp_path)
    project.write("notebooks/index.md", INDEX)
    return project


def written(project):
    done = project.here("notebooks", "--frameworks", "jax")
    assert (done.returncode, done.stderr) == (0, "")
    return project.read("notebooks", slug="index")


def test_each_framework_has_the_landing_page_with_links_to_its_notebooks_and_without_what_only_html_shows(project):
    notebook = written(project)
    nbformat.validate(nbformat.from_dict(notebook))
    assert notebook["metadata"]["kernelspec"]["name"] == "d2l-jax"
    first, second, last = ["".join(cell["source"]) for cell in notebook["cells"]]
    assert first == "# Book\n\nRead [Tiny](tiny.ipynb) or [this](other.ipynb)."
    assert second == "The end."
    assert "_build/html/index.html" in last


def test_it_is_written_anew_only_when_the_landing_page_changes(project):
    notebook = written(project)
    notebook["cells"][0]["source"] = "A reader's note."
    project.write(project.path("notebooks", slug="index"), json.dumps(notebook))
    assert written(project)["cells"][0]["source"] == "A reader's note."
    project.write("notebooks/index.md", INDEX.replace("The end", "It ends"))
    assert [cell["source"] for cell in written(project)["cells"]][1] == "It ends."


@pytest.mark.parametrize(
    ("text", "words"),
    [("{doc}`nowhere`", "unknown section 'nowhere'"), ("```{claims}\n```", "unknown directive {claims}")],
)
def test_what_a_notebook_cannot_show_stops_the_build_with_a_line(project, text, words):
    project.write("notebooks/index.md", f"# Book\n\n{text}\n")
    done = project.here("notebooks", "--frameworks", "jax")
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: index.md: {words}")


def test_the_books_own_landing_page_links_to_all_sections_in_their_order():
    text = (ROOT / "notebooks" / "index.md").read_text(encoding="utf-8")
    order = [slug for slug in toctree(text) if not slug.startswith("back/")]
    numbers = {"refs": {}, "cites": {}, "sections": {slug: {"title": slug.upper()} for slug in order}}
    shown = "\n".join(cell["source"] for cell in landing_cells(text, numbers))
    assert [line.split("](")[1].split(".ipynb)")[0] for line in shown.split("\n") if line[:1].isdigit()] == order
    assert "{" not in shown
