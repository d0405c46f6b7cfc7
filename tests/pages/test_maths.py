"""Formulas become MathML while the book is built; wrong TeX stops it."""

import pytest
from tiny_book import notebook, prose

from book.pages.maths import TeXError, mathml

PAGES = {"formulas": notebook(prose("# Formulas\n\n$$\nx = 1\n$$ (eq-formula)\n\nSee {eq}`eq-formula`."))}
FAULTS = {
    "wrong-tex-inline": (notebook(prose("# Page\n\nGood.\n\n$\\nosuchcommand$\n")), ["wrong TeX"]),
    "wrong-tex-displayed": (notebook(prose("# Page\n\nGood.\n\n$$\n\\frac{1}{\n$$\n")), ["wrong TeX"]),
}


def test_a_formula_becomes_mathml_with_its_tex_for_those_who_copy_it():
    markup = mathml(r"2\cdot n^3")
    assert (markup.startswith("<math"), markup.endswith("</math>")) == (True, True)
    assert "<msup><mi>n</mi><mn>3</mn></msup>" in markup
    assert '<annotation encoding="application/x-tex">2\\cdot n^3</annotation>' in markup
    assert 'display="block"' not in markup
    assert 'display="block"' in mathml(r"\sum_{i=1}^N t_i", display=True)


def test_characters_beyond_ascii_are_welcome():
    assert "µs" in mathml(r"t_1 = 5\,\text{µs}")


@pytest.mark.parametrize("tex", [r"\frac{1}{", r"\nosuchcommand", r"x_1_2", r"\begin{aligned} x"])
def test_wrong_tex_is_an_error(tex):
    with pytest.raises(TeXError):
        mathml(tex)


@pytest.mark.parametrize("fault", FAULTS)
def test_wrong_tex_stops_the_build_and_names_its_place(complaint, fault):
    complaint(fault)


def test_numbered_formulas_are_numbered_by_section_and_linked(book):
    page = str(book.article("formulas"))
    assert f"({book.number('formulas')}.1)" in page
    assert 'href="#equation-eq-formula"' in page
    assert "katex" not in page
