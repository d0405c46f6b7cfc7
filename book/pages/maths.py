"""Formulas as MathML, made while the book is built.

KaTeX runs inside QuickJS, in this process: a reader's browser draws MathML itself, so a page needs
no script, no style sheet and no font for its formulas, and wrong TeX stops the build where it stands.
The KaTeX used is the one that the package sphinxcontrib-katex carries.
"""

import functools
import importlib.resources
import json

import quickjs
from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

logger = logging.getLogger(__name__)


class TeXError(ValueError):
    """KaTeX cannot read a formula."""


@functools.cache
def _katex():
    source = importlib.resources.files("sphinxcontrib") / "katex.min.js"
    context = quickjs.Context()
    context.eval(source.read_text(encoding="utf-8"))
    # Strict about TeX, not about characters: µ and … are as good in MathML as in the text around them.
    context.eval("""
        const strict = (fault) => ['unknownSymbol', 'unicodeTextInMathMode'].includes(fault) ? 'ignore' : 'error';
        function mathml(tex, display) {
            try {
                return [katex.renderToString(tex, {displayMode: display, output: 'mathml', strict}), ''];
            } catch (error) {
                return ['', error.message];
            }
        }""")
    return context.get("mathml")


@functools.cache
def mathml(tex, display=False):
    """Return the <math> element that shows `tex`; raise TeXError where KaTeX finds fault."""
    markup, fault = json.loads(_katex()(tex, display).json())
    if fault:
        raise TeXError(fault.removeprefix("KaTeX parse error: "))
    return markup.removeprefix('<span class="katex">').removesuffix("</span>")


class CheckFormulas(SphinxTransform):
    """Read each formula once with the page, so that a fault is told with its file and line."""

    default_priority = 700

    def apply(self):
        for node in self.document.findall(lambda node: isinstance(node, (nodes.math, nodes.math_block))):
            try:
                mathml(node.astext(), isinstance(node, nodes.math_block))
            except TeXError as fault:
                place = node if node.line else next((up for up in _ancestors(node) if up.line), node)
                logger.error("wrong TeX: %s", fault, location=place)


def _ancestors(node):
    while node.parent is not None:
        node = node.parent
        yield node


def _markup(node, display):
    try:
        return mathml(node.astext(), display)
    except TeXError:  # told by CheckFormulas
        return "<code>?</code>"


def visit_math(writer, node):
    """Write an inline formula."""
    writer.body.append(_markup(node, False))
    raise nodes.SkipNode


def visit_displaymath(writer, node):
    """Write a formula that stands on its own line, with its number where it has a label."""
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    if node["number"]:
        writer.body.append(f'<span class="eqno">({get_node_equation_number(writer, node)})')
        writer.add_permalink_ref(node, "Link to this equation")
        writer.body.append("</span>")
    writer.body.append(_markup(node, True) + "</div>\n")
    raise nodes.SkipNode


def setup(app):
    """Register the transform and the renderer `mathml`."""
    app.add_transform(CheckFormulas)
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displaymath, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
