"""The API reference, from the docstrings of d2l_utils and d2l_lab, which griffe reads without importing anything.

```{api} Timer measure
```

shows these names with parameters and docstrings: what the protocols say of all frameworks, then what each adds.
"""

import ast
from functools import cache
from itertools import groupby
from typing import Any

import griffe
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from book import FRAMEWORKS, MODULES, ROOT
from book.layout import own_files
from book.pages.single_framework import mark

RESULTS = (griffe.DocstringSectionKind.returns, griffe.DocstringSectionKind.yields)
STARS = {griffe.ParameterKind.var_positional: "*", griffe.ParameterKind.var_keyword: "**"}


@cache
def packages() -> Any:
    """Return our packages, whose modules and members are found by their names with dots."""
    loader = griffe.GriffeLoader(search_paths=[ROOT], allow_inspection=False)
    loader.load("d2l_utils")
    loader.load("d2l_lab")
    loader.resolve_aliases()
    return loader.modules_collection


@cache
def contracts() -> dict[str, Any]:
    """Return what each framework's module defines by itself, as the protocols say it of all of them."""
    asked = packages()["d2l_lab.protocol.Framework"].members
    return asked | packages()["d2l_utils.d2l_names.protocol.D2LNames"].members


@cache
def known() -> list[str]:
    """Return the names of each framework's module, which d2l_utils/common.py lists, and after them D2L's."""
    common, lists = packages()["d2l_utils.common"], ("__all__", "DEVICES", "NETWORKS", "D2L_NAMES")
    return [name for part in lists for name in ast.literal_eval(str(common[part].value))]


class Api(SphinxDirective):
    """A definition list of names that the modules of all frameworks export."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        for folder in ("d2l_utils", "d2l_lab"):
            for path in own_files(ROOT / folder, "**/*.py"):
                self.env.note_dependency(path)
        names = self.arguments[0].split()
        for name in names:
            if name not in known():
                raise self.error(f"d2l has no {name}; known: {' '.join(known())}")
        (listed,) = self.parse_text_to_nodes("\n\n".join(described(name) for name in names))
        listed["classes"].append("api")
        for name, entry in zip(names, listed, strict=True):
            entry[0]["ids"].append(nodes.make_id(f"d2l-{name}"))
        mark(listed.findall(nodes.list_item))
        return [listed]


def described(name: str) -> str:
    """Return the Markdown of a name: an entry of a definition list."""
    folder = packages()["d2l_utils"]
    if name in folder["d2l_names"][next(iter(MODULES.values()))].members:
        folder = folder["d2l_names"]
    found = {framework: folder[module][name] for framework, module in MODULES.items()}
    item = next(iter(found.values()))
    shared = blocks(contracts().get(name, item))
    lines = [*shared, *methods(item)]
    for framework, own in found.items():
        added = [part.removeprefix("* ") for part in blocks(own) if part not in shared]
        if added:
            lines.append(f"* {FRAMEWORKS[framework]}: {' '.join(' '.join(added).split())}")
    body = "\n\n".join(lines).replace("\n", "\n  ")
    return f"`d2l.{name}{signature(item)}`\n: {body}"


def blocks(item: Any) -> list[str]:
    """Return an item's docstring as Markdown: its paragraphs, then an item for each thing that a section names."""
    found: list[str] = []
    sections = griffe.Docstring(item.docstring.value).parse("numpy", warnings=False) if item.docstring else []
    for section in sections:
        if section.kind is griffe.DocstringSectionKind.text:
            found += section.value.split("\n\n")
            continue
        for (annotation, words), group in groupby(section.value, lambda entry: (entry.annotation, entry.description)):
            kind = f" ({annotation})" if annotation else ""
            if section.kind is griffe.DocstringSectionKind.raises:
                start = f"Raises `{annotation}`"
            elif section.kind in RESULTS:
                start = f"{section.kind.value.capitalize()}{kind}"
            else:
                start = f"`{', '.join(entry.name for entry in group)}`{kind}"
            found.append(f"* {start}: {' '.join(words.split())}")
    return found


def signature(item: Any) -> str:
    """Return the parameters of a function, or those that make an object of a class, in parentheses."""
    if item.is_function:
        return f"({parameters(item)})"
    if "__init__" in item.members:
        return f"({parameters(item.members['__init__'])})"
    fields = [name for name, member in item.members.items() if member.is_attribute]  # of a named tuple
    return f"({', '.join(fields)})" if fields else ""


def parameters(function: Any) -> str:
    """Return the parameters of a function with their defaults and without their types; not `self`."""
    words: list[str] = []
    for each in function.parameters:
        if each.kind is griffe.ParameterKind.keyword_only and "*" not in "".join(words):
            words.append("*")
        stars = STARS.get(each.kind, "")
        words.append(f"{stars}{each.name}" + ("" if each.default is None or stars else f"={each.default}"))
    return ", ".join(word for word in words if word != "self")


def methods(item: Any) -> list[str]:
    """Return lines for the methods and properties of a class that are meant for its users."""
    lines = []
    for name, member in item.members.items() if item.is_class else ():
        paragraphs = [] if name.startswith("_") else blocks(member)
        if paragraphs:
            arguments = f"({parameters(member)})" if member.is_function else ""
            text = " ".join(" ".join(part.removeprefix("* ") for part in paragraphs).split())
            lines.append(f"* `.{name}{arguments}`: {text}")
    return lines


def setup(app: Sphinx) -> None:
    app.add_directive("api", Api)
