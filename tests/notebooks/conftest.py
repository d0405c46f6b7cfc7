"""Which notebooks are run, with which folders, and what is printed about them."""

import os
from pathlib import Path

import pytest
from jupyter_client.kernelspec import KernelSpecManager
from running import FOLDERS, timed_claims

from book import ROOT
from book.layout import read_notebook

BUILD = ROOT / "_build"


def pytest_addoption(parser):
    parser.addoption("--notebooks", nargs="+", type=Path, metavar="EXECUTED", help="executed notebooks (default: all)")


def pytest_configure(config):
    for name, path in FOLDERS.items():
        os.environ.setdefault(name, str(ROOT / path))


def chosen(config):
    """Return the paths of the executed notebooks that are run, by framework and section."""
    named = config.getoption("--notebooks", default=None)
    paths = named or sorted(BUILD.glob("executed/*/*.ipynb")) or [BUILD / "executed"]
    return {f"{path.parent.name}/{path.stem}": path for path in paths}


def pytest_generate_tests(metafunc):
    if "notebook" in metafunc.fixturenames:
        found = chosen(metafunc.config)
        metafunc.parametrize("notebook", found.values(), ids=found, indirect=True)


@pytest.fixture
def notebook(request):
    """The path of an executed notebook; the test fails if it was not built or has no kernel."""
    path = request.param
    if not path.is_file():
        pytest.fail(f"no executed notebook {path}: run `make book`", pytrace=False)
    kernel = read_notebook(path)["metadata"]["kernelspec"]["name"]
    if kernel not in KernelSpecManager().find_kernel_specs():
        pytest.fail(f"no kernel {kernel} below {os.environ['JUPYTER_PATH']}: run `make setup`", pytrace=False)
    return path


@pytest.fixture
def timed(pytestconfig):
    """The timed claims that the build has checked, as pairs of a notebook's name and a claim."""
    return [(name, claim) for name, path in chosen(pytestconfig).items() for claim in timed_claims(path)]


def runs_of(report):
    """Return in words how the runs of a notebook went, the first one first; [] for another report."""
    return dict(getattr(report, "user_properties", ())).get("runs", [])


def pytest_report_teststatus(report, config):
    """Let the line of a notebook end with how its runs went."""
    runs = runs_of(report)
    if report.when == "call" and runs:
        return report.outcome, "", ", then ".join(run.splitlines()[0] for run in runs)
    return None


def pytest_terminal_summary(terminalreporter, config):
    """Print both runs of each notebook that passed only the second time, and the timed claims that do not hold."""
    for report in terminalreporter.stats.get("passed", []):
        if len(runs := runs_of(report)) == 2:
            terminalreporter.section(f"{report.nodeid.partition('[')[2].rstrip(']')} failed once")
            terminalreporter.write_line(f"first run {runs[0]}\nsecond run {runs[1]}")
    named = chosen(config) if config.getoption("--notebooks", default=None) else {}
    if found := [(name, claim) for name, path in named.items() for claim in timed_claims(path)]:
        missed = [f"{name}: {claim}" for name, claim in found if not claim.held]
        title = f"{len(missed)} of {len(found)} timed claims did not hold when the book was built"
        terminalreporter.section(title)
        terminalreporter.write("".join(f"{line}\n" for line in missed))
