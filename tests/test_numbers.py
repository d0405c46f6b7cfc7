"""The first Sphinx pass writes down what each label is called."""

import json

from tiny_book import build, prose

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
WORK = """@article{li2014,
  author={Li, Mu and Andersen, David and Smola, Alex}, title={Servers}, journal={OSDI}, year={2014}}
"""
DOT = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'


def numbers(folder):
    """Return what a pass over PAGE wrote."""
    files = {"references.bib": WORK, "dot.svg": DOT}
    status, warnings, _ = build(folder, prose(PAGE), builder="dummy", files=files)
    assert (status, warnings) == (0, "")
    return json.loads((folder / "numbers.json").read_text(encoding="utf-8"))


def test_labels_citations_and_sections_get_their_words(tmp_path):
    found = numbers(tmp_path)
    assert found["refs"] == {"fig-dot": "Fig. 1.1", "eq-one": "(1.1)", "sec-page": "Page", "sec-part": "A part"}
    assert found["cites"] == {"li2014": {"p": "Li et al., 2014", "t": "Li et al. (2014)"}}
    assert found["sections"] == {"page": {"number": "1", "title": "Page"}}
    assert found["bibliography"]["li2014"].startswith("Mu Li, David Andersen, and Alex Smola")


def test_a_second_pass_leaves_the_file_alone(tmp_path):
    numbers(tmp_path)
    before = (tmp_path / "numbers.json").stat().st_mtime_ns
    numbers(tmp_path)
    assert (tmp_path / "numbers.json").stat().st_mtime_ns == before
