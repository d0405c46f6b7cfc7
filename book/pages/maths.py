"""Formulas as MathML, made while the book is built.

KaTeX runs inside V8, in this process: a reader's browser draws MathML itself, so a page needs
no script, no style sheet and no font for its formulas, and wrong TeX stops the build where it stands.
The KaTeX used is the one that the package sphinxcontrib-katex carries.
"""

import functools
import importlib.resources
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from py_mini_racer import MiniRacer
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

logger = logging.getLogger(__name__)
# Strict about TeX, not about characters: µ and … are as good in MathML as in the text around them.
FUNCTION = """
    const strict = (fault) => ['unknownSymbol', 'unicodeTextInMathMode'].includes(fault) ? 'ignore' : 'error';
    function mathml(tex, display) {
        try {
            return [katex.renderToString(tex, {displayMode: display, output: 'mathml', strict}), ''];
        } catch (error) {
            return ['', error.message];
        }
    }"""


class TeXError(ValueError):
    """KaTeX cannot read a formula."""


@functools.cache
def _katex() -> MiniRacer:
    source = importlib.resources.files("sphinxcontrib") / "katex.min.js"
    engine = MiniRacer()
    engine.eval(source.read_text(encoding="utf-8"))
    engine.eval(FUNCTION)
    return engine


@functools.cache
def mathml(tex: str, display: bool = False) -> str:
    """Return the <math> element that shows a formula.

    Parameters
    ----------
    tex : str
        The formula in TeX.
    display : bool
        Whether it stands on a line of its own.

    Raises
    ------
    TeXError
        Where KaTeX finds fault.
    """
    markup, fault = _katex().call("mathml", tex, display)
    if fault:
        raise TeXError(fault.removeprefix("KaTeX parse error: "))
    return markup.removeprefix('<span class="katex">').removesuffix("</span>")


class CheckFormulas(SphinxTransform):
    """Read each formula once with the page, so that a fault is told with its file and line."""

    default_priority = 700

    def apply(self, **kwargs: Any) -> None:
        """Report faults."""
        for node in self.document.findall(lambda node: isinstance(node, (nodes.math, nodes.math_block))):
            try:
                mathml(node.astext(), isinstance(node, nodes.math_block))
            except TeXError as fault:
                place = node if node.line else next((up for up in _ancestors(node) if up.line), node)
                logger.error("wrong TeX: %s", fault, location=place)


def _ancestors(node: nodes.Node) -> Iterator[nodes.Node]:
    while node.parent is not None:
        node = node.parent
        yield node


def _markup(node: nodes.Node, display: bool) -> str:
    try:
        return mathml(node.astext(), display)
    except TeXError:  # told by CheckFormulas
        return "<code>?</code>"


def visit_math(writer: Any, node: nodes.Element) -> None:
    """Write an inline formula."""
    writer.body.append(_markup(node, False))
    raise nodes.SkipNode


def visit_displaymath(writer: Any, node: nodes.Element) -> None:
    """Write a formula that stands on its own line, with its number where it has a label."""
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    if node["number"]:
        writer.body.append(f'<span class="eqno">({get_node_equation_number(writer, node)})')
        writer.add_permalink_ref(node, "Link to this equation")
        writer.body.append("</span>")
    writer.body.append(_markup(node, True) + "</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the transform and the renderer `mathml`."""
    app.add_transform(CheckFormulas)
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displaymath, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
