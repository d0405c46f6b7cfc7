"""Four folders, one interface: that of the protocol. Read from the source: no framework is needed."""

import ast

import pytest
from modules import parsed

from book import MODULES, ROOT, project
from d2l_utils.common import D2L_NAMES, DEVICES, NETWORKS
from d2l_utils.d2l_names import __all__ as SHARED

FOLDERS = list(MODULES.values())
# What D2L's names take from the networks, and parts of a network tuned to one framework, as its section names them.
PARTS = {"iterators", "convolve", "ByProduct", "mean_pool", "DirectLeNet", "direct"}
TYPED = "Loop"  # a class, which mypy compares with the protocol


def definitions(body):
    """Return names, parameters and first docstring lines of public functions and classes, in order."""
    found = {}
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            makers = [each for each in getattr(node, "body", []) if getattr(each, "name", "") == "__init__"]
            functions = [node] if isinstance(node, ast.FunctionDef) else makers
            first_line = (ast.get_docstring(node) or "").split("\n")[0]
            found[node.name] = ([parameters(function.args) for function in functions], first_line)
    return found


def parameters(arguments):
    """Return the parameters that can be given by place, not `self`, with `=` where one can be left out."""
    names = [argument.arg for argument in arguments.posonlyargs + arguments.args]
    required = len(names) - len(arguments.defaults)
    given = [name if i < required else f"{name}=" for i, name in enumerate(names) if name != "self"]
    return [*given, f"*{arguments.vararg.arg}"] if arguments.vararg else given


def defined(module):
    return {name: found for name, found in definitions(parsed(module).body).items() if name not in {*PARTS, TYPED}}


def asked(module, protocol):
    (node,) = [node for node in parsed(module).body if getattr(node, "name", "") == protocol]
    return {name: found for name, found in definitions(node.body).items() if name != TYPED}


OF_FOLDER, OF_D2L_NAMES = asked("d2l_lab.protocol", "Framework"), asked("d2l_utils.d2l_names.protocol", "D2LNames")


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_frameworks_modules_define_what_the_protocols_ask_for_in_their_order(folder):
    found = defined(f"d2l_utils.{folder}") | defined(f"d2l_utils.{folder}.networks")
    collected = defined(f"d2l_utils.{folder}.collect")
    of_d2l_names = defined(f"d2l_utils.d2l_names.{folder}")
    borrowed = {name: of_d2l_names[name] for name in OF_FOLDER.keys() & of_d2l_names.keys()}
    assert [*(found | borrowed | collected).items()] == [*OF_FOLDER.items()]
    assert [*of_d2l_names.items()] == [*OF_D2L_NAMES.items()]


def test_what_readers_get_is_in_the_protocols():
    assert [name for name in OF_FOLDER if name in {*DEVICES, *NETWORKS}] == DEVICES + NETWORKS
    assert [*OF_D2L_NAMES] == [name for name in D2L_NAMES if name not in SHARED]


def test_mypy_compares_every_frameworks_folder_with_the_protocols():
    tree = ast.parse((ROOT / "tests" / "d2l_utils" / "provided.py").read_text(encoding="utf-8"))
    values = {ast.unparse(node.value) for node in tree.body if isinstance(node, (ast.Assign, ast.AnnAssign))}
    assert {*FOLDERS, *(f"{folder}_names" for folder in FOLDERS)} <= values  # mypy itself tells of one that has left
    assert "tests/d2l_utils/provided.py" in project()["tool"]["mypy"]["files"]
