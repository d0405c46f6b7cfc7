"""What some tests, and the printing of the PDF, need of the system: a browser, epubcheck, network namespaces.

`python3 -m book.setup.system_tools [NAME …]` looks for each, else fetches it, else has apt-get install it where that is
asked for, and prints the names of those that are there. One line for each other says what is not checked and how to
have it; with CI=true that is an error. Standard library only.
"""

import argparse
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from book import ROOT
from book.setup import programs
from book.setup.programs import SetupError, apt_get, call, in_ci, tell
from d2l_lab.files import locked
from d2l_lab.processes import namespace
from rack import namespaces

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
CHECKER = Path("/usr/share/java/epubcheck.jar")


def found_browsers() -> list[str]:
    """Return the paths of Chromium on PATH, then of those that were fetched below `_build`, the newest first."""
    # Playwright writes the marker when its download is whole.
    marks = (programs.BUILD / "browsers").glob("chromium_headless_shell-*/INSTALLATION_COMPLETE")
    found = [path for name in BROWSERS if (path := shutil.which(name))]
    for mark in sorted(marks, reverse=True):
        found += map(str, mark.parent.glob("chrome-headless-shell-*/chrome-headless-shell"))
    return found


@cache
def fault(browser: str) -> str:
    """Return why a browser does not start, "" if it does."""
    try:
        call([browser, "--version"], f"{browser} does not start")
    except SetupError as error:
        return str(error)
    return ""


def find_browser() -> str | None:
    """Return the path of the first Chromium that starts, None if there is none."""
    return next((path for path in found_browsers() if not fault(path)), None)


def no_browser() -> str:
    """Return why there is no Chromium, "" if there is one."""
    faults = [fault(path) for path in found_browsers()]
    return "" if "" in faults else "; ".join(faults) or "there is none on PATH"


def fetch_browser() -> None:
    """Let Playwright fetch a Chromium below `_build`; SetupError if it cannot."""
    tell("setting up: Chromium, which Playwright fetches")
    python = str(programs.BUILD / "env" / "docs" / "bin" / "python")
    command = [python, "-m", "playwright", "install", "--only-shell", "chromium"]
    call(command, "it cannot be fetched", PLAYWRIGHT_BROWSERS_PATH=str(programs.BUILD / "browsers"))


def find_checker() -> list[str] | None:
    """Return the command that checks an e-book against the standard, None if there is none."""
    if CHECKER.exists() and shutil.which("java"):  # Debian's program needs a package that it only recommends
        return ["java", "-jar", str(CHECKER)]
    return ["epubcheck"] if shutil.which("epubcheck") and not CHECKER.exists() else None


@cache
def no_namespaces() -> str:
    """Return why a process gets no network of its own, or a rack cannot be built; "" if it does."""
    return namespace.refusal(ROOT) or namespaces.refusal() or ""


@dataclass(frozen=True)
class Tool:
    """What some tests need.

    `programs` are in the packages, if they may be there and yet not be allowed to do their work: then no package helps.
    """

    checks: str  # what is not checked without it
    missing: Callable[[], str]  # returns in a line why it is not there, "" if it is
    packages: tuple[str, ...]  # Debian's names of what holds it
    fetch: Callable[[], None] | None = None  # gets it without installing anything
    programs: tuple[str, ...] = ()

    def is_installed(self) -> bool:
        """Tell whether all programs are there, so that there is nothing to install."""
        return bool(self.programs) and all(map(shutil.which, self.programs))


TOOLS = {
    "chromium": Tool("the pages and slides in a browser, and the PDF", no_browser, ("chromium",), fetch_browser),
    "epubcheck": Tool(
        "whether the e-book follows its standard",
        lambda: "" if find_checker() else "there is none on PATH",
        ("epubcheck",),
    ),
    "namespaces": Tool(
        "jobs and hosts with networks of their own",
        no_namespaces,
        ("iproute2", "util-linux"),
        programs=tuple(namespaces.PACKAGES),
    ),
}


def without(name: str, reason: str) -> str:
    """Return the line on a tool that is missing: why, what is not checked, how to have it."""
    tool = TOOLS[name]
    install = f"Debian has it: sudo apt-get install {' '.join(tool.packages)}"
    cure = "another account may" if tool.is_installed() else install
    return f"no {name} ({reason}), so not checked: {tool.checks}; {cure}"


def get(name: str) -> str:
    """Look for a tool, else fetch it, else install it; return why it is not there then, "" if it is."""
    tool = TOOLS[name]
    reasons = [tool.missing()]
    for way in (tool.fetch, None if tool.is_installed() else lambda: apt_get(tool.packages)):
        if not reasons[-1]:
            return ""
        if way is None:
            continue
        try:
            way()
        except SetupError as error:
            reasons.append(str(error))
        else:
            fault.cache_clear()
            no_namespaces.cache_clear()
            reasons.append(tool.missing())
    return "; ".join(reasons) if reasons[-1] else ""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m book.setup.system_tools", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"those that are needed, of {', '.join(TOOLS)}")
    names = parser.parse_args(arguments).names
    try:
        with locked(programs.BUILD / ".setup.lock", "another make is setting up: waiting until it is done"):
            missing = {name: reason for name in names or TOOLS if (reason := get(name))}
    except KeyboardInterrupt:
        tell("interrupted: the next make goes on here")
        return 130
    stop = bool(names) or in_ci()
    for name, reason in missing.items():
        tell(f"{'error: ' if stop else ''}{without(name, reason)}")
    if stop and missing:
        return 1
    print("looked", *[name for name in TOOLS if name not in missing])
    return 0


if __name__ == "__main__":
    sys.exit(main())
