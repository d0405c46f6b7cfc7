"""References in a sentence: Chinese shows no capitals, so that a bare title would read as words of the sentence.

A translator writes the role alone, as English does. A title becomes “…”一节, the number of a formula 式 (1.1): not in
the rows of tables, nor a title at the head of an item or within （…）, where nothing runs into it.
"""

import re

from book.translations.units import HAN

TITLE = r"\{(?:ref|doc)\}`(?P<target>[^`<>]+)`"  # one with words of its own says what it wants
REFERENCE = re.compile(TITLE)
NEXT = rf"(?:、|[ \n]?[和与或][ \n]?){TITLE.replace('?P<target>', '?:')}"
RUN = re.compile(rf"(?:(?<=[\w`$}}]) )?{TITLE}(?:{NEXT})* ?")
FORMULA = re.compile(rf"(?P<before>(?<=[{HAN}*]) |)(?P<role>\{{eq\}}`[^`]+`)")
CALLED = re.compile(r"”|(?:这|那|本|该)?[一两几各]*(?:节|页)")  # a translator has said what it is
COUNTED = {1: "一", 2: "两"}
BACK = re.compile(r"/?back/|api\b")  # pages that are no sections


def in_sentences(text: str) -> str:
    """Return a translated text with its references as a sentence shows them."""
    return text if text.startswith("|") else RUN.sub(quoted, FORMULA.sub(numbered, text))


def quoted(run: re.Match[str]) -> str:
    """Return titles that stand side by side in quotation marks, with what they are called."""
    before, after = run.string[: run.start()], run.string[run.end() :]
    at_head = not before and after.startswith("：")
    if at_head or before.endswith(("“", "*")) or after.startswith("*") or before.count("（") > before.count("）"):
        return run.group()
    targets = [found["target"] for found in REFERENCE.finditer(run.group())]
    titles = re.sub(r"[ \n]", "", REFERENCE.sub(lambda found: f"“{found.group()}”", run.group()))
    if CALLED.match(after):
        return titles
    return titles + COUNTED.get(len(targets), "各") + ("页" if all(map(BACK.match, targets)) else "节")


def numbered(found: re.Match[str]) -> str:
    """Return a reference to a formula behind 式, unless that stands there."""
    called = re.search(r"[式]\**\Z", found.string[: found.start()])
    return found.group() if called else f"式 {found['role']}"
