"""MyST Markdown to the plain Markdown that every notebook program shows.

The text is cut by the parser's tokens; what is neither a directive nor a role stays as it was written.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from markdown_it.token import Token

from book.myst import INLINE, PARSER, TITLED, Directive, PlainError, cited_keys, read_directive
from book.words import say

BIBLIOGRAPHY = "<!-- references -->"
DIRECTIVES = ("admonition", "figure", "explorable", "dropdown", "bibliography")
ROLES = ("numref", "eq", "ref", "doc", "cite:p", "cite:t")
LEFT_OVER = re.compile(r"\{[a-zA-Z][\w:.-]*\}`[^`]*`?|^\W*(?::::+|```+)\{.*", re.MULTILINE)


@dataclass
class Plain:
    """Plain Markdown, the paths of its pictures (references that the cell still has to define), the works it cites."""

    text: str = ""
    answers: bool = True
    images: list[str] = field(default_factory=list)
    cites: list[str] = field(default_factory=list)


def convert(text: str, numbers: dict[str, Any], answers: bool = True) -> Plain:
    """Return a cell's MyST Markdown as plain Markdown; PlainError for what that cannot say.

    `numbers` is what the first pass of Sphinx found: what labels and citations are called. `answers` tells whether the
    folds titled "Answer" are in it.
    """
    plain = convert_nested(text, numbers, answers)
    check(PARSER.parse(plain.text))
    return plain


def convert_nested(text: str, numbers: dict[str, Any], answers: bool = True) -> Plain:
    """Return `text`, which may be the inside of a directive, as Plain."""
    plain = Plain(answers=answers)
    edits: dict[tuple[int, int], list[str]] = {}
    lines = text.split("\n")

    def replace(found: re.Match[str]) -> str:
        return replace_inline(found, plain, numbers)

    for token in PARSER.parse(text):
        if not token.map:
            continue
        first, last = token.map
        if token.type == "inline":  # the cells of a table's row stand in the same lines
            refuse(token.children or [])
            edits[first, last] = INLINE.sub(replace, "\n".join(lines[first:last])).split("\n")
        elif not token.type.endswith("_open"):
            replacement = convert_block(token, plain, numbers)
            if replacement is not None:
                edits[first, last] = prefixed(lines[first], replacement) if replacement else []
    for (first, last), new_lines in sorted(edits.items(), reverse=True):
        lines[first:last] = new_lines
    plain.text = "\n".join(lines).strip("\n")
    return plain


def refuse(tokens: Sequence[Token]) -> None:
    """Raise PlainError for what a notebook that is read alone cannot show."""
    for token in tokens:
        refuse_unread(token)
        if token.type == "footnote_ref":
            raise PlainError("a footnote: say it in the text")
        if token.type == "image":
            raise PlainError(f"picture {token.attrGet('src')} stands in the text: make it a {{figure}}")
        address = str(token.attrGet("href"))
        if token.type == "link_open" and not address.startswith(("http://", "https://", "mailto:")):
            raise PlainError(f"link to {address!r}: a notebook is read alone; use {{ref}} or an address")


def check(tokens: Sequence[Token]) -> None:
    """Raise PlainError for a role or directive that is left in what was converted."""
    for token in tokens:
        refuse_unread(token)
        if token.type == "myst_role":
            raise PlainError(f"{{{token.meta['name']}}}`{token.content}` stands where it is not read")
        check(token.children or [])


def refuse_unread(token: Token) -> None:
    """Raise PlainError for a role or directive in HTML or in a title, where no program that knows MyST reads it."""
    texts = [str(value) for value in token.attrs.values()]
    if token.type.startswith("html_"):
        texts.append(token.content)
    for text in texts:
        left = LEFT_OVER.search(text)
        if left:
            raise PlainError(f"{left.group().strip()} stands where it is not read: take it out of HTML and titles")


def prefixed(line: str, text: str) -> list[str]:
    """Return the lines of `text`, each after the list and quote marks that `line` begins with."""
    marks = re.match(r"(?:[ >]|[-*+] |\d+[.)] )*", line)
    first = marks.group() if marks else ""
    later = "".join(mark if mark == ">" else " " for mark in first)
    return [((later if number else first) + part).rstrip() for number, part in enumerate(text.split("\n"))]


def convert_block(token: Token, plain: Plain, numbers: dict[str, Any]) -> str | None:
    """Return the text that replaces a block, '' to drop it, None to keep it."""
    if token.type in ("myst_target", "myst_line_comment"):
        return ""
    if token.type == "math_block":
        return f"$$ {one_line(token.content)} $$"
    if token.type == "math_block_label":
        number = look_up(numbers["refs"], token.info, "label").strip("()")
        return f"$$ {one_line(token.content)} \\tag{{{number}}} $$"
    if token.type in ("colon_fence", "fence"):
        directive = read_directive(token)
        if directive:
            return convert_directive(directive, plain, numbers)
        if token.type == "colon_fence":
            raise PlainError(f"{token.markup}{token.info} opens no directive")
    if token.type.startswith("footnote"):
        raise PlainError("a footnote: say it in the text")
    return None


def one_line(formula: str) -> str:
    """Return the formula on one line, so that it stands in quotes and lists too."""
    return " ".join(formula.split())


def look_up(table: dict[str, Any], name: str, what: str) -> Any:
    """Return table[name]; raise PlainError naming `what` when there is none."""
    if name not in table:
        raise PlainError(f"unknown {what} {name!r}")
    return table[name]


def convert_directive(directive: Directive, plain: Plain, numbers: dict[str, Any]) -> str:
    """Return what a directive says in plain Markdown; count its pictures and citations to `plain`."""
    name, argument = directive.name, directive.argument
    if name not in DIRECTIVES:
        raise PlainError(f"unknown directive {{{name}}}; known: {' '.join(DIRECTIVES)}")
    if name == "bibliography":
        return BIBLIOGRAPHY
    if name == "dropdown" and argument == "Solution":
        raise PlainError('a fold titled "Solution": make it a cell tagged solution')
    if name == "dropdown" and argument == say("Answer") and not plain.answers:
        return ""
    title = convert_nested(argument if name in TITLED else "", numbers)
    body = convert_nested(directive.body, numbers, plain.answers)
    plain.images += title.images + body.images
    plain.cites += title.cites + body.cites
    if name == "figure":
        return figure(directive, body.text, plain, numbers)
    if name == "explorable":
        return f"**{number_of(f'explorable {argument}', directive.options, numbers)}** {body.text}"
    if name == "dropdown":
        return details(PARSER.renderInline(title.text), body.text)
    return "\n".join(f"> {line}".rstrip() for line in f"**{title.text}**\n\n{body.text}".split("\n"))


def details(title: str, text: str) -> str:
    return f"<details>\n<summary>{title}</summary>\n\n{text}\n\n</details>"


def number_of(what: str, options: dict[str, str], numbers: dict[str, Any]) -> str:
    """Return the number of a figure or an explorable; raise PlainError if it has no name."""
    if not options.get("name"):
        raise PlainError(f"{what} has no :name:")
    return look_up(numbers["refs"], options["name"], "label")


def figure(directive: Directive, caption: str, plain: Plain, numbers: dict[str, Any]) -> str:
    """Return a picture, referred to by its path, with its number and caption below."""
    path, options = directive.argument, directive.options
    number = number_of(f"figure {path}", options, numbers)
    if not options.get("alt"):
        raise PlainError(f"figure {path} has no :alt:")
    plain.images.append(path)
    words = re.sub(r"([\[\]\\])", r"\\\1", " ".join(options["alt"].split()))  # its brackets end no alternative text
    return f"![{words}][{path}]\n\n**{number}** {caption}".strip()


def replace_inline(found: re.Match[str], plain: Plain, numbers: dict[str, Any]) -> str:
    """Return what a match of INLINE is replaced by: a role by its words, all else by itself."""
    if not found["role"]:
        return found.group()
    name, content = found["role"], " ".join(found["words"].split())
    if name not in ROLES:
        raise PlainError(f"unknown role {{{name}}}`{content}`; known: {' '.join(ROLES)}")
    if name.startswith("cite:"):
        return cite(name[-1], cited_keys(content), plain, numbers)
    titled = re.fullmatch(r"(.*?)\s*<([^<>]+)>", content)
    words, target = titled.groups() if titled else ("", content)
    if name == "doc":
        section = look_up(numbers["sections"], target.removeprefix("/"), "section")
        return f"[{words or section['title']}]({target.removeprefix('/')}.ipynb)"
    title = look_up(numbers["refs"], target, "label")
    if name == "ref":
        slug = next((slug for slug, section in numbers["sections"].items() if section["title"] == title), None)
        return f"[{words or title}]({slug}.ipynb)" if slug else words or title
    if words:
        raise PlainError(f"{{{name}}}`{content}`: write the number alone, {{{name}}}`{target}`")
    return title


def cite(form: str, keys: Sequence[str], plain: Plain, numbers: dict[str, Any]) -> str:
    """Return a citation, in parentheses (`form` 'p') or as part of the sentence ('t')."""
    texts = [look_up(numbers["cites"], key, "work")[form] for key in keys]
    plain.cites += keys
    return say("({works})", works=say("; ").join(texts)) if form == "p" else say(", ").join(texts)


def references(keys: Collection[str], numbers: dict[str, Any]) -> str:
    """Return the list of the cited works in the order of the bibliography."""
    return "\n".join(f"* {text}" for key, text in numbers["bibliography"].items() if key in keys)
