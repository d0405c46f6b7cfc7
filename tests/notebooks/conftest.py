"""Which notebooks are run, with which folders, and what is printed about them."""

import os
from pathlib import Path

import pytest
from jupyter_client.kernelspec import KernelSpecManager
from running import FOLDERS, Ran

from book import ROOT
from book.layout import load

BUILD = ROOT / "_build"
RUNS = pytest.StashKey[dict[str, list[Ran]]]()  # the runs of each notebook, by its framework and section


def pytest_addoption(parser):
    parser.addoption("--notebooks", nargs="+", type=Path, metavar="EXECUTED", help="executed notebooks (default: all)")


def pytest_configure(config):
    config.stash[RUNS] = {}
    for name, path in FOLDERS.items():
        os.environ.setdefault(name, str(ROOT / path))


def pytest_generate_tests(metafunc):
    if "notebook" in metafunc.fixturenames:
        named = metafunc.config.getoption("--notebooks", default=None)
        paths = named or sorted(BUILD.glob("executed/*/*.ipynb")) or [BUILD / "executed"]
        metafunc.parametrize("notebook", paths, ids=[f"{p.parent.name}/{p.stem}" for p in paths], indirect=True)


@pytest.fixture
def notebook(request):
    """The path of an executed notebook; the test fails if it was not built or has no kernel."""
    path = request.param
    if not path.is_file():
        pytest.fail(f"no executed notebook {path}: run `make book`", pytrace=False)
    kernel = load(path)["metadata"]["kernelspec"]["name"]
    if kernel not in KernelSpecManager().find_kernel_specs():
        pytest.fail(f"no kernel {kernel} below {os.environ['JUPYTER_PATH']}: run `make setup`", pytrace=False)
    return path


@pytest.fixture
def runs(request):
    """The runs of this test's notebook, an empty list."""
    return request.config.stash[RUNS].setdefault(request.node.callspec.id, [])


@pytest.fixture
def timed(pytestconfig):
    """The timed claims of all notebooks so far, as pairs of a notebook's name and a claim."""
    return timed_claims(pytestconfig)


def timed_claims(config):
    """Return the timed claims of the last run of each notebook: pairs of its name and the claim."""
    last = {name: runs[-1] for name, runs in config.stash[RUNS].items() if runs}
    return [(name, claim) for name, ran in last.items() for claim in ran.claims if claim.timed]


def pytest_report_teststatus(report, config):
    """Let the line of a notebook end with how its runs went."""
    runs = config.stash[RUNS].get(report.nodeid.partition("[")[2].rstrip("]"))
    if report.when == "call" and runs:
        return report.outcome, "", ", then ".join(str(ran).splitlines()[0] for ran in runs)
    return None


def pytest_terminal_summary(terminalreporter, config):
    """Print both runs of each notebook that passed only the second time, and the timed claims that do not hold."""
    for name, runs in config.stash[RUNS].items():
        if len(runs) == 2 and runs[1].passed:
            terminalreporter.section(f"{name} failed once")
            terminalreporter.write_line(f"first run {runs[0]}\nsecond run {runs[1]}")
    if timed := timed_claims(config):
        missed = [f"{name}: {claim}" for name, claim in timed if claim.held is False]
        unchecked = sum(claim.held is None for _, claim in timed)
        title = f"{len(missed)} of {len(timed)} timed claims do not hold on this machine"
        terminalreporter.section(f"{title}, {unchecked} not checked" if unchecked else title)
        terminalreporter.write("".join(f"{line}\n" for line in missed))
