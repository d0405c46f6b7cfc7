"""Processes that tests launch, here and in each framework, their end, and what is said of tests that are skipped."""

import os
from collections import Counter

import pytest
from launching import driver, nothing_is_left  # noqa: F401  (pytest finds them by name)
from reaper import pytest_configure  # noqa: F401

from book import keep_grammars_out
from book.setup.system_tools import TOOLS, find_browser, find_checker, without

keep_grammars_out()
# Servers of the tests' own, on loopback, are reached without a proxy.
exempt = os.environ.get("no_proxy") or os.environ.get("NO_PROXY")
if exempt != "*":  # everything
    exempt = ",".join(filter(None, [exempt, "127.0.0.1"]))
os.environ |= dict.fromkeys(["no_proxy", "NO_PROXY"], exempt)


@pytest.fixture(scope="session")
def chromium_path():
    return find_browser()


@pytest.fixture(scope="session")
def epubcheck():
    return find_checker()


@pytest.fixture(scope="session")
def namespaces():
    """Nothing: a test that asks for it starts network namespaces."""


FIXTURES = {"chromium_path": "chromium", "epubcheck": "epubcheck", "namespaces": "namespaces"}


def pytest_collection_modifyitems(items):
    """Skip the tests of what this system lacks; put first those that share a book, so that one worker has them all."""
    items.sort(key=lambda item: item.path.parent.name != "pages")
    for fixture, tool in FIXTURES.items():
        asking = [item for item in items if fixture in getattr(item, "fixturenames", ())]
        reason = TOOLS[tool].missing() if asking else ""
        for item in asking if reason else ():
            item.add_marker(pytest.mark.skip(reason=without(tool, reason)))


def pytest_terminal_summary(terminalreporter):
    """Say in a line each why tests were skipped."""
    skipped = terminalreporter.stats.get("skipped", [])
    counts = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
    for reason, count in counts.items():
        terminalreporter.write_line(f"{count} skipped: {reason}")
