"""Imports go in one direction. Read from the source."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter

import pytest
from modules import PATHS, imports, parsed, reached, top

from book import MODULES, ROOT, project

FOLDERS = set(MODULES.values())
FRAMEWORKS = {f"d2l_utils.{folder}" for folder in FOLDERS}
FLOORS = [  # rooms of our packages, from the bottom; an import goes down or stays on its floor, and never in a circle
    {"d2l_utils.timing"},
    {f"d2l_lab.{room}" for room in ("files", "machine", "processes", "collectives", "exercises", "rack")},
    {f"d2l_utils.{room}" for room in ("display", "claims", "predictions", "data", "framework", "memory", "plots")},
    {"d2l_utils.scheduling", "d2l_utils.levers"},
    {"d2l_utils.common"},
    FRAMEWORKS,
]
NAMED_OTHERWISE = {"ipython": "IPython", "matplotlib-inline": "matplotlib_inline", "scikit-learn": "sklearn"}
INSTALLED = {NAMED_OTHERWISE.get(name, name) for name in project()["project"]["dependencies"]}
SPHINX = {"sphinx", "docutils", "myst_nb", "sphinx_design", "pybtex", "sphinxcontrib"}


PACKAGES = ("d2l_utils", "d2l_lab")
UTILITIES = sorted(name for name in PATHS if top(name) in PACKAGES and "." in name)


def room(module):
    """Return the room of a module: 'd2l_lab.machine' of 'd2l_lab.machine.system'."""
    return ".".join(module.split(".")[:2])


def packages(module):
    """Return the packages that a module of ours imports, without ours and those that every environment has."""
    return {top(name) for name in imports(parsed(module))} - {*PACKAGES} - INSTALLED


def forbidden(tree, module):
    """Return what a module imports of the project and may not: rooms above its own, another framework, book, '.'."""
    (height,) = [i for i, floor in enumerate(FLOORS) if room(module) in floor]
    allowed = {room(module)}.union(*FLOORS[: height + 1]) - (FRAMEWORKS - {room(module)})
    own = {name for name in imports(tree) if top(name) in (*PACKAGES, "book", "")}
    return {name for name in own if name not in PACKAGES and room(name) not in allowed}


@pytest.mark.parametrize("module", UTILITIES)
def test_a_module_imports_only_what_its_place_allows(module):
    tree = parsed(module)
    assert forbidden(tree, module) == set()
    if "standard library only" in (ast.get_docstring(tree) or "").lower():
        assert {top(name) for name in imports(tree)} <= {*PACKAGES}
    elif not module.endswith(".networks"):
        assert packages(module) <= {module.split(".")[1]} & FOLDERS


def test_rooms_do_not_import_each_other_in_a_circle():
    graph = {room(module): set() for module in UTILITIES}
    for module in UTILITIES:
        own = {room(name) for name in imports(parsed(module)) if top(name) in PACKAGES and name not in PACKAGES}
        graph[room(module)] |= own - {room(module)}
    assert set(TopologicalSorter(graph).static_order()) == graph.keys()


@pytest.mark.parametrize("module", sorted(name for name in PATHS if top(name) == "book"))
def test_the_book_reaches_no_framework_and_only_its_pages_reach_sphinx(module):
    found = reached(module)
    assert {name for name in found if room(name) in FRAMEWORKS} == set()
    outside = FOLDERS if module.startswith("book.pages") else FOLDERS | SPHINX
    assert {top(name) for name in found} & outside == set()


def test_importing_the_book_forbids_no_module_and_its_programs_keep_a_slow_one_out():
    forbidden = "print([name for name, module in sys.modules.items() if module is None])\n"
    code = (
        f"import runpy, sys, book.build, book.bundle, book.translations.check\n{forbidden}sys.argv[1:] = ['--help']\n"
    )
    code += f"try: runpy.run_module('book', run_name='__main__')\nexcept SystemExit: {forbidden}"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    first, *_, last = done.stdout.splitlines()
    assert (first, last) == ("[]", "['rfc3987_syntax']")
