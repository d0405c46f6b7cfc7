"""Words that a page uses link to the glossary where they first stand on it, with their meaning, which words.js shows.

The page of the glossary is written with Sphinx's directive; several terms above one meaning are the forms of a word:

```{glossary}
cache line
cache lines
  The meaning.
```

The first form is its name; the others are not shown. A form that begins with a small letter may begin a sentence.
Above the entries stand the letters with which they begin, to jump to, and each letter above its own.
A Chinese name is followed by the English one, here and in the note, and stands where its pinyin belongs.
In a context of the setting `d2l_unlinked` a form means something else, and is no link.
A reader of one framework sees the text of no other, so that what counts is the first place in the text of each. Whoever
follows a path skips parts, so that what counts for them too is the first place in what their path reads.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform
from sphinx.util.nodes import make_refnode, traverse_parent

from book.pages.tabs import framework_of, frameworks_of
from book.pages.text import HAN_CHARACTER
from book.paths import OPENINGS, PATHS

KEY = "glossary"  # in the metadata of the page: {form: (id, meaning)}
SILENT = (nodes.title, nodes.rubric, nodes.figure, nodes.table, nodes.literal_block, nodes.definition_list)
UNLINKED = (nodes.reference, addnodes.download_reference, nodes.literal, nodes.math)
NO_PROSE = {"page-facts", "colophon", "references", "claims", "machine-profile", "on-path", "onward"}


class GatherForms(SphinxTransform):
    """Note the forms of each entry of a glossary, show the first alone, and put the letters above them."""

    default_priority = 850

    def apply(self, **kwargs: Any) -> None:
        forms: dict[str, tuple[str, str]] = {}
        for glossary in list(self.document.findall(addnodes.glossary)):
            entries = list(glossary.findall(nodes.definition_list_item))
            for entry in entries:
                first, *others = entry.findall(nodes.term)
                written = [form.astext() for form in (first, *others)]
                english = english_name(written)
                meaning = " ".join(entry[-1].astext().split())
                note = f"{english}：{meaning}" if english else meaning
                forms |= dict.fromkeys(written, (first["ids"][0], note))
                if english:
                    first.replace(first[0], nodes.Text(with_english(first[0].astext(), english)))
                for form in others:
                    first["ids"] += form["ids"]
                    entry.remove(form)
            divide(glossary, entries)
        if forms:
            self.env.metadata[self.env.docname][KEY] = forms


def english_name(forms: Sequence[str]) -> str:
    """Return the first English form of a term with a Chinese name, without a word on its use, else ""."""
    english = (form.partition(" (")[0] for form in forms if not HAN_CHARACTER.search(form))
    return next(english, "") if HAN_CHARACTER.match(forms[0]) else ""


def with_english(name: str, english: str) -> str:
    """Return a Chinese name with the English one in brackets, where a word on its use may follow."""
    head, bracket, use = name.partition("（")
    return f"{head}（{english}；{use}" if bracket else f"{head}（{english}）"


def divide(glossary: Any, entries: Sequence[Any]) -> None:
    """Put the letters above a glossary, and each above its entries; Chinese ones are sorted among the others first."""
    names = {entry: entry[0].astext() for entry in entries}
    if any(map(HAN_CHARACTER.match, names.values())):
        entries = sorted(entries, key=lambda entry: spelling(names[entry]))
    letters = nodes.paragraph(classes=["letters"])
    parts: list[nodes.Node] = []
    for initial, group in groupby(entries, lambda entry: letter(names[entry])):
        part = glossary[0].copy()
        part += list(group)
        letters += [nodes.reference("", initial, refid=part[0][0]["ids"][0], internal=True), nodes.Text(" ")]
        parts += [nodes.rubric("", initial, classes=["letters"]), part]
    glossary.children = []
    glossary += parts
    glossary.parent.insert(glossary.parent.index(glossary), letters)


def spelling(term: str) -> str:
    """Return the letters by which a term is sorted: of Chinese, pinyin."""
    if HAN_CHARACTER.search(term):
        from pypinyin import lazy_pinyin

        term = " ".join(lazy_pinyin(term))
    return term.lower()


def letter(term: str) -> str:
    """Return the letter under which a reader looks for a term."""
    return spelling(term)[0].upper()


def glossary_of(env: BuildEnvironment) -> tuple[str | None, dict[str, tuple[str, str]]]:
    """Return the page of the glossary and its forms; (None, {}) where the book has none."""
    for page, about in env.metadata.items():
        if KEY in about:
            return page, about[KEY]
    return None, {}


def pattern(forms: Collection[str]) -> re.Pattern[str]:
    """Return an expression whose group is any of the forms or contexts as whole words, the longest first.

    Chinese has no spaces between words, so that a single character may be part of another word: it is left out.
    """
    chinese, others = (
        [],
        [],
    )  # the forms that begin with a Chinese character, and those before which a word has a border
    for form in sorted(forms, key=len, reverse=True):
        if not HAN_CHARACTER.match(form):
            others.append(expression(form))
        elif len(form) > 1:
            chinese.append(expression(form))
    bordered = [rf"(?<![\w-])(?:{'|'.join(others)})"] if others else []
    return re.compile(f"({'|'.join([*bordered, *chinese])})")


def expression(form: str) -> str:
    """Return the expression of a form, with a border where it ends with a letter of a word with spaces."""
    words = re.escape(form)
    if form[0].islower():
        words = f"[{form[0]}{form[0].upper()}]{words[1:]}"
    return words if HAN_CHARACTER.match(form[-1]) else rf"{words}(?![\w-])"


def texts_in(node: Any, framework: str | None = None, within: bool = False) -> Iterator[tuple[Any, str | None]]:
    """Yield each piece of text that stands in a paragraph and may hold a link, with the framework whose text it is."""
    if isinstance(node, nodes.Text):
        if within:
            yield node, framework
        return
    if isinstance(node, SILENT + UNLINKED) or node.get("nb_element") or NO_PROSE & set(node.get("classes", ())):
        return
    for child in node.children:
        yield from texts_in(child, framework_of(node) or framework, within or isinstance(node, nodes.paragraph))


def link_words(app: Sphinx, document: nodes.document, page: str) -> None:
    """Link the first use of each word on a page; in the glossary, in each meaning."""
    home, forms = glossary_of(app.env)
    if not home or app.builder.format != "html":
        return
    finder = pattern([*forms, *app.config.d2l_unlinked])
    frameworks: Sequence[str | None] = frameworks_of(document) or [None]
    parts: list[tuple[Any, set[str]]] = [(document, set())]  # with the entries that are not linked there
    if page == home:
        parts = [(entry[-1], {entry[0]["ids"][0]}) for entry in document.findall(nodes.definition_list_item)]
    for part, known in parts:
        seen: dict[tuple[str | None, str], set[str]] = {}  # by framework and path, "" for who reads everything
        for text, framework in list(texts_in(part)):
            own = [framework] if framework else frameworks
            readers = [seen.setdefault((word, path), set(known)) for word in own for path in ("", *paths_to(text))]
            pieces = words(text, finder, forms)
            linked = [
                link(app, page, home, word, *entry) if entry and is_new(entry[0], readers) else word
                for word, entry in pieces
            ]
            text.parent.replace(text, linked)


def paths_to(node: Any) -> set[str]:
    """Return the paths through the book that read a node of a page."""
    around = list(traverse_parent(node, nodes.section))
    opening = around[0].get(OPENINGS, []) if around else []
    return {path for section in around for path in section.get(PATHS, [])}.union(opening)


def is_new(entry: str, readers: Sequence[set[str]]) -> bool:
    """Tell whether an entry is new to any of the readers, and note that they have met it."""
    new = any(entry not in known for known in readers)
    for known in readers:
        known.add(entry)
    return new


def words(
    text: str, finder: re.Pattern[str], forms: dict[str, tuple[str, str]]
) -> Iterator[tuple[nodes.Text, tuple[str, str] | None]]:
    """Yield a text in pieces, each with the id and the meaning of its entry; None for what stands between words."""
    for piece in finder.split(text):
        entry = forms.get(piece) or forms.get(piece[:1].lower() + piece[1:])
        yield nodes.Text(piece), entry if finder.fullmatch(piece) else None


def link(app: Sphinx, page: str, home: str, word: nodes.Text, place: str, meaning: str) -> nodes.Node:
    """Return a word that links from a page to its entry in the glossary, with its meaning."""
    reference = make_refnode(app.builder, page, home, place, word, meaning)
    reference["classes"].append("word")
    return reference


def rewrite(app: Sphinx, env: Any) -> list[str]:
    """Have every page written anew that holds a word whose entry is new, changed or gone."""
    forms = glossary_of(env)[1]
    before, env.d2l_glossary = getattr(env, "d2l_glossary", {}), forms
    changed = {form for form, _ in before.items() ^ forms.items()}
    if not changed:
        return []
    finder = pattern(changed)
    return [page for page in env.found_docs if finder.search(env.doc2path(page).read_text("utf-8"))]


def setup(app: Sphinx) -> None:
    app.add_config_value("d2l_unlinked", [], "env", [list])
    app.add_transform(GatherForms)
    app.connect("doctree-resolved", link_words)
    app.connect("env-updated", rewrite)
