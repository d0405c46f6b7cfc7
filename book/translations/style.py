"""The house style of the Chinese book, as far as a program can hold it: figures, shapes, and words that mislead."""

import re

from book.translations.punctuation import plain_text
from book.translations.units import HAN, join_lines

RULES = {
    "percent": (r"\d %", "no space before %: 95%"),
    "times": (r"\d ×(?! ?[A-Za-z0-9(]| 表示)", "× stands in outputs alone: write 倍"),
    "thousands": (
        r"(?<![\d,.])\d,\d{3}(?![\d,])|(?<![\w-])\d{1,3} \d{3}(?!\d)",
        "four digits have no comma, more have: 1000, 10,000",
    ),
    "shape": (r"（\d+(?:，|, ?)(?:\d+(?:，|, ?))*\d*）", "a shape stands in half-width brackets: (128, 4)"),
    "date": (r"\d[年月日]|[年月]\d", "a date has spaces: 2026 年 11 月 26 日"),
    "predict": (r"^预测。", "a colon after the word at the head: **预测**："),
    "ahead": (r"提前运行", "the front end does not start early: write 抢先往下执行, or who is ahead of whom"),
    "sum": (
        rf"份和(?![{HAN}])|[把份次](?:所得的?|得到的)?和(?=[再从发送传交给]|[，。；：]|$)|发送(?:\w次)?和(?=[，。；])|[大小]的和(?![{HAN}])",
        "和 alone is read as a conjunction: write 总和, 部分和 or 求和的结果",
    ),
}


def habits(msgstr: str, rules: frozenset[str] = frozenset(RULES)) -> list[str]:
    """Return each slip of a translation against these rules, with the characters around it."""
    text = plain_text(join_lines(msgstr)).replace("\n", " ")
    return [
        f"{RULES[name][1]} (…{text[max(0, found.start() - 6) : found.end() + 6]}…)"
        for name in RULES
        if name in rules
        for found in re.finditer(RULES[name][0], text)
    ]
