"""Catalogues brought up to date with what is to be translated: sources, their comments, code, records and drawings.

A catalogue holds every unit of its source in the order of the text, translated or not. When the English of a unit
changes, its translation is kept but marked fuzzy: it is not used until a translator has revised it and removed the
mark.
"""

import json
import re
from collections import Counter

from babel.messages.catalog import Catalog

from book import gpu_record
from book.layout import Edition, own_files
from book.translations import Language, comments, figures, record_texts
from book.translations.catalogues import (
    COMMENTS,
    FIGURES,
    LINES,
    PAGES,
    RECORDS,
    SHARED,
    Message,
    folder,
    is_final,
    messages,
    names,
    read,
    sources,
    write,
)
from book.translations.said import PACKAGES, fixed_texts
from book.translations.units import extract
from d2l_lab.plots import words as drawn

# Which share no text with others: a label has too little room for another translation, a comment has no full stop.
APART = (RECORDS, LINES, FIGURES, COMMENTS)
FEW = 4  # words: what resembles a shorter text means something else
TAGS = re.compile(r"\+\+\+ (\{.*\})")  # of a cell of prose


def translatable(edition: Edition) -> dict[str, list[tuple[str, str]]]:
    """Return what is to be translated: for each catalogue but SHARED its texts in order, each with a comment."""
    found = sources(edition)
    result = {}
    for name, source in found.items():
        tags = tags_of_lines(source)
        result[name] = [(unit.text, ", ".join([unit.kind, *tags[unit.first]])) for unit in extract(source)]
    result[PAGES] = [text for package in PACKAGES for text in fixed_texts(edition.root / package)]
    result[RECORDS] = [(text, f"record, {name}") for name in found for text in record_texts.extract(found[name])]
    result[RECORDS] += [(text, "record") for text in record_texts.OURS]
    result[RECORDS] += [(text, "drawing") for text in (*drawn.OURS, *record_texts.COMPUTED)]
    result[RECORDS] += [(text, "table of hardware") for text in record_texts.hardware(edition.root)]
    exercises = own_files(edition.root / "d2l_lab" / "exercises", "*.py")
    result[RECORDS] += [
        (text, f"hint, {path.stem}") for path in exercises for text in record_texts.hints(path.read_text("utf-8"))
    ]
    result[RECORDS] += [(text, "record, gpu") for text in gpu_record.read(edition.root).get("remarks", {}).values()]
    result[LINES] = [(text, f"line, {name}") for name in found for text in record_texts.lines(found[name])]
    result[COMMENTS] = [(text, f"comment, {name}") for name in found for text in comments.extract(found[name])]
    result[FIGURES] = [
        (text, f"label, {path.stem}")
        for path in own_files(edition.sources, "img/*.svg")
        for text in figures.extract(path.read_text(encoding="utf-8"))
    ]
    return result


def templates(texts: dict[str, list[tuple[str, str]]]) -> dict[str, Catalog]:
    """Return catalogues without translations of `translatable` texts; what stands in several places is in SHARED."""
    places = Counter(text for name in texts if name not in APART for text in {text for text, _ in texts[name]})
    result = {name: Catalog() for name in (SHARED, *texts)}
    for name, found in texts.items():
        for text, comment in found:
            shared = places[text] > 1 and name not in APART
            result[SHARED if shared else name].add(text, auto_comments=[comment.split(",")[0] if shared else comment])
    return {name: template for name, template in result.items() if messages(template)}


def tags_of_lines(source: str) -> list[list[str]]:
    """Return for each line of a source the tags of its cell of prose."""
    result, tags = [], list[str]()
    for line in source.split("\n"):
        opening = TAGS.match(line)
        if opening:
            tags = json.loads(opening[1]).get("tags", [])
        elif line.startswith(("+++", "```{code-cell}")):
            tags = []
        result.append(tags)
    return result


def update(edition: Edition, language: Language) -> list[str]:
    """Bring the catalogues of a language up to date with the sources; return their names.

    Missing catalogues are begun. A translation follows its text into another catalogue.
    """
    place = folder(edition, language)
    old = {name: read(place / f"{name}.po") for name in names(place)}
    known = {each.id: each for name in old if name not in APART for each in messages(old[name]) if is_final(each)}
    new = templates(translatable(edition))
    for name, template in new.items():
        catalogue = old.get(name, Catalog())
        merge(catalogue, template, {} if name in APART else known)
        write(catalogue, place / f"{name}.po", language)
    for name in old.keys() - new.keys():
        (place / f"{name}.po").unlink()
    return list(new)


def merge(catalogue: Catalog, template: Catalog, known: dict[str, Message]) -> None:
    """Give a catalogue the messages of a template, with their own translation, a `known` one, or a similar text's."""
    for message in messages(template):
        there = catalogue.get(message.id)
        if message.id in known and (there is None or not is_final(there)):
            found = known[message.id]
            catalogue.delete(message.id)
            catalogue.add(message.id, found.string, user_comments=found.user_comments)
    catalogue.update(template)
    for message in messages(catalogue):
        if message.fuzzy and len(message.id.split()) < FEW:
            message.string = ""
            message.flags.discard("fuzzy")
