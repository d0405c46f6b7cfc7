"""Words that a page uses link to the glossary where they first stand on it, with their meaning as the tooltip.

The page of the glossary is written with Sphinx's directive; several terms above one meaning are the forms of a word:

```{glossary}
cache line
cache lines
  The meaning.
```

The first form is its name; the others are not shown. A form that begins with a small letter may begin a sentence.
A reader of one framework sees the text of no other, so that what counts is the first place in the text of each.
"""

import re

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

from book import FRAMEWORKS
from book.pages.tabs import framework_of

KEY = "glossary"  # in the metadata of the page: {form: (id, meaning)}
SILENT = (nodes.title, nodes.rubric, nodes.figure, nodes.table, nodes.literal_block, nodes.definition_list)
UNLINKED = (nodes.reference, addnodes.download_reference, nodes.literal, nodes.math)
NO_PROSE = {"page-facts", "colophon", "references", "claim", "claims", "machine-card"}


class GatherForms(SphinxTransform):
    """Note the forms of each entry of a glossary, and show the first alone."""

    default_priority = 850

    def apply(self):
        found = {}
        for glossary in self.document.findall(addnodes.glossary):
            for entry in glossary.findall(nodes.definition_list_item):
                first, *others = entry.findall(nodes.term)
                meaning = " ".join(entry[-1].astext().split())
                for form in (first, *others):
                    found[form.astext()] = first["ids"][0], meaning
                for form in others:
                    first["ids"] += form["ids"]
                    entry.remove(form)
        if found:
            self.env.metadata[self.env.docname][KEY] = found


def glossary_of(env):
    """Return the page of the glossary and its forms; (None, {}) where the book has none."""
    return next(((page, about[KEY]) for page, about in env.metadata.items() if KEY in about), (None, {}))


def pattern(forms):
    """Return an expression that finds any of the forms as whole words, the longest first."""
    words = [re.escape(form).replace(r"\ ", r"\s+") for form in sorted(forms, key=len, reverse=True)]
    words = [f"[{word[0]}{word[0].upper()}]{word[1:]}" if word[0].islower() else word for word in words]
    return re.compile(rf"(?<![\w-])(?:{'|'.join(words)})(?![\w-])")


def sentences(node, framework=None, within=False):
    """Yield each piece of text that stands in a paragraph and may hold a link, with the framework whose text it is."""
    if isinstance(node, nodes.Text):
        if within:
            yield node, framework
        return
    silent = isinstance(node, SILENT + UNLINKED) or node.get("nb_element") or NO_PROSE & set(node.get("classes", ()))
    for child in () if silent else node.children:
        yield from sentences(child, framework_of(node) or framework, within or isinstance(node, nodes.paragraph))


class LinkWords(SphinxPostTransform):
    """Link the first use of each word on a page."""

    default_priority = 210  # once references are resolved and outputs are chosen
    formats = ("html",)

    def run(self, **kwargs):
        self.page, self.forms = glossary_of(self.env)
        if self.page == self.env.docname:
            for entry in self.document.findall(nodes.definition_list_item):
                self.link(entry[-1], {entry[0]["ids"][0]})
        elif self.page:
            self.link(self.document, set())

    def link(self, node, known):
        """Link what stands within a node, but for the entries of the ids `known`."""
        finder, seen = pattern(self.forms), {name: set(known) for name in FRAMEWORKS}
        for text, framework in list(sentences(node)):
            readers = [framework] if framework else list(FRAMEWORKS)
            parts, end = [], 0
            for match in finder.finditer(text):
                word = " ".join(match.group().split())
                place, meaning = self.forms.get(word) or self.forms[word[0].lower() + word[1:]]
                if any(place not in seen[name] for name in readers):
                    parts += [nodes.Text(text[end : match.start()]), self.reference(match.group(), place, meaning)]
                    end = match.end()
                for name in readers:
                    seen[name].add(place)
            if parts:
                text.parent.replace(text, [*parts, nodes.Text(text[end:])])

    def reference(self, word, place, meaning):
        """Return the link from a word to its entry."""
        link = make_refnode(self.app.builder, self.env.docname, self.page, place, nodes.Text(word), meaning)
        link["classes"].append("word")
        return link


def rewrite(app, env):
    """Have every page written anew that holds a word whose entry is new, changed or gone."""
    forms = glossary_of(env)[1]
    before, env.d2l_glossary = getattr(env, "d2l_glossary", {}), forms
    changed = {form for form, _ in before.items() ^ forms.items()}
    finder = pattern(changed)
    return [page for page in env.found_docs if changed and finder.search(env.doc2path(page).read_text("utf-8"))]


def setup(app):
    """Register both transforms."""
    app.add_transform(GatherForms)
    app.add_post_transform(LinkWords)
    app.connect("env-updated", rewrite)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
