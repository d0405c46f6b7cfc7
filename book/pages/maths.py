"""Formulas of the pages as MathML."""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.util.nodes import traverse_parent

from book.formulas import TeXError, mathml

MARK = re.compile("[，。；：、？！）”》]+")
logger = logging.getLogger(__name__)


class CheckFormulas(SphinxTransform):
    """Read each formula once with the page, so that a fault is told with its file and line."""

    default_priority = 700

    def apply(self, **kwargs: Any) -> None:
        for node in self.document.findall(lambda node: isinstance(node, (nodes.math, nodes.math_block))):
            try:
                mathml(node.astext(), isinstance(node, nodes.math_block))
            except TeXError as fault:
                place = next((each for each in traverse_parent(node) if each.line), node)
                logger.error("wrong TeX: %s", fault, location=place)


class KeepMarks(SphinxPostTransform):
    """Keep a full-width mark in the line of the formula before it: browsers break a line behind any formula."""

    default_priority = 900
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        for formula in list(self.document.findall(nodes.math)):
            place = formula.parent.index(formula)
            text = next(iter(formula.parent[place + 1 : place + 2]), None)
            mark = MARK.match(text.astext()) if isinstance(text, nodes.Text) else None
            if text and mark:
                rest = nodes.Text(text.astext()[mark.end() :])
                unbroken = nodes.inline("", "", formula.deepcopy(), nodes.Text(mark[0]), classes=["unbroken"])
                formula.parent[place : place + 2] = [unbroken, rest]


def _markup(node: nodes.Node, display: bool) -> str:
    try:
        return mathml(node.astext(), display)
    except TeXError:  # told by CheckFormulas
        return "<code>?</code>"


def visit_math(writer: Any, node: nodes.Element) -> None:
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


def setup(app: Sphinx) -> None:
    app.add_transform(CheckFormulas)
    app.add_post_transform(KeepMarks)
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displaymath, None))
