"""The claims that held, on the landing page.

```{claims}
```

says how many claims held when this copy was built, each linked to its cell. It reads claims.json beside the pages:
a list of {section, framework, cell, held, sentence}, where held is null for a claim that was not checked.
"""

import json
from itertools import groupby
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from book import FRAMEWORKS
from book.pages.checked import marked
from book.pages.folds import fold


class Claims(SphinxDirective):
    """How many claims of the text the building machine confirmed."""

    def run(self):
        """Return a sentence and, for each section and framework, its claims; those with a missed one stand open."""
        path = Path(self.env.srcdir) / "claims.json"
        self.env.note_dependency(path)
        claims = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
        if not claims:
            return self.parse_text_to_nodes("This copy holds no record of claims: no notebook ran for it.")
        found = self.parse_text_to_nodes(count(claims))
        for page, group in groupby(claims, key=lambda claim: claim["section"]):
            found += self.parse_text_to_nodes(f"{{doc}}`{page}`")
            by_framework = sorted(group, key=lambda claim: list(FRAMEWORKS).index(claim["framework"]))
            found += [folded(list(ours)) for _, ours in groupby(by_framework, key=lambda claim: claim["framework"])]
        return found


def count(claims):
    """Return how many claims held, in a sentence of MyST."""
    held, unchecked = (sum(claim["held"] is state for claim in claims) for state in (True, None))
    rest = f" {unchecked} could not be checked; the cells say why." if unchecked else ""
    return f"**{held} of {len(claims)} claims held** when this copy was built.{rest}"


def folded(claims):
    """Return the fold that lists the claims of one section and framework."""
    listed, held = nodes.bullet_list(classes=["claims"]), sum(claim["held"] is True for claim in claims)
    for claim in claims:
        address = f"{claim['section']}.html?tab={claim['framework']}#{claim['cell']}"
        link = nodes.reference("", claim["sentence"], refuri=address, internal=True)
        listed += nodes.list_item("", nodes.paragraph("", "", marked(claim["held"]), nodes.Text(" "), link))
    title = f"{FRAMEWORKS[claims[0]['framework']]}: {held} of {len(claims)}"
    return fold(title, [listed], opened=held < len(claims))


def setup(app):
    """Register the directive."""
    app.add_directive("claims", Claims)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
