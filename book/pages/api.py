"""The API reference, from the docstrings of d2l_utils, which are read and not imported.

```{api} Timer measure
```

shows these names with parameters and docstrings: what the four frameworks' docstrings share first, then what each adds.
"""

import ast
import copy

from docstring_parser import DocstringStyle, parse
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from book import FRAMEWORKS, MODULES, ROOT
from book.exports import Definition, definition, exports
from book.pages.edition import mark


class Api(SphinxDirective):
    """A definition list of names that the modules of all frameworks export."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the list."""
        for path in (ROOT / "d2l_utils").rglob("*.py"):
            self.env.note_dependency(path)
        names, known = self.arguments[0].split(), exports(f"d2l_utils.{next(iter(MODULES.values()))}")
        for name in names:
            if name not in known:
                raise self.error(f"d2l has no {name}; known: {' '.join(known)}")
        (listed,) = self.parse_text_to_nodes("\n\n".join(described(name) for name in names))
        listed["classes"].append("api")
        for name, entry in zip(names, listed, strict=True):
            entry[0]["ids"].append(nodes.make_id(f"d2l-{name}"))
        mark(listed.findall(nodes.list_item))
        return [listed]


def described(name: str) -> str:
    """Return the Markdown of a name: an entry of a definition list."""
    found = {}
    for framework, module in MODULES.items():
        node = definition(f"d2l_utils.{module}", name)
        if node is None:
            raise LookupError(f"d2l_utils.{module} exports {name} and does not define it")
        found[framework] = node
    parts = {framework: blocks(ast.get_docstring(node) or "") for framework, node in found.items()}
    first, *others = parts.values()
    shared = [part for part in first if all(part in other for other in others)]
    node = next(iter(found.values()))
    lines = [*shared, *methods(node)]
    for framework, own in parts.items():
        added = [part.removeprefix("* ") for part in own if part not in shared]
        if added:
            lines.append(f"* {FRAMEWORKS[framework]}: {' '.join(' '.join(added).split())}")
    body = "\n\n".join(lines).replace("\n", "\n  ")
    return f"`d2l.{name}{signature(node)}`\n: {body}"


def blocks(docstring: str) -> list[str]:
    """Return a NumPy-style docstring as Markdown: its paragraphs, then an item for each thing that a section names."""
    found = parse(docstring, style=DocstringStyle.NUMPYDOC)
    text = found.short_description or ""
    if found.long_description:
        text += ("\n\n" if found.blank_after_short_description else "\n") + found.long_description
    paragraphs = [part.strip("\n") for part in text.split("\n\n") if part.strip()]
    items = []
    for entry in found.meta:
        kind = entry.args[0]
        type_name = getattr(entry, "type_name", None)
        words = " ".join((entry.description or "").split())
        if kind in ("param", "attribute"):
            items.append(f"* `{entry.args[1]}`{f' ({type_name})' if type_name else ''}: {words}")
        elif kind == "raises":
            items.append(f"* Raises `{type_name}`: {words}")
        elif kind in ("returns", "yields"):
            items.append(f"* {kind.capitalize()}{f' ({type_name})' if type_name else ''}: {words}")
        else:
            items.append(words)
    return paragraphs + items


def signature(node: Definition) -> str:
    """Return the parameters of a function, or those that make an object of a class, in parentheses."""
    if isinstance(node, ast.FunctionDef):
        return f"({parameters(node)})"
    fields = [
        each.target.id for each in node.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    ]
    if fields:
        return f"({', '.join(fields)})"
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and method.name == "__init__":
            return f"({parameters(method, bound=True)})"
    return ""


def parameters(function: ast.FunctionDef, bound: bool = False) -> str:
    """Return the parameters of a function with their defaults and without their types; not the first of a method."""
    arguments = copy.deepcopy(function.args)
    if bound:
        del arguments.args[0]
    for argument in ast.walk(arguments):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    return ast.unparse(arguments)


def methods(node: Definition) -> list[str]:
    """Return lines for the methods and properties of a class that are meant for its users."""
    lines = []
    for method in node.body if isinstance(node, ast.ClassDef) else []:
        if not isinstance(method, ast.FunctionDef) or method.name.startswith("_"):
            continue
        paragraphs = blocks(ast.get_docstring(method) or "")
        if paragraphs:
            arguments = "" if method.decorator_list else f"({parameters(method, bound=True)})"
            text = " ".join(" ".join(part.removeprefix("* ") for part in paragraphs).split())
            lines.append(f"* `.{method.name}{arguments}`: {text}")
    return lines


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("api", Api)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
