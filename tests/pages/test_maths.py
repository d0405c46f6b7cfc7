"""Formulas become MathML while the book is built; wrong TeX stops it."""

import re
import subprocess
import sys

from tiny_book import notebook, prose

from book import ROOT
from book.formulas import mathml

PAGES = {
    "formulas": notebook(
        prose("# Formulas\n\n$$\nx = 1\n$$ (eq-formula)\n\nSee {eq}`eq-formula`.\n\n由 $n$，得 $m$ 和 $k$。")
    )
}


def test_a_formula_becomes_mathml_with_its_tex_for_those_who_copy_it():
    markup = mathml(r"2\cdot n^3")
    annotation = '<annotation encoding="application/x-tex">2\\cdot n^3</annotation>'
    assert re.fullmatch(f"<math [^>]*>.*<msup><mi>n</mi><mn>3</mn></msup>.*{re.escape(annotation)}.*</math>", markup)
    assert 'display="block"' not in markup
    assert 'display="block"' in mathml(r"5\,\text{µs}", display=True)  # and a letter beyond ASCII is welcome


def test_a_program_that_has_made_a_formula_ends():
    code = "from book.formulas import mathml; mathml('x')"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=60)


def test_numbered_formulas_are_linked_by_their_numbers(book):
    page = str(book.article("formulas"))
    assert f"({book.number('formulas')}.1)" in page
    assert 'href="#equation-eq-formula"' in page
    assert "katex" not in page


def test_a_full_width_mark_stays_in_the_line_of_the_formula_before_it(book):
    kept = book.article("formulas").select(".unbroken")
    assert [each.contents[0].name for each in kept] == ["math", "math"]
    assert [each.contents[1] for each in kept] == ["，", "。"]
