"""The programs that the set-up needs: a compiler and uv, looked for before they are fetched. Standard library only."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from book import ROOT
from d2l_lab.files import can_write_to

BUILD = ROOT / "_build"
# What pip, uv and Playwright write, in small letters, when no server answers.
NETWORK_WORDS = ["connect", "dns error", "enotfound", "etimedout", "eai_again"]
NETWORK_WORDS += ["name resolution", "network is", "timed out"]


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
    message = (done.stderr or done.stdout).strip()
    if any(words in message.lower() for words in NETWORK_WORDS):
        raise SetupError(f"{failure}: no server answers. Is there a network connection? The next call tries again")
    raise SetupError(f"{failure}: {' '.join(message.splitlines()[-4:])[-400:]}")


def check_compiler() -> None:
    names = [os.environ.get("CXX"), "c++", "g++", "clang++"]
    if not any(shutil.which(name) for name in names if name):
        raise SetupError(
            "no C++ compiler found (tried $CXX, c++, g++, clang++), torch.compile needs one: "
            "install it (Debian: apt-get install g++; macOS: xcode-select --install)"
        )


def apt_get(packages: Sequence[str]) -> None:
    """Install packages of Debian, announced in one line; SetupError where that is not allowed or fails."""
    root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if not shutil.which("apt-get"):
        raise SetupError("this system has no apt-get")
    if root and not (shutil.which("sudo") and subprocess.run([*root, "true"], capture_output=True).returncode == 0):
        raise SetupError("this user may not install it")
    tell(f"setting up: {' '.join(packages)}, which apt-get installs")
    command = [*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    call([*command, "update"], "apt-get update fails")
    call([*command, "install", "-y", "--no-install-recommends", *packages], "apt-get install fails")


def check_headers(python: str) -> None:
    """Raise SetupError unless a Python has its header files, or apt-get can install them as a package of their own."""
    ask = "import os, sys, sysconfig; print(*sys.version_info[:2], sep='.'); print(sysconfig.get_path('include'))"
    version, folder = call([python, "-c", ask], f"{python} does not start").split()
    if (Path(folder) / "Python.h").exists():
        return
    package = f"python{version}-dev"
    try:
        apt_get([package])
    except SetupError as error:
        raise SetupError(
            f"{python} has no header files (Python.h), torch.compile needs them ({error}): "
            f"install them (Debian: apt-get install {package})"
        ) from None
    if not (Path(folder) / "Python.h").exists():
        raise SetupError(f"{package} brings no header files for {python}: put a Python that has them first on PATH")


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
