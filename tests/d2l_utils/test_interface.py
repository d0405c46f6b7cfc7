"""Four folders, one interface. Read from the source: no framework is needed."""

import ast

import pytest
from modules import parsed

from book import MODULES
from d2l_utils import d2l_names
from d2l_utils.common import D2L_NAMES, DEVICES, NETWORKS

FOLDERS = list(MODULES.values())
FILES = ("d2l_utils.{}", "d2l_utils.{}.networks", "d2l_utils.d2l_names.{}")
# What others ask of the networks, and parts of a network that is tuned to one framework, as its section names them.
PARTS = {"iterators", "Loop", "convolve", "ByProduct", "mean_pool", "DirectLeNet"}


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
    return [found for found in definitions(parsed(module)) if found[0] not in PARTS]


@pytest.mark.parametrize("folder", FOLDERS)
def test_framework_folders_define_the_same_in_the_same_order(folder):
    found = [defined(file.format(folder)) for file in FILES]
    assert found == [defined(file.format(FOLDERS[0])) for file in FILES]
    assert all(found)
    own = [[name for name, *_ in file] for file in found]
    assert [sorted(names) for names in own] == [
        sorted(names) for names in (DEVICES, NETWORKS, {*D2L_NAMES} - {*d2l_names.__all__})
    ]
