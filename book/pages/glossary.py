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
from sphinx.util.nodes import make_refnode

from book.pages.tabs import framework_of, frameworks_of

KEY = "glossary"  # in the metadata of the page: {form: (id, meaning)}
SILENT = (nodes.title, nodes.rubric, nodes.figure, nodes.table, nodes.literal_block, nodes.definition_list)
UNLINKED = (nodes.reference, addnodes.download_reference, nodes.literal, nodes.math)
NO_PROSE = {"page-facts", "colophon", "references", "claim", "claims", "machine-profile"}


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
    """Return an expression whose group is any of the forms as whole words, the longest first."""
    found = [re.escape(form) for form in sorted(forms, key=len, reverse=True)]
    found = [f"[{form[0]}{form[0].upper()}]{form[1:]}" if form[0].islower() else form for form in found]
    return re.compile(rf"(?<![\w-])({'|'.join(found)})(?![\w-])")


def sentences(node, framework=None, within=False):
    """Yield each piece of text that stands in a paragraph and may hold a link, with the framework whose text it is."""
    if isinstance(node, nodes.Text):
        if within:
            yield node, framework
        return
    silent = isinstance(node, SILENT + UNLINKED) or node.get("nb_element") or NO_PROSE & set(node.get("classes", ()))
    for child in () if silent else node.children:
        yield from sentences(child, framework_of(node) or framework, within or isinstance(node, nodes.paragraph))


def link_words(app, document, page):
    """Link the first use of each word on a page; in the glossary, in each meaning."""
    home, forms = glossary_of(app.env)
    if not home or app.builder.format != "html":
        return
    if page != home:
        parts = [(document, set())]
    else:
        parts = [(entry[-1], {entry[0]["ids"][0]}) for entry in document.findall(nodes.definition_list_item)]
    finder, frameworks = pattern(forms), frameworks_of(document) or [None]
    for part, known in parts:
        seen = {name: set(known) for name in frameworks}
        for text, framework in list(sentences(part)):
            linked = []
            for word, place, meaning in words(text, finder, forms):
                readers = [framework] if framework else frameworks
                if place and any(place not in seen[name] for name in readers):
                    word = make_refnode(app.builder, page, home, place, word, meaning)
                    word["classes"].append("word")
                for name in readers:
                    seen[name].add(place)
                linked.append(word)
            text.parent.replace(text, linked)


def words(text, finder, forms):
    """Yield a text in pieces: (node, id, meaning), both None for what stands between the words of the glossary."""
    for piece in finder.split(text):
        known = forms.get(piece) or forms.get(piece[:1].lower() + piece[1:])
        yield nodes.Text(piece), *(known if known and finder.fullmatch(piece) else (None, None))


def rewrite(app, env):
    """Have every page written anew that holds a word whose entry is new, changed or gone."""
    forms = glossary_of(env)[1]
    before, env.d2l_glossary = getattr(env, "d2l_glossary", {}), forms
    changed = {form for form, _ in before.items() ^ forms.items()}
    finder = pattern(changed)
    return [page for page in env.found_docs if changed and finder.search(env.doc2path(page).read_text("utf-8"))]


def setup(app):
    """Register all of it."""
    app.add_transform(GatherForms)
    app.connect("doctree-resolved", link_words)
    app.connect("env-updated", rewrite)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
