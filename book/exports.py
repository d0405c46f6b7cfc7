"""What the modules of d2l_utils export, and where it is defined: read from their sources, nothing is imported."""

import ast
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from book import ROOT

Definition = ast.FunctionDef | ast.ClassDef


def path_of(module: str) -> Path:
    """Return the file of a module of the project, named as an import names it: "d2l_utils.common"."""
    path = ROOT.joinpath(*module.split("."))
    package = path / "__init__.py"  # not just the folder: one that a pull emptied keeps its compiled modules
    return package if package.exists() else path.with_suffix(".py")


@cache
def parsed(module: str) -> ast.Module:
    """Return the syntax tree of a module."""
    return ast.parse(path_of(module).read_text(encoding="utf-8"))


def exports(module: str) -> list[str]:
    """Return the names in a module's `__all__`, in order; those of a module that it names as `*common.__all__` too."""
    for node in parsed(module).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return names_in(module, node.value)
    return []


def names_in(module: str, listed: ast.expr) -> list[str]:
    """Return the names in the list that a module assigns to `__all__`."""
    found: list[str] = []
    for element in getattr(listed, "elts", []):
        if isinstance(element, ast.Starred):
            neighbour = ast.unparse(element.value).removesuffix(".__all__")
            found += exports(f"{module.partition('.')[0]}.{neighbour}")
        else:
            found.append(ast.literal_eval(element))
    return found


def definition(module: str, name: str) -> Definition | None:
    """Return the function or class that a module defines under this name or imports from the project, or None."""
    for node in statements_of(parsed(module).body):
        if isinstance(node, Definition) and node.name == name:
            return node
        if isinstance(node, ast.ImportFrom):
            found = imported(module, node, name)
            if found:
                return found
    return None


def statements_of(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a module, those under an `if TYPE_CHECKING:` too."""
    for node in body:
        yield node
        if isinstance(node, ast.If):
            yield from statements_of(node.body)


def imported(module: str, node: ast.ImportFrom, name: str) -> Definition | None:
    """Return the definition that an import in `module` binds to `name`, or None."""
    source = node.module or ""
    if node.level:
        package = module if path_of(module).name == "__init__.py" else module.rpartition(".")[0]
        parents = package.split(".")[: len(package.split(".")) - node.level + 1]
        source = ".".join([*parents, source] if source else parents)
    if source.partition(".")[0] != module.partition(".")[0]:
        return None
    for alias in node.names:
        if alias.name == "*" or (alias.asname or alias.name) == name:
            found = definition(source, name if alias.name == "*" else alias.name)
            if found:
                return found
    return None
