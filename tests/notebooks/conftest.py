"""Which notebooks are run, with which folders, and what is printed about them."""

import os
from pathlib import Path

import pytest
from running import FOLDERS, Ran, obstacle

BUILD = Path(__file__).resolve().parents[2] / "_build"
RUNS = pytest.StashKey[dict[str, list[Ran]]]()  # the runs of each notebook, by the id of its test


def pytest_addoption(parser):
    parser.addoption("--notebooks", nargs="+", type=Path, metavar="EXECUTED", help="executed notebooks (default: all)")


def pytest_configure(config):
    config.stash[RUNS] = {}
    for name, path in FOLDERS.items():
        os.environ.setdefault(name, str(BUILD / path))


def pytest_generate_tests(metafunc):
    if "notebook" in metafunc.fixturenames:
        named = metafunc.config.getoption("--notebooks", default=None)
        paths = named or sorted(BUILD.glob("executed/*/*.ipynb")) or [BUILD / "executed"]
        metafunc.parametrize("notebook", paths, ids=[f"{p.parent.name}/{p.stem}" for p in paths], indirect=True)


@pytest.fixture
def notebook(request):
    """The path of an executed notebook."""
    found = obstacle(request.param)
    if found:
        pytest.fail(found, pytrace=False)
    return request.param


@pytest.fixture
def runs(request):
    """The runs of this test's notebook, an empty list."""
    return request.config.stash[RUNS].setdefault(request.node.nodeid, [])


@pytest.fixture
def timed(pytestconfig):
    """The timed claims of all notebooks so far, as pairs of a notebook's name and a claim."""
    return timed_claims(pytestconfig)


def timed_claims(config):
    """Return the timed claims of the last run of each notebook: pairs of its name and the claim."""
    last = {name_of(test): runs[-1] for test, runs in config.stash[RUNS].items() if runs}
    return [(name, claim) for name, ran in last.items() for claim in ran.claims if claim.timed]


def name_of(test):
    """Return the framework and the section in the id of a test."""
    return test.partition("[")[2].rstrip("]")


def pytest_report_teststatus(report, config):
    """Let the line of a notebook end with how its runs went."""
    runs = config.stash[RUNS].get(report.nodeid)
    if report.when == "call" and runs:
        return report.outcome, "", ", then ".join(str(ran).splitlines()[0] for ran in runs)
    return None


def pytest_terminal_summary(terminalreporter, config):
    """Print both runs of each notebook that passed only the second time, and the timed claims that do not hold."""
    for test, runs in config.stash[RUNS].items():
        if len(runs) == 2 and runs[1].passed:
            terminalreporter.section(f"{name_of(test)} failed once")
            terminalreporter.write_line(f"first run {runs[0]}\nsecond run {runs[1]}")
    timed = timed_claims(config)
    lines = [f"{name}: {claim}" for name, claim in timed if claim.held is False]
    unchecked = sum(claim.held is None for _, claim in timed)
    if timed:
        title = f"{len(lines)} of {len(timed)} timed claims do not hold on this machine"
        terminalreporter.section(f"{title}, {unchecked} not checked" if unchecked else title)
    for line in lines:
        terminalreporter.write_line(line)
