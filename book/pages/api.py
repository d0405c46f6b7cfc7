"""The API reference, from the docstrings of the modules of d2l_utils, which are read and not imported.

```{api} Timer measure
```

shows these names with parameters and docstrings: what the four frameworks' docstrings share first, then what each adds.
"""

import ast
import re
from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from book import FRAMEWORKS, MODULES

FOLDER = Path(__file__).parents[2] / "d2l_utils"


class Api(SphinxDirective):
    """A definition list of names that the modules of all frameworks export."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        """Return the list."""
        for path in FOLDER.glob("*.py"):
            self.env.note_dependency(path)
        names = self.arguments[0].split()
        if unknown := [name for name in names if name not in exports("torch")]:
            raise self.error(f"d2l has no {', '.join(unknown)}; known: {' '.join(exports('torch'))}")
        found = self.parse_text_to_nodes("\n\n".join(map(described, names)))
        (listed,) = found
        listed["classes"].append("api")
        for name, entry in zip(names, listed, strict=True):
            entry[0]["ids"].append(nodes.make_id(f"d2l-{name}"))
        return found


@cache
def parsed(module):
    """Return the syntax tree of a module of d2l_utils."""
    return ast.parse((FOLDER / f"{module}.py").read_text(encoding="utf-8"))


def exports(module):
    """Return the names in a module's `__all__`; those of another module stand there as `*other.__all__`."""
    (node,) = [node for node in parsed(module).body if isinstance(node, ast.Assign) and is_all(node.targets[0])]
    found = [
        exports(each.value.value.id) if isinstance(each, ast.Starred) else [each.value] for each in node.value.elts
    ]
    return [name for names in found for name in names]


def is_all(target):
    return isinstance(target, ast.Name) and target.id == "__all__"


def definition(module, name):
    """Return the function or class of this name that a module defines or imports from its neighbours, or None."""
    for node in parsed(module).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
            return node
        if isinstance(node, ast.ImportFrom) and node.level and node.module:
            named = {"*", name} & {alias.name for alias in node.names}
            if found := named and definition(node.module, name):
                return found
    return None


def described(name):
    """Return the Markdown of a name: an entry of a definition list."""
    found = {framework: definition(module, name) for framework, module in MODULES.items()}
    parts = {framework: (ast.get_docstring(node) or "").split("\n\n") for framework, node in found.items()}
    first, *others = parts.values()
    shared = [part for part in first if all(part in other for other in others)]
    lines = [*map(markdown, shared), *methods(found["pytorch"])]
    for framework, own in parts.items():
        if added := [part for part in own if part not in shared]:
            lines.append(f"* {FRAMEWORKS[framework]}: {' '.join(' '.join(added).split())}")
    body = "\n\n".join(lines).replace("\n", "\n  ")
    return f"`d2l.{name}{signature(found['pytorch'])}`\n: {body}"


def signature(node):
    """Return the parameters of a function, or those that make an object of a class, in parentheses."""
    if isinstance(node, ast.FunctionDef):
        return f"({ast.unparse(node.args)})"
    fields = [each.target.id for each in node.body if isinstance(each, ast.AnnAssign)]
    makers = [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"]
    return f"({', '.join(fields)})" if fields else without_self(makers[0]) if makers else ""


def without_self(method):
    """Return the parameters of a method but the first, in parentheses."""
    return f"({ast.unparse(method.args).partition('self')[2].removeprefix(', ')})"


def methods(node):
    """Return lines for the methods and properties of a class that are meant for its users."""
    public = [each for each in getattr(node, "body", ()) if isinstance(each, ast.FunctionDef) and each.name[0] != "_"]
    return [
        f"* `.{each.name}{'' if each.decorator_list else without_self(each)}`: {' '.join(doc.split())}"
        for each in public
        if isinstance(node, ast.ClassDef) and (doc := ast.get_docstring(each))
    ]


def markdown(part):
    """Return a paragraph of a docstring as Markdown; a table of parameters, two columns of text, becomes a list."""
    rows = re.split(r"\n(?=\w)", part)
    pairs = [re.fullmatch(r"(\w+) {2,}(.+)", row, re.DOTALL) for row in rows]
    return "\n".join(f"* `{pair[1]}`: {' '.join(pair[2].split())}" for pair in pairs) if all(pairs) else part


def setup(app):
    """Register the directive."""
    app.add_directive("api", Api)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
