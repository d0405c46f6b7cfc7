"""A book of one framework passes the tests of its pages too."""

import os
import subprocess
import sys
from pathlib import Path

from tiny_book import RUN, Book, claim, code, notebook, prose

LONG = "\n\n".join(["One and one is two."] * 40)  # more than a window holds
WIDE = "  # as long as a line of the chapter may be, which a narrow window does not hold"
SQUARE = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>'


def cells(ran):
    """Return the cells of a section in JAX, with outputs if it ran."""
    return [
        prose(f"# Adding\n\n![A square.](square.svg)\n\nThe sum is $x + y$.\n\n## Numbers\n\n{LONG}"),
        prose("JAX adds.", "jax"),
        code("1 + 1" + WIDE, "jax", outputs=["2\n"] if ran else []),
        code("d2l.claim('Two is two', True)", "claims", "jax", outputs=[claim("Two is two")] if ran else []),
        prose("## Exercises\n\nWhat is one and one and one?"),
        code("def three(): ..." + WIDE, "exercise"),
        code("d2l.check('three', three)", "exercise", outputs=["– three returns nothing yet\n"] if ran else []),
        prose("Three.", "jax", "solution"),
        code("1 + 1 + 1" + WIDE, "solution", "jax", outputs=["3\n"] if ran else []),
        prose(f"## Further Reading\n\n{LONG}"),
    ]


def test_a_book_of_one_framework_passes_the_tests_of_its_pages(tmp_path):
    pages = {"page": notebook(*cells(ran=True), jax=RUN), "other": notebook(*cells(ran=False))}
    book = Book(tmp_path, pages, {"square.svg": SQUARE})
    html = book.output()
    files = [Path(__file__).with_name(f"test_{name}.py") for name in ("page", "reading", "switch")]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files]
    tests = subprocess.run(command, env=os.environ | {"D2L_HTML": str(html)}, capture_output=True, text=True)
    assert tests.returncode == 0, tests.stdout
