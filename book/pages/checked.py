"""Claims on a page: a line each, and the code of a cell of nothing but claims one click away.

A claim comes as data, in an output of the MIME type that d2l_utils/claims.py names.
"""

from docutils import nodes
from myst_nb.core.render import load_mime_renders
from sphinx.transforms import SphinxTransform

from book.pages.folds import fold
from book.pages.tabs import results_after
from d2l_utils.claims import MARKS, MIME, Claim

WORDS = {True: "held", False: "missed", None: "not checked"}


class mark(nodes.inline):
    """The sign of a claim, which a screen reader says in a word; builders other than HTML see inline text."""


def visit_mark(writer, node):
    """Open the mark."""
    writer.body.append(writer.starttag(node, "span", "", role="img", **{"aria-label": node["word"]}))


def depart_mark(writer, node):
    """Close the mark."""
    writer.body.append("</span>")


def marked(held):
    """Return the mark of a claim."""
    word = WORDS[held]
    return mark("", MARKS[held], word=word, classes=["mark", word.replace(" ", "-")])


def claim_line(claim):
    """Return the line of a Claim: mark, sentence, figures, and a note on a line of its own."""
    sentence = nodes.paragraph("", "", marked(claim.held), nodes.Text(f" {claim.sentence}"))
    if claim.evidence:
        sentence += [nodes.Text(" "), nodes.inline("", f"({claim.evidence})", classes=["evidence"])]
    lines = [sentence, nodes.paragraph("", claim.note)] if claim.note else [sentence]
    return nodes.container("", *lines, classes=["claim"])


class ClaimRenderer:
    """A renderer of MyST-NB for outputs that are claims."""

    mime_priority_overrides = [("*", MIME, 1)]

    @staticmethod
    def handle_mime(renderer, data, inline):
        """Return the nodes of an output, or None if it is no claim."""
        return [claim_line(Claim(**data.content))] if data.mime_type == MIME else None


class FoldChecks(SphinxTransform):
    """Show the claims of a cell that holds nothing else, and fold its code."""

    default_priority = 194  # before solutions and tabs are gathered, while what a cell gave still follows it

    def apply(self):
        for cell in list(self.document.findall(nodes.container)):
            if "tag_claims" not in cell["classes"]:
                continue
            code = [part for part in cell if part["nb_element"] == "cell_code_source"]
            results = results_after(cell)
            if not code or (len(cell) == len(code) and not results):
                continue  # what a cell gave, or one that did not run: its code is all there is
            for part in [*results, *code]:
                part.parent.remove(part)
            cell.extend([*results, fold("how it is checked", code, classes=["how"])])


def setup(app):
    """Register all of it; MyST-NB looks for renderers in the packages installed, and keeps the list it made."""
    if ClaimRenderer not in load_mime_renders():
        load_mime_renders().append(ClaimRenderer)
    app.add_node(mark, html=(visit_mark, depart_mark))
    app.add_transform(FoldChecks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
