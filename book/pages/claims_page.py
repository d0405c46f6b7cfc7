"""Claims on the pages: a line each where they are checked, and a list of all on the landing page.

A claim comes as data, in an output of the MIME type that d2l_utils/claims.py names.

```{claims}
```

says how many claims held when this copy was built, each linked to its cell. It reads claims.json beside the pages:
a list of {section, framework, cell, held, sentence}, where held is null for a claim that was not checked.
"""

import json
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_nb.core.render import load_mime_renders
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from book import FRAMEWORKS
from book.pages.edition import EDITION, WHOLE, tag
from book.pages.solutions import fold
from d2l_utils.claims import MARKS, MIME, Claim

WORDS = {True: "held", False: "missed", None: "not checked"}


class mark(nodes.inline):
    """The sign of a claim, which a screen reader says in a word; builders other than HTML see inline text."""


def visit_mark(writer: Any, node: mark) -> None:
    """Open the mark."""
    writer.body.append(writer.starttag(node, "span", "", role="img", **{"aria-label": node["word"]}))


def depart_mark(writer: Any, node: mark) -> None:
    """Close the mark."""
    writer.body.append("</span>")


def marked(held: bool | None) -> mark:
    """Return the mark of a claim."""
    word = WORDS[held]
    return mark("", MARKS[held], word=word, classes=["mark", word.replace(" ", "-")])


def claim_line(claim: Claim) -> nodes.container:
    """Return the line of a claim: mark, sentence, figures, and a note on a line of its own."""
    sentence = nodes.paragraph("", "", marked(claim.held), nodes.Text(f" {claim.sentence}"))
    if claim.evidence:
        sentence += [nodes.Text(" "), nodes.inline("", f"({claim.evidence})", classes=["evidence"])]
    lines = [sentence, nodes.paragraph("", claim.note)] if claim.note else [sentence]
    return nodes.container("", *lines, classes=["claim"])


class ClaimRenderer:
    """A renderer of MyST-NB for outputs that are claims."""

    mime_priority_overrides = [("*", MIME, 1)]

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[nodes.Node] | None:
        """Return the nodes of an output, or None if it is no claim."""
        return [claim_line(Claim(**data.content))] if data.mime_type == MIME else None


class Claims(SphinxDirective):
    """How many claims of the text the building machine confirmed."""

    def run(self) -> list[nodes.Node]:
        """Return a sentence and a fold: for each section and framework its claims, open where one missed."""
        path = Path(self.env.srcdir) / "claims.json"
        self.env.note_dependency(path)
        claims = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
        if not claims:
            return self.parse_text_to_nodes("This copy holds no record of claims: no notebook ran for it.")
        found: list[nodes.Node] = []
        for page, group in groupby(claims, key=lambda claim: claim["section"]):
            found += self.parse_text_to_nodes(f"{{doc}}`{page}`")
            section = list(group)
            for framework in FRAMEWORKS:
                ours = [claim for claim in section if claim["framework"] == framework]
                if ours:
                    found.append(claim_fold(framework, ours))
        whole = [*self.parse_text_to_nodes(count(claims)), fold("All claims, section by section", found)]
        for node in whole:
            node["classes"].append(WHOLE)
        return [*whole, *self.counts(claims)]

    def counts(self, claims: Sequence[dict[str, Any]]) -> list[Any]:
        """Return what the edition for each framework says in place of the list."""
        found = []
        for framework in FRAMEWORKS:
            ours = [claim for claim in claims if claim["framework"] == framework]
            (sentence,) = self.parse_text_to_nodes(count(ours))
            sentence["classes"] += [EDITION, tag(framework)]
            found.append(sentence)
        return found


def count(claims: Sequence[dict[str, Any]]) -> str:
    """Return how many claims held, in a sentence of MyST."""
    states = [claim["held"] for claim in claims]
    unchecked = states.count(None)
    rest = f" {unchecked} could not be checked; the cells say why." if unchecked else ""
    return f"**{states.count(True)} of {len(claims)} claims held** when this copy was built.{rest}"


def claim_fold(framework: str, claims: Sequence[dict[str, Any]]) -> nodes.Element:
    """Return the fold that lists the claims of one section and framework."""
    listed = nodes.bullet_list(classes=["claims"])
    held = [claim["held"] for claim in claims].count(True)
    for claim in claims:
        address = f"{claim['section']}.html?tab={framework}#{claim['cell']}"
        link = nodes.reference("", claim["sentence"], refuri=address, internal=True)
        listed += nodes.list_item("", nodes.paragraph("", "", marked(claim["held"]), nodes.Text(" "), link))
    return fold(f"{FRAMEWORKS[framework]}: {held} of {len(claims)}", [listed], opened=held < len(claims))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register all of it; MyST-NB looks for renderers in the packages installed, and keeps the list it made."""
    if ClaimRenderer not in load_mime_renders():
        load_mime_renders().append(ClaimRenderer)
    app.add_node(mark, html=(visit_mark, depart_mark))
    app.add_directive("claims", Claims)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
