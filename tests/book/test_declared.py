"""What is imported is declared where it is installed, even if another package brings it, and has a reason."""

import ast
import re
import sys
from importlib.metadata import packages_distributions

import pytest
from modules import PATHS, cells, parsed
from test_environments import CONTENT, NAMES, group

from book import FRAMEWORKS, MODULES, ROOT

OURS = {"d2l_utils", "d2l_lab", "book", "rack"}
TESTS = [path for path in (ROOT / "tests").rglob("*.py") if path.parent.name != "frameworks"]
TABLE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Dependencies")[2].partition("##")[0]
NAMED_OTHERWISE = {"tensorflow-cpu": "tensorflow"}
KNOWN = packages_distributions()  # of the book's environment, which has no framework


def names(requirements):
    """Return the packages that requirements name, without versions."""
    found = {re.match(r"[\w-]+", requirement)[0].lower() for requirement in requirements}
    return {NAMED_OTHERWISE.get(name, name) for name in found}


def brought(module):
    """Return the packages of which one brings a module, as requirements name them."""
    return {name.lower().replace("_", "-") for name in KNOWN.get(module, [module])}


def undeclared(trees, declared, own=frozenset()):
    """Return the modules that code imports, but neither Python nor a declared package brings."""
    found = set()
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(node.module.partition(".")[0])
    return {name for name in found - sys.stdlib_module_names - OURS - own if not brought(name) & declared}


def trees(*packages):
    return [parsed(name) for name in PATHS if name.startswith(packages)]


def test_the_wheel_declares_what_it_imports_but_the_frameworks():
    declared = names(CONTENT["project"]["dependencies"])
    folders = tuple(f"d2l_utils.{part}{folder}" for part in ("", "d2l_names.") for folder in MODULES.values())
    shared = [
        parsed(name) for name in PATHS if name.startswith(("d2l_utils", "d2l_lab")) and not name.startswith(folders)
    ]
    assert undeclared(shared, declared, {*MODULES.values()}) == set()
    for framework in FRAMEWORKS:
        assert declared <= names(group(framework))


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_frameworks_environment_declares_what_its_code_imports(framework):
    module = MODULES[framework]
    written, code = set(), trees(f"d2l_utils.{module}", f"d2l_utils.d2l_names.{module}")
    for path in (ROOT / "notebooks").glob("*.md"):
        code += [tree for tags, tree in cells(path.stem) if not tags & (FRAMEWORKS.keys() - {framework})]
        written |= set(re.findall(r"%%writefile (?:-a )?(\w+)\.py", path.read_text(encoding="utf-8")))
    assert undeclared(code, names(group(framework)), written) == set()


def test_the_books_environment_declares_what_its_code_imports():
    declared = names(group("docs"))
    assert undeclared(trees("book"), declared) == set()
    tests = [ast.parse(path.read_text(encoding="utf-8")) for path in TESTS]
    assert undeclared(tests, declared, {path.stem for path in TESTS}) == set()


def test_an_import_that_nothing_declares_is_found():
    code = ast.parse("import os\ndef f():\n    from yaml.nodes import Node\n    import d2l_utils, sphinx.util, nowhere")
    assert undeclared([code], {"sphinx"}) == {"yaml", "nowhere"}


@pytest.mark.parametrize("name", NAMES)
def test_every_package_that_is_declared_has_a_reason(name):
    reasons = {word for line in TABLE.splitlines() for word in line.strip("| ").partition(" | ")[0].split(", ")}
    assert names(group(name)) - reasons == set()
