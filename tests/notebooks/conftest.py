"""Which notebooks are run, and what is printed of them."""

from pathlib import Path

import pytest


def pytest_addoption(parser):
    parser.addoption(
        "--notebooks", nargs="+", type=Path, metavar="EXECUTED", help="the executed notebooks to run again"
    )


def pytest_generate_tests(metafunc):
    if "notebook" in metafunc.fixturenames:
        paths = metafunc.config.getoption("--notebooks", default=None)
        if not paths:
            raise pytest.UsageError("name the executed notebooks: --notebooks _build/executed/jax/hardware.ipynb …")
        metafunc.parametrize("notebook", paths, ids=[f"{path.parent.name}/{path.stem}" for path in paths])


def pytest_report_teststatus(report):
    """Let the line of a notebook end with how its runs went."""
    if report.when == "call" and runs(report):
        return report.outcome, "", ", then ".join(ran.splitlines()[0] for ran in runs(report))
    return None


def pytest_terminal_summary(terminalreporter):
    """Print both runs of each notebook that passed only the second time."""
    for report in terminalreporter.stats.get("passed", []):
        if len(runs(report)) > 1:
            name = report.nodeid.partition("[")[2].rstrip("]")
            terminalreporter.section(f"{name} failed once")
            terminalreporter.write_line("first run {}\nsecond run {}".format(*runs(report)))


def runs(report):
    """Return what the runs of a notebook were like, in words."""
    return [words for name, words in report.user_properties if name == "ran"]
