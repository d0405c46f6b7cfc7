"""Imports go in one direction. Read from the source."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter

import pytest
from modules import PATHS, imports, imports_of, parsed, reached, top

from book import MODULES, ROOT, project

FOLDERS = set(MODULES.values())
FRAMEWORKS = {f"d2l_utils.{folder}" for folder in FOLDERS}
D2L_NAMES = {f"d2l_utils.d2l_names.{folder}" for folder in FOLDERS}
FLOORS = [  # rooms of our packages, from the bottom; an import goes down or stays on its floor, and never in a circle
    {"d2l_lab.protocol", "d2l_lab.files", "d2l_lab.instruments.words", "d2l_lab.instruments.display"},
    {"d2l_lab.machine"},
    {"d2l_lab.instruments.timing"},
    {f"d2l_lab.{room}" for room in ("processes", "collectives", "exercises")},
    {"d2l_lab.plots", "d2l_lab.instruments"}
    | {
        f"d2l_lab.instruments.{name}"
        for name in ("claims", "predictions", "data", "framework", "memory", "native", "pairs")
    },
    {f"d2l_lab.instruments.{name}" for name in ("scheduling", "loops", "levers", "bill")},
    {"d2l_utils.common"},
    FRAMEWORKS | {"d2l_utils.d2l_names"},
    D2L_NAMES,
]
NAMED_OTHERWISE = {"ipython": "IPython", "matplotlib-inline": "matplotlib_inline", "scikit-learn": "sklearn"}
INSTALLED = {NAMED_OTHERWISE.get(name, name) for name in project()["project"]["dependencies"]}
SPHINX = {"sphinx", "docutils", "myst_nb", "sphinx_design", "pybtex", "sphinxcontrib"}


PACKAGES = ("d2l_utils", "d2l_lab")
UTILITIES = sorted(name for name in PATHS if top(name) in PACKAGES and "." in name)


def room(module):
    """Return the room of a module: 'd2l_lab.machine' of 'd2l_lab.machine.system'.

    Each instrument is a room of its own, and so are D2L's names for a framework.
    """
    alone = module.startswith("d2l_lab.instruments.") or module in D2L_NAMES
    return ".".join(module.split(".")[: 3 if alone else 2])


def packages(module):
    """Return the packages that a module of ours imports, without ours and those that every environment has."""
    return {top(name) for name in imports(parsed(module))} - {*PACKAGES} - INSTALLED


def forbidden(tree, module):
    """Return what a module imports of the project and may not: rooms above its own, another framework, book, '.'."""
    (height,) = [i for i, floor in enumerate(FLOORS) if room(module) in floor]
    others = {f"d2l_utils.{folder}" for folder in FOLDERS - {*module.split(".")}} | D2L_NAMES
    allowed = set().union(*FLOORS[: height + 1]) - others | {room(module)}
    own = {name for name in imports(tree) if top(name) in (*PACKAGES, "book", "rack", "")}
    return {name for name in own if name not in PACKAGES and room(name) not in allowed}


@pytest.mark.parametrize("module", UTILITIES)
def test_a_module_imports_only_what_its_place_allows(module):
    tree = parsed(module)
    assert forbidden(tree, module) == set()
    if "standard library only" in (ast.get_docstring(tree) or "").lower():
        assert {top(name) for name in imports(tree)} <= {*PACKAGES}
    elif not module.endswith(".networks") and module not in D2L_NAMES:
        assert packages(module) <= {module.split(".")[1]} & FOLDERS


def test_rooms_do_not_import_each_other_in_a_circle():
    graph = {room(module): set() for module in UTILITIES}
    for module in UTILITIES:
        own = {room(name) for name in imports(parsed(module)) if top(name) in PACKAGES and name not in PACKAGES}
        graph[room(module)] |= own - {room(module)}
    assert set(TopologicalSorter(graph).static_order()) == graph.keys()


def test_modules_do_not_import_each_other_in_a_circle():
    graph = {module: imports_of(module) & PATHS.keys() - {module} for module in PATHS}
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


WITHOUT_POSIX = """
import ctypes, os, pathlib, signal, sys
import IPython, matplotlib.pyplot, numpy, psutil  # theirs may look for what they like

for name in "fcntl resource pwd grp termios pty readline syslog".split():
    sys.modules[name] = None
for name in "sched_getaffinity geteuid getuid sysconf fork killpg setsid getpgid statvfs uname nice wait3".split():
    delattr(os, name)
for name in "SIGKILL SIGALRM SIGCHLD SIGHUP SIGUSR1 SIGPIPE SIGSTOP".split():
    delattr(signal, name)
loaded = ctypes.CDLL
ctypes.CDLL = lambda name, *rest: loaded(name + "", *rest)  # TypeError for None
for module in sys.argv[2:]:
    __import__(module)
from d2l_lab.files import locked
from d2l_utils import common
from d2l_lab.instruments.memory import keep_freed_memory, memory_with, process_counters
with locked(pathlib.Path(sys.argv[1], "lock")):
    keep_freed_memory(True)
    print(memory_with(process_counters(), lambda: b"x" * 2**26, lambda: None).kept > 2**25, common.check is not None)
"""


def test_all_but_processes_works_where_what_only_posix_has_is_missing(tmp_path):
    others = {*FRAMEWORKS, "d2l_lab.machine.probes"}  # the last takes a second
    modules = [name for name in UTILITIES if not {name, room(name)} & (others | D2L_NAMES)]
    command = [sys.executable, "-c", WITHOUT_POSIX, tmp_path, *modules]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert (done.stdout, done.stderr) == ("True True\n", "")
