"""Code that one section teaches in its cells and others take from our packages is the same in both places."""

import ast
import re

import pytest
from modules import cells, parsed

from book import FRAMEWORKS, MODULES, ROOT
from d2l_lab.instruments import levers, loops
from d2l_lab.instruments.data import DigitImages
from d2l_utils.common import D2L_NAMES, NAMES

FOLDERS = list(MODULES.values())
# The section that teaches, the module, the names of functions and classes. What a section teaches for each
# framework is in a module of that framework's folder, and is compared with the cells of its tab.
TAUGHT = [
    ("hardware", "d2l_lab.machine.probes", "triad chase lay_ring"),
    ("parameterserver", "d2l_lab.collectives.cost_model", "star_time ring_time"),
    ("scaling-out", "d2l_lab.collectives.simulation", "training_ends"),
    *(("multiple-gpus", f"d2l_utils.d2l_names.{folder}", "split_batch") for folder in FOLDERS),
    *(("multiple-gpus-concise", f"d2l_utils.d2l_names.{folder}", "Residual resnet18") for folder in FOLDERS),
    *(
        ("performance-model", f"d2l_utils.{folder}.networks", "build_lenet train_step load_images tuned_lenet")
        for folder in FOLDERS
    ),
]
ROWS = [(slug, module, name) for slug, module, names in TAUGHT for name in names.split()]
SLUGS = sorted(path.stem for path in (ROOT / "notebooks").glob("*.md"))


def definitions(tree):
    """Return pairs of the name of a function or class and its code, without docstrings, types, comments and layout."""
    tree = ast.parse(ast.unparse(tree))  # a copy
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
    named = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    return [(node.name, ast.dump(node)) for node in named]


def in_section(slug, parts):
    """Return the definitions in a section's cells; if a framework is among the parts, without those of other tabs."""
    others = {name for name, folder in MODULES.items() if parts & {*FOLDERS} and folder not in parts}
    return [pair for tags, tree in cells(slug) if not others & tags for pair in definitions(tree)]


@pytest.mark.parametrize(("slug", "module", "name"), ROWS)
def test_a_section_defines_what_it_teaches_as_the_module_does(slug, module, name):
    shown = [code for known, code in in_section(slug, {*module.split(".")}) if known == name]
    assert shown == [dict(definitions(parsed(module)))[name]]


def test_sections_take_the_names_of_the_interface_alone():
    taken = set()
    for node in [node for slug in SLUGS for _, tree in cells(slug) for node in ast.walk(tree)]:
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "d2l":
            taken.add(node.attr)
        elif isinstance(node, ast.ImportFrom) and node.module.startswith("d2l_utils."):
            taken |= {alias.name for alias in node.names}
    mxnet_alone = {"compile_operator", "load_operator"}  # which hide what MXNet keeps private
    assert {*NAMES} - {"return_value"} <= taken <= {*NAMES} | mxnet_alone  # ranks import return_value from its module


@pytest.mark.parametrize("slug", SLUGS)
@pytest.mark.parametrize("folder", FOLDERS)
def test_a_section_defines_no_other_name_that_readers_get_from_d2l_utils(slug, folder):
    taught = {name for section, _, name in ROWS if section == slug}
    assert {name for name, _ in in_section(slug, {folder})} & {*NAMES, *D2L_NAMES} <= taught


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_frameworks_loop_of_the_levers_takes_the_size_of_a_minibatch_from_them(folder):
    (loop,) = [node for node in parsed(f"d2l_utils.{folder}.networks").body if getattr(node, "name", "") == "Loop"]
    assert "images, loops.BATCH" in ast.unparse(loop)
    assert loops.BATCH not in [node.value for node in ast.walk(loop) if isinstance(node, ast.Constant)]


def test_sections_load_minibatches_of_the_loop_of_the_levers():
    code = "\n".join(ast.unparse(tree) for slug in SLUGS for _, tree in cells(slug))
    sizes = re.findall(r"(?:load_images|DataLoader)(?:\(images, |, batch_size=)(\d+)", code)
    assert set(sizes) == {str(loops.BATCH)}
    assert len(sizes) >= 3 * len(FRAMEWORKS)  # 15 in four
    most = len(DigitImages()) // loops.BATCH
    assert set(re.findall(r"an epoch of (\d+) minibatches", code)) == {str(most)}
    said = f"The minibatches of {loops.BATCH} images in an epoch, {most} at most."
    assert said in levers.running_total.__doc__
    assert said in levers.try_lever.__doc__
