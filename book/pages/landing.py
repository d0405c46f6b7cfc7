"""What the landing page tells: the map of sections, and the claims that held; and the look of a claim in an output.

```{sections}
hybridize: Compilers and Interpreters. What a compiler can do that an interpreter cannot.
```

lists the sections in this order. Those that stand are numbered and linked; the others are marked as still to come.

```{claims}
```

says how many claims held when this copy was built, each linked to its cell. It reads claims.json beside the pages:
a list of {section, framework, cell, held, sentence}, where held is null for a claim that was not checked.
"""

import itertools
import json
from pathlib import Path

from docutils import nodes
from pygments.lexer import RegexLexer, bygroups
from pygments.token import Generic, Text
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective
from sphinx_design.shared import create_component

from book import FRAMEWORKS

LOOKS = {True: ("✓ ", "held"), False: ("✗ ", "missed"), None: ("– ", "unchecked")}


def link_to_page(page, here, title=None):
    """Return a link to a page, which says `title` or else the page's own title."""
    return addnodes.pending_xref(
        "",
        nodes.inline("", title or page),
        refdomain="std",
        reftype="doc",
        reftarget=page,
        refdoc=here,
        refexplicit=title is not None,
        refwarn=True,
    )


class Sections(SphinxDirective):
    """The map of sections, in the order of the chapter."""

    has_content = True

    def run(self):
        """Return the list and the (hidden) tree of pages that numbers the sections."""
        self.assert_has_content()
        # Which sections stand depends on other files than this one: read it anew in every build.
        self.env.note_reread()
        listed, standing = nodes.bullet_list(classes=["sections"]), []
        for line in filter(str.strip, self.content):
            page, colon, words = line.partition(": ")
            title, stop, sentence = words.partition(". ")
            if not colon or not stop:
                raise self.error(f"not 'page: Title. Sentence': {line!r}")
            if page in self.env.found_docs:
                standing.append(page)
            body, messages = self.parse_inline(sentence, lineno=self.lineno)
            listed += nodes.list_item("", self._head(page, title), nodes.paragraph("", "", *body, *messages))
        return [listed, self._tree(standing)] if standing else [listed]

    def _head(self, page, title):
        if page in self.env.found_docs:
            return nodes.paragraph("", "", link_to_page(page, self.env.docname, title))
        mark = nodes.inline("", "to come", classes=["to-come"])
        return nodes.paragraph("", "", nodes.inline("", title, classes=["to-come-title"]), nodes.Text(" "), mark)

    def _tree(self, pages):
        tree = addnodes.toctree(
            entries=[(None, page) for page in pages],
            includefiles=pages,
            parent=self.env.docname,
            numbered=999,
            maxdepth=2,
            hidden=True,
            glob=False,
            titlesonly=False,
            includehidden=False,
            caption=None,
        )
        self.set_source_info(tree)
        return nodes.compound("", tree, classes=["toctree-wrapper"])


class Claims(SphinxDirective):
    """How many claims of the text the building machine confirmed."""

    def run(self):
        """Return a sentence and, for each section and framework, its claims; those with a missed one stand open."""
        self.env.note_reread()
        path = Path(self.env.srcdir) / "claims.json"
        claims = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
        if not claims:
            return [nodes.paragraph("", "This copy holds no record of claims: no notebook ran for it.")]
        found = [self._count(claims, " when this copy was built.")]
        for page, group in itertools.groupby(claims, key=lambda claim: claim["section"]):
            found.append(nodes.paragraph("", "", link_to_page(page, self.env.docname), classes=["claims-of"]))
            by_framework = sorted(group, key=lambda claim: list(FRAMEWORKS).index(claim["framework"]))
            for framework, ours in itertools.groupby(by_framework, key=lambda claim: claim["framework"]):
                found.append(self._fold(page, framework, list(ours)))
        return found

    def _count(self, claims, rest):
        held, unchecked = (sum(claim["held"] is state for claim in claims) for state in (True, None))
        rest += f" {unchecked} could not be checked; the cells say why." if unchecked else ""
        return nodes.paragraph("", "", nodes.strong("", f"{held} of {len(claims)} claims held"), nodes.Text(rest))

    def _fold(self, page, framework, claims):
        held = sum(claim["held"] is True for claim in claims)
        title = nodes.rubric("", f"{FRAMEWORKS[framework]}: {held} of {len(claims)}")
        listed = nodes.bullet_list(classes=["claims"])
        for claim in claims:
            mark, kind = LOOKS[claim["held"]]
            address = f"{page}.html?tab={framework}#{claim['cell']}"
            link = nodes.reference("", claim["sentence"], refuri=address, internal=True)
            listed += nodes.list_item("", nodes.paragraph("", "", nodes.inline("", mark, classes=[kind]), link))
        return create_component(
            "dropdown",
            children=[title, listed],
            opened=held < len(claims),
            type="dropdown",
            has_title=True,
            icon=None,
            chevron=None,
            container_classes=[],
            title_classes=[],
            body_classes=[],
        )


class OutputLexer(RegexLexer):
    """The text that a cell prints, with the mark of each claim set off."""

    name = "Output of a cell"
    tokens = {
        "root": [
            (r"^(✓)(.*\n)", bygroups(Generic.Inserted, Text)),
            (r"^(✗)(.*\n)", bygroups(Generic.Deleted, Text)),
            (r".*\n", Text),
        ]
    }


def setup(app):
    """Register the directives and the lexer."""
    app.add_lexer("output", OutputLexer)
    app.add_directive("sections", Sections)
    app.add_directive("claims", Claims)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
