"""Faults of a translation in any language: formulas, code, roles, links, bars or emphasis that it lost or added."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

from markdown_it.token import Token

from book.myst import PARSER
from book.translations.units import join_lines

EMPHASIS = {"strong_open": "**", "em_open": "*"}
TEXT_IN_FORMULA = re.compile(r"\\text\{[^}]*\}")
TARGET = re.compile(r"`?.*<(.+?)>`?", re.DOTALL)  # of a role with a text of its own
ENGLISH = re.compile(r"\b[a-z]{2,}\b")
FIELD = re.compile(r"\{\{|\}\}|\{\w*([:!][^{}]*)?\}|%s")  # where code fills something in, and doubled braces
FEW = 4  # lower-case words: a text with fewer may be the same in both languages


@cache  # a build asks twice: for the translation, and whether to count it
def faults(msgid: str, msgstr: str) -> tuple[str, ...]:
    """Return what is wrong with a translation; nothing if the book can use it."""
    english, translation = join_lines(msgid), join_lines(msgstr)
    original, translated = PARSER.parse(english), PARSER.parse(translation)
    expected, found = Counter(markup(english, original)), Counter(markup(translation, translated))
    result = [f"lacks {each}" for each in (expected - found).elements()]
    result += [f"adds {each}" for each in (found - expected).elements()]
    if not result and blocks(original) != blocks(translated):
        result.append(f"is parsed as {' '.join(blocks(translated))}, the English as {' '.join(blocks(original))}")
    if msgstr.strip() != msgstr and msgid.strip() == msgid:
        result.append("begins or ends with a space or a line break")
    if msgstr == msgid and len(ENGLISH.findall(re.sub(r"(?s)`.*?`|\$\$.*?\$\$", "", english))) >= FEW:
        result.append("is the English text: leave msgstr empty")
    return tuple(result)


def markup(text: str, tokens: Sequence[Token]) -> Iterator[str]:
    """Yield each piece of markup that a translation of a parsed text has to keep, as a translator writes it."""
    yield from ["|"] * text.count("|")
    for block in tokens:
        for token in [block, *(block.children or [])]:
            yield from markup_of(token)


def markup_of(token: Token) -> Iterator[str]:
    """Yield the markup that a token stands for; of text, the fields alone."""
    if token.type == "text":
        yield from (found[0] for found in FIELD.finditer(token.content))
    elif token.type in EMPHASIS:
        yield EMPHASIS[token.type]
    elif token.type == "code_inline":
        yield f"`{token.content}`"
    elif token.type.startswith("math_"):
        yield formula(token)
    elif token.type == "myst_role":
        target = TARGET.sub(r"\1", token.content).strip("`")
        yield f"{{{token.meta['name']}}} with the target {target}"
    elif token.type == "link_open":
        yield f"the link to {token.attrGet('href')}"
    elif token.type == "image":
        yield f"the image {token.attrGet('src')}"
    elif token.type == "html_inline":
        yield token.content


def formula(token: Token) -> str:
    """Return a formula and its label, without the text in it, which is to be translated."""
    content = TEXT_IN_FORMULA.sub(r"\\text{…}", token.content.strip())
    return f"${content}$ {token.info}".strip()


def blocks(tokens: Sequence[Token]) -> list[str]:
    return [token.type.removesuffix("_open") for token in tokens if not token.type.endswith("_close")]
