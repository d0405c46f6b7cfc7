"""What records say, in the language of the notebook that makes them. Standard library only.

English, unless the file of `WORDS` lies in the kernel's folder, beside the notebooks of a translation: it has what the
translation says for the fixed words of this package, and for the names and sentences in the notebooks' own cells.
"""

import json
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

WORDS = "d2l-words.json"  # {"fixed": {English: translation}, "records": the same}
Translate = Callable[[str], str | None]  # from a text to its translation, None if there is none


def say(text: str, /, **fields: Any) -> str:
    """Return a fixed text of this package in the notebook's language, with its fields filled in."""
    return (_translations()[0](text) or text).format(**fields)


def say_line(text: str, /, **fields: Any) -> str:
    """Return what `say` does, of a text that fills lines of its own: pages translate it in what a cell has printed."""
    return say(text, **fields)


def say_each(*texts: str) -> Translate:
    """Return a function that translates each of these texts, such as the words of a table."""
    return filling(_translations()[0], texts)


def say_record(text: str) -> str:
    """Return a text that a cell gave a record, such as a name, in the notebook's language."""
    return _translations()[1](text) or text


@cache
def _translations() -> tuple[Translate, Translate]:
    try:
        words = json.loads(Path(WORDS).read_text(encoding="utf-8"))
        return words["fixed"].get, cache(filling(words["records"].get, words["records"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # there is none, or it is damaged
        return (lambda text: None), (lambda text: None)


def filling(exact: Translate, texts: Iterable[str]) -> Translate:
    """Return a function that also translates what fills the fields of `texts` in, as far as that is known."""
    literals = {text: [literal for literal, _ in pieces(text)] for text in texts}
    fixed = {text: "".join(found).strip() for text, found in literals.items()}
    open_texts = [text for text in fixed if fixed[text] not in ("", text)]
    most_literal_first = sorted(open_texts, key=lambda text: len(fixed[text]), reverse=True)
    patterns = {text: pattern(text) for text in most_literal_first}

    def translate(text: str) -> str | None:
        found = exact(text)
        if found:
            return found
        for filled, form in patterns.items():
            match, translation = form.fullmatch(text), exact(filled)
            if match and translation:
                fields = {name: (value and translate(value)) or value for name, value in match.groupdict().items()}
                return "".join(literal + fields.get(name or "", "") for literal, name in pieces(translation))
        return None

    return translate


def pieces(text: str) -> list[tuple[str, str | None]]:
    """Return a text with fields, cut behind each: pairs of literal text and the field's name, None behind the last.

    Braces that stand for themselves are doubled, as in an f-string. Any other text has no pieces: it is only itself.
    """
    try:
        found = [(literal, name) for literal, name, *_ in Formatter().parse(text)]
    except ValueError:  # a brace of its own
        return []
    return found if all(name is None or name.isidentifier() for _, name in found) else []


def pattern(text: str) -> re.Pattern[str]:
    """Return a pattern of what a text with fields can become; a field that comes again has the same value."""
    names, form = set[str](), ""
    for literal, name in pieces(text) or [(text, None)]:
        form += re.escape(literal)
        if name is not None:
            form += f"(?P={name})" if name in names else f"(?P<{name}>.*)"
            names.add(name)
    return re.compile(form, re.DOTALL)
