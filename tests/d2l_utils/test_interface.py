"""Four folders, one interface. Read from the source: no framework is needed."""

import ast

import pytest
from modules import parsed

from book import MODULES
from d2l_utils.common import DEVICES, NETWORKS, TRAINING

FOLDERS = list(MODULES.values())
FILES = ("", ".training", ".networks")
# Parts of a network that is tuned to one framework, as its section names them.
PARTS = {"convolve", "ByProduct", "mean_pool", "DirectLeNet", "Loop"}


def definitions(tree):
    """Return names, parameters and first docstring lines of a module's public functions and classes, in order."""
    found = []
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            makers = [each for each in node.body if getattr(each, "name", "") == "__init__"]
            functions = [node] if isinstance(node, ast.FunctionDef) else makers
            first_line = (ast.get_docstring(node) or "").split("\n")[0]
            found.append((node.name, [parameters(function.args) for function in functions], first_line))
    return found


def parameters(arguments):
    """Return the parameters that can be given by place; a framework may add some that are given by name."""
    by_place = arguments.posonlyargs + arguments.args
    return ast.unparse(ast.arguments([], by_place, arguments.vararg, [], [], None, arguments.defaults))


def defined(module):
    return [found for found in definitions(parsed(f"d2l_utils.{module}")) if found[0] not in PARTS]


@pytest.mark.parametrize("folder", FOLDERS)
def test_framework_folders_define_the_same_in_the_same_order(folder):
    found = [defined(folder + file) for file in FILES]
    assert found == [defined(FOLDERS[0] + file) for file in FILES]
    assert all(found)
    own = [[name for name, *_ in file] for file in found]
    assert [sorted(names) for names in own] == [sorted(names) for names in (DEVICES, TRAINING, NETWORKS)]
