"""What a translation lacks or adds: its formulas, code, links, marks and lines have to be those of the English."""

import re
from collections import Counter
from collections.abc import Iterator

from markdown_it.token import Token

from book.plain import PARSER
from book.translations.units import on_one_line

MARKS = {"strong_open": "**", "em_open": "*"}
WORDS_OF_FORMULA = re.compile(r"\\text\{[^}]*\}")
ENGLISH = re.compile(r"\b[a-z]{2,}\b")
CALLED = re.compile(r"`?.*<(.+?)>`?", re.DOTALL)  # a role with words of its own before its target
ENOUGH = 4  # English words that are no name


def faults(english: str, said: str) -> list[str]:
    """Return what is wrong with a translation, whatever its language; nothing where it can be used."""
    before, after = on_one_line(english), on_one_line(said)
    parts, ours = Counter(markup(before)), Counter(markup(after))
    found = [f"lacks {part}" for part in (parts - ours).elements()]
    found += [f"adds {part}" for part in (ours - parts).elements()]
    if not found and blocks(before) != blocks(after):
        found.append(f"is read as {' '.join(blocks(after))} in place of {' '.join(blocks(before))}")
    if said.strip() != said:
        found.append("begins or ends with a space or an empty line")
    if said == english and len(ENGLISH.findall(re.sub("`.*?`", "", before))) >= ENOUGH:
        found.append("is the English: leave msgstr empty")
    return found


def markup(text: str) -> Iterator[str]:
    """Yield each part of a text that has to stand in every language, as a translator has to write it."""
    yield from ["|"] * text.count("|")
    for token in PARSER.parse(text):
        if token.type.startswith("math_block"):
            yield formula(token)
        for child in token.children or []:
            yield from part(child)


def part(token: Token) -> Iterator[str]:
    """Yield what a token is in all languages, or nothing."""
    if token.type in MARKS:
        yield MARKS[token.type]
    elif token.type == "code_inline":
        yield f"`{token.content}`"
    elif token.type.startswith("math_"):
        yield formula(token)
    elif token.type == "myst_role":
        target = CALLED.sub(r"\1", token.content).strip("`")
        yield f"{{{token.meta['name']}}} of {target}"
    elif token.type == "link_open":
        yield f"the link to {token.attrGet('href')}"
    elif token.type == "image":
        yield f"the picture {token.attrGet('src')}"
    elif token.type == "html_inline":
        yield token.content


def formula(token: Token) -> str:
    """Return a formula without its words, which are to be translated."""
    content = WORDS_OF_FORMULA.sub(r"\\text{…}", token.content.strip())
    return f"${content}$ {token.info}".strip()


def blocks(text: str) -> list[str]:
    """Return the kinds of the blocks that a text is."""
    return [token.type.removesuffix("_open") for token in PARSER.parse(text) if not token.type.endswith("_close")]
