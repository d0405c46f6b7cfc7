"""The claims of the book on the landing page.

```{claims}
```

says how many claims held when this copy was built, each linked to its cell. It reads claims.json beside the pages:
a list of {section, framework, cell, held, sentence}.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from book import FRAMEWORKS
from book.pages.records.record_nodes import collected, raw
from book.pages.single_framework import EDITION, WHOLE, tag
from book.pages.solutions import fold
from book.record_html import address_of, tick
from book.words import say, say_record


class Claims(SphinxDirective):
    """How many claims of the text the building machine confirmed."""

    def run(self) -> list[nodes.Node]:
        """Return a sentence and a fold: for each section and framework its claims, open where one missed."""
        claims = collected(self.env, "claims")
        if not claims:
            return self.parse_text_to_nodes(say("This copy holds no record of claims: no notebook ran for it."))
        found: list[nodes.Node] = []
        for page, group in groupby(claims, key=lambda claim: claim["section"]):
            found += self.parse_text_to_nodes(f"{{doc}}`{page}`")
            section = list(group)
            for framework in FRAMEWORKS:
                ours = [claim for claim in section if claim["framework"] == framework]
                if ours:
                    found.append(claim_fold(framework, ours))
        whole = [*self.parse_text_to_nodes(count(claims)), fold(say("All claims, section by section"), found)]
        for node in whole:
            node["classes"].append(WHOLE)
        for framework in FRAMEWORKS:  # what its edition says in place of the list
            (sentence,) = self.parse_text_to_nodes(count([each for each in claims if each["framework"] == framework]))
            sentence["classes"] += [EDITION, tag(framework)]
            whole.append(sentence)
        return whole


def count(claims: Sequence[dict[str, Any]]) -> str:
    """Return how many claims held, in a sentence of MyST."""
    held = sum(claim["held"] for claim in claims)
    return say("**{held} of {all} claims held** when this copy was built.", held=held, all=len(claims))


def claim_fold(framework: str, claims: Sequence[dict[str, Any]]) -> nodes.Element:
    listed = nodes.bullet_list(classes=["claims"])
    held = sum(claim["held"] for claim in claims)
    for claim in claims:
        link = nodes.reference("", say_record(claim["sentence"]), refuri=address_of(claim), internal=True)
        listed += nodes.list_item("", nodes.paragraph("", "", raw(tick(claim["held"])), nodes.Text(" "), link))
    title = say("{framework}: {held} of {all}", framework=FRAMEWORKS[framework], held=held, all=len(claims))
    return fold(title, [listed], opened=held < len(claims))


def setup(app: Sphinx) -> None:
    app.add_directive("claims", Claims)
