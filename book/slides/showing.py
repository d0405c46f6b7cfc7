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

from book.formulas import mathml
from book.outputs import CLAIM, PREDICTION, RUNNING_TOTAL, unrepeated
from book.records import HEAD, LEFT_OUT, TOTAL_HEAD, comparison_of, figures, scale, total_figures
from d2l_utils.claims import MARKS

Output = dict[str, Any]
TAG = re.compile(r"\\tag\{[^}]*\}")  # the number of an equation, which a slide has no room for
MESSAGE = 200  # letters in a line that no cell of ours prints
OTHER = re.compile(r"([\w-]+)\.ipynb")


def formula(tex: str, options: dict[str, Any]) -> str:
    """Return a formula as MathML."""
    return mathml(TAG.sub("", tex).strip(), options["display_mode"])


class Reader(MarkdownIt):
    """A parser that also takes pictures that lie in the text as SVG: it is our own."""

    def validateLink(self, url: str) -> bool:  # noqa: N802  (the base class names it)
        """Accept each address."""
        return True


def parser() -> MarkdownIt:
    """Return the parser of the readers' notebooks: plain Markdown whose pictures are in it."""
    markdown = Reader("commonmark", {"html": True}).enable("table")
    markdown.use(dollarmath_plugin, renderer=formula)
    return markdown


MARKDOWN = parser()


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
        inline = tokens[max(0, number - 1) : number + 2]
        if not any(is_picture(near) for near in inline) or token.type not in (
            "paragraph_open",
            "inline",
            "paragraph_close",
        ):
            yield token


def html(tokens: Iterable[Token]) -> str:
    """Return tokens as HTML."""
    return MARKDOWN.renderer.render(list(tokens), MARKDOWN.options, {})


def table(klass: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose cells are HTML; the first of a row names it."""
    titles = "".join(f'<th scope="col">{escape(title)}</th>' for title in head)
    lines = []
    for name, *cells in rows:
        found = "".join(f"<td>{cell}</td>" for cell in cells)
        lines.append(f'<tr><th scope="row">{name}</th>{found}</tr>')
    return f'<table class="{klass}"><thead><tr>{titles}</tr></thead><tbody>{"".join(lines)}</tbody></table>'


def comparisons(records: Sequence[dict[str, Any]]) -> str:
    """Return predictions beside their measurements as a table."""
    rows = []
    for comparison in map(comparison_of, records):
        kind = "" if comparison.kind == "model" else f' <span class="kind">{comparison.kind}</span>'
        note = f' <span class="note">{escape(comparison.note)}</span>' if comparison.note else ""
        rows.append([escape(comparison.name) + kind + note, *map(escape, figures(comparison)), scale(comparison)])
    return table("comparisons", HEAD, rows)


def claims(records: Sequence[dict[str, Any]]) -> str:
    """Return claims, a line each with its mark."""
    lines = []
    for record in records:
        evidence = f' <span class="evidence">({escape(record["evidence"])})</span>' if record["evidence"] else ""
        lines.append(f'<p class="claim">{MARKS[record["held"]]} {escape(record["sentence"])}{evidence}</p>')
    return "".join(lines)


def totals(records: Sequence[dict[str, Any]]) -> str:
    """Return running totals, each as a table."""
    tables = []
    for record in records:
        rows = [
            [escape(each["lever"]) + ("" if each["kept"] else f' <span class="kind">{LEFT_OUT}</span>'), *cells]
            for each, cells in total_figures(record["rows"])
        ]
        tables.append(table("promises", TOTAL_HEAD, rows))
    return "".join(tables)


RECORDS = {PREDICTION: comparisons, CLAIM: claims, RUNNING_TOTAL: totals}


def record_type(output: Output) -> str:
    """Return the MIME type of the record that an output holds, "" if it holds none."""
    return next((mime for mime in RECORDS if mime in output.get("data", {})), "")


def shown(outputs: Sequence[Output], alt: str) -> list[Output]:
    """Return the outputs of a cell as a deck shows them.

    Neighbouring records of a kind become one table, a picture an element with its alternative text `alt` unless its
    maker gave it one, and what went to the standard error is left out.
    """
    found: list[Output] = []
    for mime, group in groupby(unrepeated(outputs), record_type):
        if mime:
            found.append(displayed(RECORDS[mime]([output["data"][mime] for output in group])))
            continue
        for output in group:
            data = output.get("data", {})
            if output.get("name") == "stderr":
                continue
            if "image/svg+xml" in data:
                about = output["metadata"].get("image/svg+xml", {}).get("alt") or alt
                found.append(displayed(picture("".join(data["image/svg+xml"]), about)))
            elif "text/markdown" in data:
                found.append(displayed(html(unfolded(parsed("".join(data["text/markdown"]))))))
            elif "text/plain" in data:
                found.append(printed("".join(data["text/plain"])))
            elif "text" in output:
                found.append(printed(without_messages("".join(output["text"]))))
            else:
                found.append(output)
    return [output for output in found if output.get("text", "…").strip()]


def without_messages(text: str) -> str:
    """Return what a cell printed without the paragraphs that a library writes to its users, each in one long line."""
    return "\n".join(line for line in text.split("\n") if len(line) <= MESSAGE)


def printed(text: str) -> Output:
    """Return an output of text."""
    return {"output_type": "stream", "name": "stdout", "text": text}


def displayed(content: str) -> Output:
    """Return an output that displays HTML."""
    return {"output_type": "display_data", "metadata": {}, "data": {"text/html": content}}


def picture(svg: str, alt: str) -> str:
    """Return a drawing that keeps to itself what it defines."""
    data = base64.b64encode(svg.encode()).decode()
    return f'<p class="picture"><img src="data:image/svg+xml;base64,{data}" alt="{escape(alt)}"></p>'
