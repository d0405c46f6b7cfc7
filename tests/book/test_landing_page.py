"""The landing page as a notebook."""

import nbformat
import pytest
from tiny import Project

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
    project = Project(tmp_path)
    project.write("notebooks/index.md", INDEX)
    return project


def written(project):
    done = project.here("notebooks", "--frameworks", "jax")
    assert (done.returncode, done.stderr) == (0, "")
    return project.read("notebooks", slug="index")


def test_each_framework_has_the_landing_page_with_links_to_its_notebooks(project):
    notebook = written(project)
    nbformat.validate(nbformat.from_dict(notebook))
    assert notebook["metadata"]["kernelspec"]["name"] == "d2l-jax"
    first, second, last = ["".join(cell["source"]) for cell in notebook["cells"]]
    assert first == "# Book\n\nRead [Tiny](tiny.ipynb) or [this](other.ipynb)."
    assert second == "The end."
    assert "_build/html/index.html" in last


@pytest.mark.parametrize(
    ("text", "words"),
    [("{doc}`nowhere`", "unknown section 'nowhere'"), ("```{claims}\n```", "unknown directive {claims}")],
)
def test_what_a_notebook_cannot_show_stops_the_build_with_a_line(project, text, words):
    project.write("notebooks/index.md", f"# Book\n\n{text}\n")
    done = project.here("notebooks", "--frameworks", "jax")
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: index.md: {words}")
