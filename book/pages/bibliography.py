"""How works are cited: authors and year in the text, a plain list at the end of each page."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from pybtex.plugin import find_plugin, register_plugin
from pybtex.richtext import Tag, Text
from pybtex.style.formatting.unsrt import Style as Unsorted
from pybtex.style.labels import BaseLabelStyle
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinxcontrib.bibtex.plugin import register_plugin as register_style
from sphinxcontrib.bibtex.style.referencing import BracketStyle, PersonStyle
from sphinxcontrib.bibtex.style.referencing.author_year import AuthorYearReferenceStyle

from book.words import say


class KeyLabels(BaseLabelStyle):
    """The keys as labels: unique over all pages, and never shown."""

    def format_labels(self, sorted_entries: Iterable[Any]) -> Iterator[str]:
        return (entry.key for entry in sorted_entries)


class Chapter(Unsorted):
    """References in the order of their authors, as the text names them."""

    default_label_style = KeyLabels
    default_sorting_style = "author_year_title"
    formatted: ClassVar[dict[str, tuple[Any, Any]]] = {}  # by keys: an entry, and what became of it

    def format_entry(self, label: str, entry: Any, bib_data: Any = None) -> Any:
        """Format a work once, for all pages that cite it and for the notes at its citations."""
        if self.formatted.get(entry.key, (None,))[0] is not entry:
            self.formatted[entry.key] = entry, super().format_entry(label, entry, bib_data)
        return self.formatted[entry.key][1]


class RoundBrackets(AuthorYearReferenceStyle):
    """(Li et al., 2014) and Li et al. (2014); in Chinese （Li 等，2014） and Li 等（2014）."""

    def __init__(self) -> None:
        round_brackets = BracketStyle(left=say("("), right=say(")"))
        places = ("textual", "parenthetical", "author", "label", "year")
        brackets: dict[str, Any] = {f"bracket_{place}": round_brackets for place in places}
        wide = say("(") != "("
        both = say("and")
        names = PersonStyle(sep2=f" {both} ", other=Text(" ", say("et al.") if wide else Tag("em", "et al.")))
        space, comma = ("", "，") if wide else (" ", ", ")
        separators: dict[str, Any] = {"text_reference_sep": space, "author_year_sep": comma, "post_text_sep": comma}
        super().__init__(person=names, **brackets, **separators)


class ListReferences(SphinxPostTransform):
    """Turn the labelled citations of a bibliography into a list without roles: ARIA 1.3 withdrew those of citations."""

    default_priority = 6  # after sphinxcontrib-bibtex has made the citations (5)

    def run(self, **kwargs: Any) -> None:
        groups = {id(citation.parent): citation.parent for citation in self.document.findall(nodes.citation)}
        for group in groups.values():
            listed = nodes.bullet_list(classes=["references"])
            for citation in group.findall(nodes.citation):
                listed += nodes.list_item("", *citation.children[1:], ids=citation["ids"])
            group.parent.replace(group, listed)


class CloseUp(SphinxPostTransform):
    """Leave no space behind the full-width bracket of a citation."""

    default_priority = 7  # after sphinxcontrib-bibtex has resolved the citations (5)

    def run(self, **kwargs: Any) -> None:
        for cited in list(self.document.findall(nodes.inline)):
            place = cited.parent.index(cited) + 1
            text = next(iter(cited.parent[place : place + 1]), None)
            if isinstance(text, nodes.Text) and text.startswith(" ") and cited.astext().endswith("）"):
                cited.parent[place] = nodes.Text(text.lstrip(" "))


def find_references(app: Sphinx, config: Config) -> None:
    """Take references.bib from the folder of the pages, which differs between the two passes of Sphinx."""
    config.bibtex_bibfiles = [str(Path(app.srcdir) / "references.bib")]


def setup(app: Sphinx) -> None:
    register_plugin("pybtex.style.formatting", "chapter", Chapter)
    # What is not registered is looked for in every package installed, the first once for each citation.
    for group, name in (("backends", "plaintext"), ("style.names", "plain"), ("style.sorting", "author_year_title")):
        register_plugin(f"pybtex.{group}", name, find_plugin(f"pybtex.{group}", name), force=True)
    register_style("sphinxcontrib.bibtex.style.referencing", "round_author_year", RoundBrackets)
    app.add_post_transform(ListReferences)
    app.add_post_transform(CloseUp)
    app.connect("config-inited", find_references)
