"""The words of a drawing in the language of its reader. Standard library only: pages use it too.

A figure is drawn in English. Its SVG holds text as text, which is translated where the drawing is shown.
"""

import re
from collections.abc import Callable
from html import escape, unescape

from d2l_lab.instruments.display import columns

# What the drawings of this package say, in their labels and alternative texts.
OURS = (
    *("time in {unit}", "milliseconds a step", "a step", "saved", "promised", "left out", "curve {number}"),
    *("Plot of {y} over {x}", "Timeline of {time}", "Timeline “{title}” of {time}"),
    *("Waterfall of the milliseconds a step", "promised {time}", "{total} in all"),
    *("{kind} from {start} to {end}", "{count} × {kind} between {start} and {end}"),
)
JOINTS = {". ": "。", "; ": "；", ": ": "：", ", ": "，"}  # between the parts of a text, the outermost first
HAN_BESIDE_LATIN = re.compile(r"(?<=[A-Za-z0-9])(?=[\u4e00-\u9fff])|(?<=[\u4e00-\u9fff])(?=[A-Za-z0-9])")
TEXT = re.compile(r"(<text\b[^>]*>)([^<]+)(?=</text>)")
LEGEND = re.compile(r'(?=<g id="legend_)')
FRAME = re.compile(r'(?<=<path d=")M [^"]*Q [^"]*')  # with round corners, as nothing else in a legend
ENTRY = re.compile(r'<text style="[^"]*font-size: ([\d.]+)px[^"]*" x="([\d.]+)"[^>]*>([^<]*)</text>')
POINT = re.compile(r"([\d.]+) ([\d.]+)")
PADDING = 4  # between a legend's longest line and its frame, which is drawn for the English words


def in_words(svg: str, say: Callable[[str], str], language: str = "") -> str:
    """Return a drawing in the words that `say` has for its labels, marked as being in a language (BCP 47)."""
    found = TEXT.sub(lambda text: text[1] + escape(phrase(unescape(text[2]), say), quote=False), svg)
    if found == svg:
        return svg
    found = "".join(map(fitted, LEGEND.split(found)))
    return found.replace("<svg ", f'<svg xml:lang="{language}" ', 1) if language else found


def phrase(text: str, say: Callable[[str], str]) -> str:
    """Return a label or an alternative text in other words: `say` is asked for its smallest parts."""
    if text.endswith("."):
        words = phrase(text[:-1], say)
        return text if words == text[:-1] else f"{words}。"
    for joint, wide in JOINTS.items():
        if joint in text:
            parts = text.split(joint)
            words = wide.join(phrase(part, say) for part in parts)
            return text if words == wide.join(parts) else words
    words = say(text)
    return text if words == text else HAN_BESIDE_LATIN.sub(" ", words)


def fitted(legend: str) -> str:
    """Return the SVG of a legend in one column with its frame as wide as its words, any other text as it is."""
    entries = [(float(size), float(x), unescape(words)) for size, x, words in ENTRY.findall(legend)]
    frame = FRAME.search(legend)
    if not legend.startswith("<g id=") or not frame or len({round(x) for _, x, _ in entries}) != 1:
        return legend
    xs = [float(x) for x, _ in POINT.findall(frame[0])]
    middle, right = sum(xs) / len(xs), max(xs)
    shift = max(x + width(words) * size for size, x, words in entries) + PADDING - right

    def moved(point: re.Match[str]) -> str:
        x = float(point[1])
        return f"{x + shift if x > middle else x:.6g} {point[2]}"

    return legend[: frame.start()] + POINT.sub(moved, frame[0]) + legend[frame.end() :]


def width(words: str) -> float:
    """Return about how many em a text is wide: Chinese characters are squares, letters 0.6 em wide."""
    wide = columns(words) - len(words)
    return 0.6 * (len(words) - wide) + wide
