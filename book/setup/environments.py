"""Make the virtual environments and Jupyter kernels that the chapter runs in.

`python3 -m book.setup.environments docs pytorch …` makes those that are missing or out of date below `_build/env`,
registers the kernels below `_build/jupyter`, and prints the frameworks that this machine can run, each of which gets a
stamp. make calls it each time, so that what could not be had is tried again. Standard library only.
"""

import argparse
import hashlib
import json
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from book import FRAMEWORKS, ROOT, project
from book.setup import programs
from book.setup.packages import install, resolve_pins
from book.setup.programs import BUILD, LeftOutError, SetupError, call, find_uv, in_ci, tell
from d2l_lab.files import locked
from d2l_lab.machine.system import gpus

RECIPE = 3  # one more whenever the code below makes another environment out of the same pins and settings


def settings_of(name: str, content: dict[str, Any]) -> dict[str, Any]:
    """Return the table of environment `name` in pyproject.toml, whose content is `content`."""
    table = content["tool"]["d2l"]
    return table["docs"] if name == "docs" else table["frameworks"][name]


def available_stamp(name: str) -> Path:
    """Return the file that is there while this machine can run framework `name`: the Makefile looks for it."""
    return BUILD / "env" / f"{name}.available"


def check_platform(settings: dict[str, Any]) -> None:
    """Raise LeftOutError when a framework has no wheel for this machine."""
    machine = platform.machine().lower().replace("amd64", "x86_64")
    here = f"{platform.system().lower()}-{machine}"
    known = settings.get("platforms", [here])
    if here not in known:
        raise LeftOutError(f"{settings['title']} has no wheel for {here} (only for {', '.join(known)})")


def wants_gpu(settings: dict[str, Any]) -> bool:
    """Tell whether an environment gets a build for the GPU: an NVIDIA driver has to answer with at least one."""
    return ("gpu-build" in settings or "gpu-option" in settings) and bool(gpus())


def fingerprint(name: str, content: dict[str, Any], gpu: bool) -> str:
    """Return a hash of all that decides what environment `name` holds; `content` is that of pyproject.toml."""
    parts = {
        "recipe": RECIPE,
        "folder": str(ROOT),  # environments and kernels hold absolute paths
        "pins": (ROOT / "requirements" / f"{name}.txt").read_text(),
        "gpu": gpu,
        "settings": settings_of(name, content),
        "package": [content["build-system"], content["tool"]["hatch"]],
        "version": [content["project"][key] for key in ("name", "version")],
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def make_environment(name: str, content: dict[str, Any]) -> None:
    """Make environment `name` and its kernel unless they are up to date."""
    settings = settings_of(name, content)
    check_platform(settings)
    if settings.get("compiler"):
        programs.check_compiler(settings["title"])
    gpu = wants_gpu(settings)
    folder, wanted = BUILD / "env" / name, fingerprint(name, content, gpu)
    stamp, python = folder / ".ready", folder / "bin" / "python"
    kernel = BUILD / "jupyter" / "share" / "jupyter" / "kernels" / f"d2l-{name}" / "kernel.json"
    complete = python.exists() and (name == "docs" or kernel.exists())
    if complete and stamp.exists() and stamp.read_text() == wanted:
        return
    uv = find_uv(content["tool"]["d2l"]["uv"])
    base = interpreter(uv, name, settings)
    tell(f"setting up: {name}")
    call([uv, "venv", "--clear", "--python", base, str(folder)], f"cannot make the environment {name}")
    install(uv, name, settings, str(python), gpu)
    if name in FRAMEWORKS:
        make_kernel(name, str(python), settings)
    stamp.write_text(wanted)


def interpreter(uv: str, name: str, settings: dict[str, Any]) -> str:
    """Return the path of a Python that the wheels of `name` accept; fetch one below `_build` if there is none.

    Where something is compiled against the Python, it has header files too; those that uv fetches have them.
    """
    wanted, compiles = settings["python"], settings.get("compiler", False)
    find = [uv, "python", "find", "--no-project", wanted]
    own = {"UV_PYTHON_INSTALL_DIR": str(BUILD / "uv" / "python"), "UV_PYTHON_INSTALL_BIN": "0"}
    managed = own | {"UV_PYTHON_PREFERENCE": "only-managed"}
    reason = f"this is {platform.python_version()}"
    for environment in ({}, managed):
        try:
            python = call(find, "there is none", **environment).strip()
            if compiles:
                programs.check_headers(python)
            return python
        except LeftOutError as error:
            reason = str(error)
        except SetupError:
            continue
    tell(f"setting up: Python {wanted} for {name}")
    try:
        call([uv, "python", "install", wanted], "it cannot be fetched", **own)
        return call(find, "it cannot be found", **managed).strip()
    except SetupError as error:
        needs = f"{name} needs Python {wanted}{' with header files (Python.h)' if compiles else ''}"
        raise LeftOutError(f"{needs}, {reason}; {error}, or put one on PATH") from None


def make_kernel(name: str, python: str, settings: dict[str, Any]) -> None:
    naming = ["--prefix", str(BUILD / "jupyter"), "--name", f"d2l-{name}", "--display-name", settings["title"]]
    command = [python, "-m", "ipykernel", "install", *naming]
    for variable, value in settings.get("kernel-environment", {}).items():
        command += ["--env", variable, value]
    folder = BUILD / "jupyter"
    places = {"JUPYTER_PATH": str(folder / "share" / "jupyter"), "IPYTHONDIR": str(folder / "ipython")}
    call(command, f"cannot register the kernel of {name}", **places)


def make_all(names: Sequence[str], content: dict[str, Any]) -> list[str]:
    """Make every environment; return the frameworks that this machine runs."""
    for name in names:
        if name != "docs" and name not in FRAMEWORKS:
            raise SetupError(f"unknown environment {name!r}; known: docs {' '.join(FRAMEWORKS)}")
    available = []
    for name in names:
        try:
            make_environment(name, content)
        except LeftOutError as reason:
            if name == "docs" or (settings_of(name, content).get("compiler") and in_ci()):
                raise
            available_stamp(name).unlink(missing_ok=True)
            tell(f"skipped: {reason}")
            continue
        if name in FRAMEWORKS:
            available_stamp(name).touch()
            available.append(name)
    if not available:
        raise SetupError(f"none of these runs on this machine: {' '.join(names)}")
    return available


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m book.setup.environments", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="docs, " + ", ".join(FRAMEWORKS))
    parser.add_argument("--pins", action="store_true", help="resolve requirements/ anew instead")
    options = parser.parse_args(arguments)
    try:
        with locked(BUILD / ".setup.lock", "another make is setting up: waiting until it is done"):
            if options.pins:
                resolve_pins(find_uv(project()["tool"]["d2l"]["uv"]), project())
            elif options.names == ["docs"]:
                make_environment("docs", project())
                print("docs")
            else:
                print(*make_all(options.names, project()))
    except SetupError as error:
        tell(f"error: {error}")
        return 1
    except KeyboardInterrupt:
        tell("interrupted: the next make goes on with the environment that is not finished")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
