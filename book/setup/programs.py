"""The programs that the set-up needs: a compiler and uv, looked for before they are fetched. Standard library only."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from book import ROOT
from book.setup.failures import explain
from d2l_lab.files import can_write_to

BUILD = ROOT / "_build"


class SetupError(Exception):
    """What went wrong and how to mend it, in one line."""


class LeftOutError(SetupError):
    """A framework cannot be had here or now; the book goes without its tab."""


def tell(line: str) -> None:
    """Report progress on stderr, since stdout carries the result."""
    print(line, file=sys.stderr, flush=True)


def call(command: Sequence[str], failure: str, **environment: str) -> str:
    """Run `command` quietly and return what it prints; SetupError with `failure` and the reason if it fails."""
    done = subprocess.run(command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True)
    if done.returncode == 0:
        return done.stdout
    raise SetupError(f"{failure}: {explain(done.stderr or done.stdout)}")


def in_ci() -> bool:
    """Tell whether this is a service of continuous integration: what a reader may go without is an error there."""
    return os.environ.get("CI", "").lower() == "true"


def apt_get(packages: Sequence[str]) -> None:
    """Install packages of Debian, announced in one line; SetupError where nobody asked for that, or where it fails.

    Root, a service of continuous integration and INSTALL=yes ask for it.
    """
    if not shutil.which("apt-get"):
        raise SetupError("this system has no apt-get")
    root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if root and not in_ci() and os.environ.get("INSTALL") != "yes":
        raise SetupError("make installs nothing on the system unless INSTALL=yes")
    if root and not (shutil.which("sudo") and subprocess.run([*root, "true"], capture_output=True).returncode == 0):
        raise SetupError("this user may not install it")
    tell(f"setting up: {' '.join(packages)}, which apt-get installs")
    command = [*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    call([*command, "update"], "apt-get update fails")
    call([*command, "install", "-y", "--no-install-recommends", *packages], "apt-get install fails")


def installed(package: str, is_there: Callable[[], bool]) -> str:
    """Have apt-get install a package unless what it holds is there; return why that is not there then, "" if it is."""
    if is_there():
        return ""
    try:
        apt_get([package])
    except SetupError as error:
        return f"{error}; Debian: sudo apt-get install {package}"
    return "" if is_there() else f"Debian's {package} does not bring it"


def check_compiler(title: str) -> None:
    """Raise LeftOutError unless there is a C++ compiler, which `title` needs, or apt-get can install one."""
    names = [name for name in (os.environ.get("CXX"), "c++", "g++", "clang++") if name]
    reason = installed("g++", lambda: any(map(shutil.which, names)))
    if reason:
        needs = f"{title} needs a C++ compiler, and there is none (tried $CXX, c++, g++, clang++)"
        raise LeftOutError(f"{needs}: {reason}; macOS: xcode-select --install")


def check_headers(python: str) -> None:
    """Raise LeftOutError unless a Python has its header files, or apt-get can install them."""
    ask = "import sys, sysconfig; print(*sys.version_info[:2], sep='.'); print(sysconfig.get_path('include'))"
    version, folder = call([python, "-c", ask], f"{python} does not start").splitlines()
    reason = installed(f"python{version}-dev", (Path(folder) / "Python.h").exists)
    if reason:
        raise LeftOutError(f"{python} has none ({reason})")


def find_cache() -> None:
    """Let uv keep its cache below `_build` where it cannot write to the home folder, or there is none."""
    with suppress(RuntimeError):  # this user has no home
        if can_write_to(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "uv")):
            return
    os.environ.setdefault("UV_CACHE_DIR", str(BUILD / "uv" / "cache"))


def find_uv(wanted: str) -> str:
    """Return the path of uv: one on PATH if it has the version `wanted` or a newer one, else our own below `_build`."""
    find_cache()
    own = BUILD / "uv" / "bin" / "uv"
    for path in (shutil.which("uv"), str(own)):
        if path and uv_version(path) >= tuple(map(int, wanted.split("."))):
            return path
    tell("setting up: uv")
    failure = "cannot make a virtual environment (Debian: apt-get install python3-venv)"
    call([sys.executable, "-m", "venv", str(BUILD / "uv")], failure)
    call([str(own.with_name("python")), "-m", "pip", "install", "--quiet", f"uv=={wanted}"], "cannot install uv")
    return str(own)


def uv_version(path: str) -> tuple[int, ...]:
    """Return the version of a uv as a tuple of numbers, () if it does not answer."""
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
    except OSError:
        return ()
    found = re.match(r"uv (\d+)\.(\d+)\.(\d+)", answer)
    return tuple(map(int, found.groups())) if found else ()
