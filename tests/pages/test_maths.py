"""Formulas become MathML while the book is built; wrong TeX stops it."""

import pytest
from tiny_book import build, prose

from book.pages.maths import TeXError, mathml


def test_a_formula_becomes_mathml_and_nothing_else():
    markup = mathml(r"n^3")
    assert markup.startswith("<math")
    assert markup.endswith("</math>")
    assert "<msup><mi>n</mi><mn>3</mn></msup>" in markup


def test_a_displayed_formula_is_a_block():
    assert 'display="block"' in mathml(r"\sum_{i=1}^N t_i", display=True)
    assert 'display="block"' not in mathml(r"\sum_{i=1}^N t_i")


def test_the_tex_goes_with_the_formula_for_those_who_copy_it():
    assert '<annotation encoding="application/x-tex">2\\cdot x</annotation>' in mathml(r"2\cdot x")


def test_characters_beyond_ascii_are_welcome():
    assert "µs" in mathml(r"t_1 = 5\,\text{µs}")


@pytest.mark.parametrize("tex", [r"\frac{1}{", r"\nosuchcommand", r"x_1_2", r"\begin{aligned} x"])
def test_wrong_tex_is_an_error(tex):
    with pytest.raises(TeXError):
        mathml(tex)


@pytest.mark.parametrize("formula", [r"$\nosuchcommand$", "$$\n\\frac{1}{\n$$"])
def test_wrong_tex_stops_the_build_and_names_its_place(tmp_path, formula):
    status, warnings, _ = build(tmp_path, prose(f"# Page\n\nGood.\n\n{formula}\n"), builder="dummy")
    assert status != 0
    assert "page.ipynb:" in warnings
    assert "wrong TeX" in warnings


def test_numbered_formulas_are_numbered_by_section_and_linked(tmp_path):
    status, warnings, output = build(tmp_path, prose("# Page\n\n$$\nx = 1\n$$ (eq-one)\n\nSee {eq}`eq-one`."))
    assert (status, warnings) == (0, "")
    page = (output / "page.html").read_text(encoding="utf-8")
    assert "(1.1)" in page
    assert 'href="#equation-eq-one"' in page
    assert "katex" not in page
