"""Slips against the rules of Chinese punctuation and spacing."""

import re

from book.myst import INLINE
from book.translations.faults import FIELD
from book.translations.units import HAN, join_lines

LATIN = r"A-Za-z0-9µͰ-Ͽ"
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
TITLE = re.compile(r"(.*?)\s*<[^<>]+>", re.DOTALL)  # the text of a role before its target
CALL = re.compile(rf"[A-Za-z_][\w.]*\([^(){HAN}]*\)", re.ASCII)  # code in an alternative text, which has no code spans
NUMBER = r"[\w.]+(?: [-+/*] [\w.]+)*"
SHAPE = re.compile(rf"\((?:{NUMBER}, )+{NUMBER}\)|\(\w+ [-+] \w+\)", re.ASCII)  # stands as code does
OPEN = "\ufffc"  # stands for what is filled in, with its own punctuation
WIDE = "，。；：？！、（）“”《》"
BEFORE_ROLE = re.compile(r"\S* +\{(?:numref|cite:p)\}`[^`]*`")

RULES = {
    rf"[{HAN}][{LATIN}]|[{LATIN}][{HAN}]": "no space between Chinese and Latin letters, digits, code or a formula",
    rf"[{HAN}] +[{HAN}]": "a space between Chinese characters",
    rf" [{WIDE}]|[{WIDE}] ": "a space beside full-width punctuation",
    rf"[{HAN}]  |  [{HAN}]": "two spaces",
    rf"[{HAN}] *[,;:!?]|[,;:!?] *[{HAN}]": "half-width punctuation: write one of ，；：！？",
    rf"[{HAN}] *\.|[\w)](?<!et al)\.(?= [{HAN}]|$)": "a half-width full stop: write 。",
    rf"[{HAN}] *\(|\([^()]*[{HAN}][^()]*\)|\) *[{HAN}]": "half-width brackets: write （ and ）",
    rf'"|[{HAN}]\'|\'[{HAN}]': "straight quotation marks: write “ and ”",
    r"[０-９Ａ-Ｚａ-ｚ％]": "full-width letters, digits or percent signs: write half-width ones",
}


def slips(msgstr: str) -> list[str]:
    """Return each slip in a Chinese translation, with the characters around it."""
    if not re.search(f"[{HAN}]", msgstr):
        return []
    joined = join_lines(msgstr)
    text = SHAPE.sub("M", plain_text(joined)).replace("\n", " ")
    result = [f"a space before {found.group().strip()!r}" for found in BEFORE_ROLE.finditer(joined)]
    for pattern, rule in RULES.items():
        for found in re.finditer(pattern, text):
            result.append(f"{rule} (…{text[max(0, found.start() - 6) : found.end() + 6]}…)")
    return result


def plain_text(text: str, code: str = "C", formula: str = "M") -> str:
    """Return a text without markup: with its links' and roles' own words, and with stand-ins for code and formulas."""

    def replace(found: re.Match[str]) -> str:
        if found["role"]:
            title = TITLE.fullmatch(found["words"])
            return title[1] if title else OPEN
        if found["ticks"]:
            return code
        return formula if found.group().startswith("$") else ""

    without_markup = LINK.sub(r"\1", INLINE.sub(replace, text)).replace("*", "")
    return FIELD.sub(OPEN, SHAPE.sub(code, CALL.sub(code, without_markup)))
