"""MyST Markdown as the sources have it: the parser of its blocks, what may stand in a line, directives."""

import re
from dataclasses import dataclass
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.colon_fence import colon_fence_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.myst_blocks import myst_block_plugin
from mdit_py_plugins.myst_role import myst_role_plugin
from myst_parser.parsers.options import TokenizeError, options_to_items

PARSER = MarkdownIt("commonmark").enable("table")
for plugin in (dollarmath_plugin, colon_fence_plugin, myst_block_plugin, myst_role_plugin, footnote_plugin):
    PARSER.use(plugin)
TITLED = ("admonition", "dropdown")  # whose argument is text
# What may stand in a line, in the order in which it is looked for: nothing within the first three is a role.
ESCAPE, SPAN, FORMULA = r"\\.", r"(?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)", r"\$[^$\n]+\$"
INLINE = re.compile(rf"{ESCAPE}|\{{(?P<role>[a-z:]+)\}}`(?P<words>[^`]+)`|{SPAN}|{FORMULA}", re.DOTALL)


class PlainError(ValueError):
    """What cannot be read, or not be expressed in plain Markdown."""


@dataclass
class Directive:
    """A directive as it stands in the text: `body` is all of it after its options."""

    name: str
    argument: str
    options: dict[str, str]
    body: str


def read_directive(token: Token) -> Directive | None:
    """Return the directive that a fence opens, or None where it opens none."""
    match = re.match(r"\{(\S+)\}(.*)", token.info.strip())
    if not match:
        return None
    lines = token.content.strip("\n").split("\n")
    count = 0
    while count < len(lines) and lines[count].startswith(":") and not lines[count].startswith(":::"):
        count += 1
    try:
        pairs, _ = options_to_items("\n".join(line[1:] for line in lines[:count]))
    except TokenizeError as error:
        raise PlainError(f"the options of {{{match[1]}}} cannot be read: {error}") from None
    return Directive(match[1], match[2].strip(), dict(pairs), "\n".join(lines[count:]).strip("\n"))


def cited_keys(content: str) -> list[str]:
    return [key.strip() for key in content.split(",")]


def outline(text: str) -> list[Any]:
    """Return all of a text that numbers depend on: headings, labels, figures, equations and citations."""
    tokens = PARSER.parse(text)
    found: list[Any] = []
    for before, token in zip([None, *tokens], tokens, strict=False):
        if before and before.type == "heading_open":
            found.append([before.tag, token.content])
        elif token.type == "myst_target":
            found.append([token.type, token.content])
        elif token.type == "math_block_label":
            found.append([token.type, token.info])
        elif token.type in ("colon_fence", "fence"):
            directive = read_directive(token)
            if directive:  # a figure's argument is a path, any other's may be text
                title = "" if directive.name == "figure" else directive.argument
                inside = [bool(directive.body), outline(title), outline(directive.body)]
                found.append([directive.name, directive.options, *inside])
        for child in token.children or []:
            if child.type == "myst_role" and child.meta["name"].startswith("cite:"):
                found.append(["cite", *cited_keys(child.content.strip("`"))])
    return found
