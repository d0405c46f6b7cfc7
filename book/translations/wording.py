"""How a translation is written: the signs and spaces of Chinese, and the terms that the whole book uses."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from book.plain import INLINE
from book.translations.units import HAN

LATIN = r"A-Za-z0-9µͰ-Ͽ"
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
CALLED = re.compile(r"(.*?)\s*<[^<>]+>", re.DOTALL)  # the words of a role before its target
CALL = re.compile(rf"[A-Za-z_][\w.]*\([^(){HAN}]*\)", re.ASCII)  # code in an alternative text, which has no marks
CODE, FORMULA, NEUTRAL = "C", "M", "\ufffc"  # what stands for code, for a formula and for what brings its own signs
CLOSE = "，。；：？！、（）“”《》"

SPACES = {
    rf"[{HAN}][{LATIN}]|[{LATIN}][{HAN}]": "no space between Chinese and Latin letters, digits, code or a formula",
    rf"[{HAN}] +[{HAN}]": "a space between Chinese characters",
    rf" [{CLOSE}]|[{CLOSE}] ": "a space beside a full-width sign",
    rf"[{HAN}]  |  [{HAN}]": "two spaces",
}
SIGNS = {
    rf"[{HAN}] *[,;:!?]|[,;:!?] *[{HAN}]": "a half-width sign in Chinese: write one of ，；：！？",
    rf"[{HAN}] *\.|[\w)]\.$": "a half-width full stop: write 。",
    rf"[{HAN}] *\(|\([^()]*[{HAN}][^()]*\)|\) *[{HAN}]": "half-width brackets in Chinese: write （ and ）",
    rf'"|[{HAN}]\'|\'[{HAN}]': "straight quotation marks: write “ and ”",
}
BEFORE_ROLE = re.compile(r"\S* +\{(?:numref|cite:p)\}`[^`]*`")


def bare(text: str, code: str = CODE, formula: str = FORMULA) -> str:
    """Return the words of a text; letters stand for code and formulas, and what a role puts there is left open."""

    def replace(found: re.Match[str]) -> str:
        if found["role"]:
            called = CALLED.fullmatch(found["words"])
            return called[1] if called else NEUTRAL
        if found["ticks"]:
            return code
        return formula if found.group().startswith("$") else ""

    return CALL.sub(code, LINK.sub(r"\1", INLINE.sub(replace, text))).replace("*", "")


def slips(said: str) -> list[str]:
    """Return each slip against the rules of Chinese signs and spaces, with the words around it."""
    if not re.search(f"[{HAN}]", said):
        return []
    found = [f"a space before {match.group().strip()!r}" for match in BEFORE_ROLE.finditer(said)]
    for line in bare(said).split("\n"):
        for pattern, words in (SPACES | SIGNS).items():
            found += [f"{words} ({around(line, match)})" for match in re.finditer(pattern, line)]
    return found


def around(line: str, found: re.Match[str]) -> str:
    """Return what was found with a few characters to each side."""
    return f"…{line[max(0, found.start() - 6) : found.end() + 6]}…"


@dataclass(frozen=True)
class Term:
    """A term: its English forms, the Chinese of which one has to stand for it, and words that may not."""

    english: tuple[str, ...]
    chinese: tuple[str, ...]
    never: tuple[str, ...]

    def stands_in(self, english: str) -> bool:
        """Tell whether a text, in small letters, has the term or its plural."""
        forms = "|".join(map(re.escape, self.english))
        return bool(re.search(rf"(?<![\w-])(?:{forms})(?:s|es)?(?![\w-])", english))


def read_terms(path: Path) -> list[Term]:
    """Return the terms in a table with the columns english, chinese, never; several words stand beside each other."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    split = [[tuple(filter(None, row[name].split(" | "))) for name in ("english", "chinese", "never")] for row in rows]
    return [Term(*columns) for columns in split]


def wrong_terms(english: str, said: str, terms: Sequence[Term]) -> Iterator[str]:
    """Yield a sentence for each term of the English text that its translation does not say, or says wrongly."""
    text = bare(english, " ", " ").lower().replace("\n", " ")
    words = bare(said, " ", " ").replace("\n", "")
    present = [term for term in terms if term.stands_in(text)]
    allowed = [word for term in present for word in term.chinese]
    for term in present:
        wrong = [word for word in term.never if word in words and not any(word in other for other in allowed)]
        if wrong:
            yield f"{term.english[0]!r} is never {wrong[0]}, but {' or '.join(term.chinese)}"
        elif not any(word.lower() in words.lower() for word in term.chinese):
            yield f"{term.english[0]!r} is {' or '.join(term.chinese)}"
