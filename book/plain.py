"""MyST Markdown to the plain Markdown that every notebook program shows.

The text is cut by the parser's tokens; what is neither a directive nor a role stays as it was written.
"""

import re
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from mdit_py_plugins.colon_fence import colon_fence_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.myst_blocks import myst_block_plugin
from mdit_py_plugins.myst_role import myst_role_plugin
from myst_parser.parsers.options import TokenizeError, options_to_items

BIBLIOGRAPHY = "<!-- references -->"
DIRECTIVES = ("admonition", "figure", "explorable", "dropdown", "bibliography")
TITLED = ("admonition", "dropdown")  # whose argument is text
ROLES = ("numref", "eq", "ref", "cite:p", "cite:t")
# What may stand in a line, in the order in which it is looked for: nothing within the first three is a role.
ESCAPE, SPAN, FORMULA = r"\\.", r"(?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)", r"\$[^$\n]+\$"
INLINE = re.compile(rf"{ESCAPE}|\{{(?P<role>[a-z:]+)\}}`(?P<words>[^`]+)`|{SPAN}|{FORMULA}", re.DOTALL)
LEFT_OVER = re.compile(r"\{[a-zA-Z][\w:.-]*\}`[^`]*`?|^\W*(?::::+|```+)\{.*", re.MULTILINE)


class PlainError(ValueError):
    """What cannot be said in plain Markdown."""


@dataclass
class Plain:
    """Plain Markdown, the paths of its pictures (references that the cell still has to define), the works it cites."""

    text: str = ""
    images: list = field(default_factory=list)
    cites: list = field(default_factory=list)


PARSER = MarkdownIt("commonmark").enable("table")
for plugin in (dollarmath_plugin, colon_fence_plugin, myst_block_plugin, myst_role_plugin, footnote_plugin):
    PARSER.use(plugin)


def convert(text, numbers):
    """Return `text` as Plain; raise PlainError for what cannot be said."""
    plain = converted(text, numbers)
    check(PARSER.parse(plain.text))
    return plain


def converted(text, numbers):
    """Return `text`, which may be the inside of a directive, as Plain."""
    plain, edits = Plain(), {}
    lines = text.split("\n")
    for token in PARSER.parse(text):
        if token.type == "inline":  # the cells of a table's row stand in the same lines
            refuse(token.children)
            own = "\n".join(lines[slice(*token.map)])
            edits[tuple(token.map)] = INLINE.sub(lambda found: said(found, plain, numbers), own).split("\n")
        elif token.map and not token.type.endswith("_open"):
            replacement = convert_block(token, plain, numbers)
            if replacement is not None:
                edits[tuple(token.map)] = prefixed(lines[token.map[0]], replacement) if replacement else []
    for (first, last), replacement in sorted(edits.items(), reverse=True):
        lines[first:last] = replacement
    plain.text = "\n".join(lines).strip("\n")
    return plain


def refuse(tokens):
    """Raise PlainError for what a notebook that is read alone cannot show."""
    for token in tokens:
        refuse_unread(token)
        if token.type == "footnote_ref":
            raise PlainError("a footnote: say it in the text")
        if token.type == "image":
            raise PlainError(f"picture {token.attrGet('src')} stands in the text: make it a {{figure}}")
        if token.type == "link_open" and not token.attrGet("href").startswith(("http://", "https://", "mailto:")):
            raise PlainError(f"link to {token.attrGet('href')!r}: a notebook is read alone; use {{ref}} or an address")


def check(tokens):
    """Raise PlainError for a role or directive that is left in what was converted."""
    for token in tokens:
        refuse_unread(token)
        if token.type == "myst_role":
            raise PlainError(f"{{{token.meta['name']}}}`{token.content}` stands where it is not read")
        check(token.children or [])


def refuse_unread(token):
    """Raise PlainError for a role or directive in HTML or in a title, where no program that knows MyST reads it."""
    for text in [*map(str, token.attrs.values()), *([token.content] if token.type.startswith("html_") else [])]:
        if left := LEFT_OVER.search(text):
            raise PlainError(f"{left.group().strip()} stands where it is not read: take it out of HTML and titles")


def prefixed(line, text):
    """Return the lines of `text`, each after the list and quote marks that `line` begins with."""
    first = re.match(r"(?:[ >]|[-*+] |\d+[.)] )*", line).group()
    later = "".join(mark if mark == ">" else " " for mark in first)
    return [((later if number else first) + part).rstrip() for number, part in enumerate(text.split("\n"))]


def convert_block(token, plain, numbers):
    """Return the text that replaces a block, '' to drop it, None to keep it."""
    if token.type in ("myst_target", "myst_line_comment"):
        return ""
    if token.type == "math_block":
        return f"$$ {one_line(token.content)} $$"
    if token.type == "math_block_label":
        number = known(numbers["refs"], token.info, "label").strip("()")
        return f"$$ {one_line(token.content)} \\tag{{{number}}} $$"
    if token.type in ("colon_fence", "fence"):
        if named := opened(token):
            return directive(*named, plain, numbers)
        if token.type == "colon_fence":
            raise PlainError(f"{token.markup}{token.info} opens no directive")
    if token.type.startswith("footnote"):
        raise PlainError("a footnote: say it in the text")
    return None


def opened(token):
    """Return name, argument, options (a dict) and body of the directive that a fence opens, or None."""
    match = re.match(r"\{(\S+)\}(.*)", token.info.strip())
    if not match:
        return None
    lines = token.content.strip("\n").split("\n")
    count = next((at for at, line in enumerate(lines) if not line.startswith(":") or line[:3] == ":::"), len(lines))
    try:
        pairs, _ = options_to_items("\n".join(line[1:] for line in lines[:count]))
    except TokenizeError as error:
        raise PlainError(f"the options of {{{match[1]}}} cannot be read: {error}") from None
    return match[1], match[2].strip(), dict(pairs), "\n".join(lines[count:]).strip("\n")


def one_line(formula):
    """Return the formula on one line, so that it stands in quotes and lists too."""
    return " ".join(formula.split())


def known(table, name, what):
    """Return table[name]; raise PlainError naming `what` when there is none."""
    if name not in table:
        raise PlainError(f"unknown {what} {name!r}")
    return table[name]


def directive(name, argument, options, body, plain, numbers):
    """Return what a directive says in plain Markdown."""
    if name not in DIRECTIVES:
        raise PlainError(f"unknown directive {{{name}}}; known: {' '.join(DIRECTIVES)}")
    if name == "bibliography":
        return BIBLIOGRAPHY
    title, inner = (within(part, plain, numbers) for part in (argument if name in TITLED else "", body))
    if name == "figure":
        return figure(argument, options, inner, plain, numbers)
    if name == "explorable":
        return f"**{number_of(f'explorable {argument}', options, numbers)}** {inner}"
    if name == "dropdown":
        return f"<details>\n<summary>{PARSER.renderInline(title)}</summary>\n\n{inner}\n\n</details>"
    return "\n".join(f"> {line}".rstrip() for line in f"**{title}**\n\n{inner}".split("\n"))


def within(text, plain, numbers):
    """Return nested text converted; count its pictures and citations to `plain`."""
    inner = converted(text, numbers)
    plain.images += inner.images
    plain.cites += inner.cites
    return inner.text


def number_of(what, options, numbers):
    """Return the number of a figure or an explorable; raise PlainError if it has no name."""
    if not options.get("name"):
        raise PlainError(f"{what} has no :name:")
    return known(numbers["refs"], options["name"], "label")


def figure(path, options, caption, plain, numbers):
    """Return a picture, referred to by its path, with its number and caption below."""
    number = number_of(f"figure {path}", options, numbers)
    if not options.get("alt"):
        raise PlainError(f"figure {path} has no :alt:")
    plain.images.append(path)
    words = re.sub(r"([\[\]\\])", r"\\\1", " ".join(options["alt"].split()))  # its brackets end no alternative text
    return f"![{words}][{path}]\n\n**{number}** {caption}".strip()


def said(found, plain, numbers):
    """Return what a match of INLINE says in plain Markdown: a role its words, all else itself."""
    if not found["role"]:
        return found.group()
    name, content = found["role"], " ".join(found["words"].split())
    if name not in ROLES:
        raise PlainError(f"unknown role {{{name}}}`{content}`; known: {' '.join(ROLES)}")
    if name.startswith("cite:"):
        return cite(name[-1], cited(content), plain, numbers)
    words, _, target = re.fullmatch(r"(?:(.*?)\s*(<))?([^<>]+)>?", content).groups()
    title = known(numbers["refs"], target, "label")
    if name == "ref":
        slug = next((slug for slug, section in numbers["sections"].items() if section["title"] == title), None)
        return f"[{words or title}]({slug}.ipynb)" if slug else words or title
    if words:
        raise PlainError(f"{{{name}}}`{content}`: write the number alone, {{{name}}}`{target}`")
    return title


def cited(content):
    """Return the keys that a citation names."""
    return [key.strip() for key in content.split(",")]


def cite(form, keys, plain, numbers):
    """Return a citation, in parentheses (`form` 'p') or as part of the sentence ('t')."""
    texts = [known(numbers["cites"], key, "work")[form] for key in keys]
    plain.cites += keys
    return f"({'; '.join(texts)})" if form == "p" else ", ".join(texts)


def references(keys, numbers):
    """Return the list of the cited works in the order of the bibliography."""
    return "\n".join(f"* {text}" for key, text in numbers["bibliography"].items() if key in keys)


def outline(text):
    """Return all of a text that numbers depend on, as a list: headings, labels, figures, equations and citations."""
    tokens, found = PARSER.parse(text), []
    for before, token in zip([None, *tokens], tokens, strict=False):
        if before and before.type == "heading_open":
            found.append([before.tag, token.content])
        elif token.type in ("myst_target", "math_block_label"):
            found.append([token.type, token.content if token.type == "myst_target" else token.info])
        elif token.type in ("colon_fence", "fence") and (named := opened(token)):
            name, argument, options, body = named
            found.append([name, options, bool(body), outline(argument if name != "figure" else ""), outline(body)])
        for child in token.children or []:
            if child.type == "myst_role" and child.meta["name"].startswith("cite:"):
                found.append(["cite", *cited(child.content.strip("`"))])
    return found
