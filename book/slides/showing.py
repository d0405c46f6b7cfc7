"""What a slide shows, as HTML: text, code's outputs, predictions beside their measurements. Pure functions."""

import base64
import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

from book.cells import short_hash
from book.formulas import mathml
from book.fragments import contained, drawing
from book.outputs import presentable
from book.record_html import HTML

Output = dict[str, Any]
TAG = re.compile(r"\\tag\{[^}]*\}")  # the number of an equation, which a slide has no room for
MESSAGE = 200  # letters in a line that no cell of ours prints
OTHER = re.compile(r"([\w-]+)\.ipynb")


def formula(tex: str, options: dict[str, Any]) -> str:
    return mathml(TAG.sub("", tex).strip(), options["display_mode"])


class Reader(MarkdownIt):
    """A parser that also takes pictures that lie in the text as SVG: it is our own."""

    def validateLink(self, url: str) -> bool:  # noqa: N802  (the base class names it)
        return True


# The parser of the readers' notebooks: plain Markdown whose pictures are in it.
MARKDOWN = Reader("commonmark", {"html": True}).enable("table").use(dollarmath_plugin, renderer=formula)


def parsed(text: str) -> list[Token]:
    """Return the tokens of a text: a paragraph that is a picture has a class, links lead to decks."""
    tokens = MARKDOWN.parse(text)
    for before, token in zip(tokens, tokens[1:], strict=False):
        for child in token.children or []:
            other = OTHER.fullmatch(str(child.attrGet("href")))
            if other:
                child.attrSet("href", f"{other[1]}.html")
        if is_picture(token):
            before.attrJoin("class", "picture")
    return tokens


def is_picture(token: Token) -> bool:
    """Tell whether a paragraph holds a picture and nothing else."""
    return [child.type for child in token.children or []] == ["image"]


def unfolded(tokens: Iterable[Token]) -> Iterator[Token]:
    """Yield the tokens outside of folds, which hold answers and what may be left out."""
    depth = 0
    for token in tokens:
        if token.type == "html_block":
            depth += token.content.count("<details") - token.content.count("</details>")
            if depth or "</details>" in token.content:
                continue
        if not depth:
            yield token


def unpictured(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield the tokens of a text without its pictures: a speaker sees them on the slide."""
    for number, token in enumerate(tokens):
        near = tokens[max(0, number - 1) : number + 2]
        paragraph = token.type in ("paragraph_open", "inline", "paragraph_close")
        if not paragraph or not any(map(is_picture, near)):
            yield token


def html(tokens: Iterable[Token]) -> str:
    return MARKDOWN.renderer.render(list(tokens), MARKDOWN.options, {})


def record_type(output: Output) -> str:
    """Return the MIME type of the record that an output holds, "" if it holds none."""
    return next((mime for mime in HTML if mime in output.get("data", {})), "")


def shown(outputs: Sequence[Output], alt: str) -> list[Output]:
    """Return the outputs of a cell as a deck shows them; `alt` stands for a picture whose maker gave it no words.

    Neighbouring records of a kind become one table, and what went to the standard error is left out.
    """
    found: list[Output] = []
    for mime, group in groupby(presentable(outputs), record_type):
        if mime:
            found.append(displayed(HTML[mime]([output["data"][mime] for output in group])))
            continue
        for output in group:
            data = output.get("data", {})
            if output.get("name") == "stderr":
                continue
            if "image/svg+xml" in data:
                about = output["metadata"].get("image/svg+xml", {}).get("alt") or alt
                found.append(displayed(picture(drawing("".join(data["image/svg+xml"])), about)))
            elif "text/markdown" in data:
                content = html(unfolded(parsed("".join(data["text/markdown"]))))
                found.append(displayed(contained(content, short_hash("m", content), alt)))
            elif "text/html" in data:
                content = "".join(data["text/html"])
                found.append(displayed(contained(content, short_hash("h", content), alt)))
            elif "text/plain" in data:
                found.append(printed("".join(data["text/plain"])))
            elif "text" in output:
                # Without what a library writes to its users, each paragraph in one long line.
                lines = "".join(output["text"]).split("\n")
                found.append(printed("\n".join(line for line in lines if len(line) <= MESSAGE)))
            else:
                found.append(output)
    return [output for output in found if output.get("text", "…").strip()]


def printed(text: str) -> Output:
    return {"output_type": "stream", "name": "stdout", "text": text}


def displayed(content: str) -> Output:
    return {"output_type": "display_data", "metadata": {}, "data": {"text/html": content}}


def picture(svg: str, alt: str) -> str:
    """Return a drawing that keeps to itself what it defines."""
    data = base64.b64encode(svg.encode()).decode()
    return f'<p class="picture"><img src="data:image/svg+xml;base64,{data}" alt="{escape(alt)}"></p>'
