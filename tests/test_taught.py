"""What the section on hardware defines in its cells is what d2l_utils measures with."""

import ast
from pathlib import Path

import jupytext
import pytest

ROOT = Path(__file__).parent.parent
KERNELS = (ROOT / "d2l_utils" / "kernels.py").read_text(encoding="utf-8")
TAUGHT = ("triad", "chase", "lay_ring")


def definitions(code):
    """Return pairs of the name of a function and its code, without docstring, comments and how numbers are spelt."""
    found = []
    for function in (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.FunctionDef)):
        if ast.get_docstring(function) is not None:
            function.body = function.body[1:]
        found.append((function.name, ast.dump(function)))
    return found


@pytest.fixture(scope="module")
def section():
    """The definitions in all code cells of the section."""
    cells = jupytext.read(ROOT / "notebooks" / "hardware.md", fmt="md:myst").cells
    return [pair for cell in cells if cell.cell_type == "code" for pair in definitions(cell.source)]


def test_all_kernels_are_taught():
    assert sorted(name for name, _ in definitions(KERNELS)) == sorted(TAUGHT)


@pytest.mark.parametrize("name", TAUGHT)
def test_the_section_defines_a_kernel_once_and_as_the_module_does(section, name):
    assert [code for known, code in section if known == name] == [dict(definitions(KERNELS))[name]]


@pytest.mark.parametrize(
    ("old", "new", "noticed"),
    [
        ("a[i] = b[i] + s * c[i]", "a[i] = b[i] + c[i] * s", True),
        ("nogil=True", "nogil=False", True),
        ("@njit(nogil=True)\ndef chase", "def chase", True),
        ("1_013_904_223", "1_013_904_221", True),
        ("def triad(a, b, c, s)", "def triad(a, b, c, t)", True),
        ("Set a = ", "Let a be ", False),
        ("# no sign", "# without a sign", False),
        ("1_013_904_223", "1013904223", False),
    ],
)
def test_a_change_of_code_is_noticed_and_one_of_words_is_not(old, new, noticed):
    assert old in KERNELS
    assert (definitions(KERNELS.replace(old, new)) != definitions(KERNELS)) is noticed
