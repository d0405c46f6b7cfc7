"""The first Sphinx pass writes down what each label is called, in the whole book whatever is selected."""

import json
import subprocess
import sys

import pytest
from tiny import HEAD, SVG, Project
from tiny_book import INDEX, notebook, prose, sphinx

from book import FRAMEWORKS

PAGE = """(sec-page)=
# Page

:::{figure} dot.svg
:name: fig-dot
:alt: A dot.

One dot.
:::

(sec-part)=
## A part

$$
x = 1
$$ (eq-one)

{cite:p}`li2014` and {numref}`fig-dot`, {eq}`eq-one`, {ref}`sec-part`.

:::{bibliography}
:filter: docname in docnames
:::
"""
PAGES = {"labelled": notebook(prose(PAGE))}
FILES = {"dot.svg": SVG}


def test_numbers_are_written_where_no_page_has_changed(book):
    for _ in range(2):
        assert book.build("dummy") == (0, "")
        (book.folder / "numbers.json").unlink()


def test_whatever_has_a_label_gets_its_words(book):
    assert book.build("dummy") == (0, "")
    found = json.loads((book.folder / "numbers.json").read_text(encoding="utf-8"))
    number = book.number("labelled")
    labels = {"fig-dot": f"Fig. {number}.1", "eq-one": f"({number}.1)", "sec-page": "Page", "sec-part": "A part"}
    assert found["refs"].items() >= labels.items()
    assert found["cites"] == {"li2014": {"p": "Li et al., 2014", "t": "Li et al. (2014)"}}
    assert found["sections"]["labelled"] == {"number": str(number), "title": "Page"}
    assert found["bibliography"]["li2014"].startswith("Mu Li, David Andersen, and Alex Smola")


SECTION = f"""{HEAD}(sec-NAME)=
# NAME

A sentence with {{numref}}`fig-one`, {{numref}}`fig-two` and {{ref}}`sec-one`.

:::{{figure}} img/sum.svg
:name: fig-NAME
:alt: A sum.

One sum.
:::

```{{code-cell}} ipython3
:tags: [{", ".join(FRAMEWORKS)}]

print("ran")
```
"""


def book(project, *arguments):
    command = [sys.executable, "-m", "book", *arguments, "--frameworks", "jax", "--root", project.root]
    return subprocess.run(command, env=project.environment(), capture_output=True, text=True, timeout=100)


@pytest.fixture(scope="module")
def selected(tmp_path_factory):
    """A project of two sections, of which the second was built on a clean tree."""
    project = Project(tmp_path_factory.mktemp("selected"))
    (project.root / "notebooks" / "tiny.md").unlink()
    project.write("notebooks/index.md", INDEX.replace("page", "one\ntwo"))
    for name in ("one", "two"):
        project.section(SECTION.replace("NAME", name), name)
    done = book(project, "build", "--sections", "two")
    assert done.returncode == 0, done.stderr
    return project


@pytest.mark.slow
def test_a_selection_has_the_numbers_of_the_whole_book(selected):
    text = selected.read("notebooks", slug="two")["cells"][0]["source"]
    assert "**Fig. 2.1** One sum." in text
    assert "\nA sentence with Fig. 1.1, Fig. 2.1 and [one](one.ipynb).\n" in text
    assert selected.printed(slug="two") == ["ran\n"]
    assert not selected.path("executed", slug="one").exists()
    folder = selected.root / "_build"
    settings = {"notebooks": folder / "notebooks", "machine": selected.profile}
    assert sphinx(folder / "book", folder / "html", "html", **settings) == (0, "")
    page, other = ((folder / "html" / f"{name}.html").read_text() for name in ("two", "one"))
    assert "Fig. 2.1" in page
    assert 'href="one.html#sec-one"' in page
    assert "This section was not run in this build" in other
    assert "Fig. 1.1" in other


@pytest.mark.slow
def test_sphinx_numbers_anew_only_when_numbers_can_change(selected):
    numbers = selected.root / "_build" / "numbers.json"
    before, text = numbers.stat().st_mtime_ns, SECTION.replace("NAME", "one")
    selected.section(text.replace("A sentence", "Another sentence"), "one")
    assert book(selected, "notebooks").returncode == 0
    assert numbers.stat().st_mtime_ns == before
    assert "Another sentence" in selected.read("notebooks", slug="one")["cells"][0]["source"]
    selected.section(text.replace("# one", "# The First"), "one")
    assert book(selected, "notebooks").returncode == 0
    assert "[The First](one.ipynb)" in selected.read("notebooks", slug="two")["cells"][0]["source"]


@pytest.mark.slow
def test_a_reference_to_nowhere_stops_the_build_with_sphinxs_words(selected):
    selected.section(SECTION.replace("NAME", "two").replace("`sec-one`", "`sec-none`") + "\n## More\n", "two")
    done = book(selected, "notebooks")
    assert done.returncode == 1
    assert "sec-none" in done.stderr
    assert "error: figures, equations and sections have no numbers: mend what Sphinx says above\n" in done.stderr
    assert "Traceback" not in done.stderr
