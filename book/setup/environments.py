"""Make the virtual environments and Jupyter kernels that the chapter runs in.

`python3 -m book.setup.environments docs pytorch …` makes those that are missing or out of date below `_build/env`,
registers the kernels below `_build/jupyter`, and prints the frameworks that this machine can run. make calls it each time, so
that what could not be had is tried again. It runs before anything is installed: standard library only.
"""

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

from book import FRAMEWORKS
from book.setup.programs import (
    BUILD,
    ROOT,
    LeftOutError,
    SetupError,
    call,
    check_compiler,
    find_browser,
    find_uv,
    get_browser,
    has_gpu,
    tell,
)

if sys.version_info < (3, 11):  # noqa: UP036  (said before the import below fails)
    sys.exit(
        f"error: Python 3.11 or newer is needed, this is {platform.python_version()}: "
        "install one and call make PYTHON=python3.11"
    )

import tomllib  # noqa: E402  (it came with Python 3.11)

__all__ = ["find_browser", "main"]
RECIPE = 1  # one more whenever the code below makes another environment out of the same pins and settings


def project():
    """Return the content of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def check_platform(name, table):
    """Raise LeftOutError when `name` has no wheel for this machine."""
    machine = platform.machine().lower().replace("amd64", "x86_64")
    here = f"{platform.system().lower()}-{machine}"
    known = table["platforms"].get(name)
    if known and here not in known:
        raise LeftOutError(f"{FRAMEWORKS[name]} has no wheel for {here} (only for {', '.join(known)})")


def on_gpu(name, table):
    """Tell whether environment `name` gets a build for the GPU."""
    return name in (*table["gpu"], "pytorch") and has_gpu()


def fingerprint(name, content, gpu):
    """Return a hash of all that decides what environment `name` holds; `content` is that of pyproject.toml."""
    table = content["tool"]["d2l"]
    parts = {
        "recipe": RECIPE,
        "folder": str(ROOT),  # environments and kernels hold absolute paths
        "pins": (ROOT / "requirements" / f"{name}.txt").read_text(),
        "gpu": gpu and table["gpu"].get(name, True),
        "settings": [table[key].get(name) for key in ("python", "kernel-environment")],
        "package": [content["build-system"], content["tool"]["hatch"]],
        "version": [content["project"][key] for key in ("name", "version")],
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def kernel_file(name):
    """Return the path of the kernel's settings."""
    return BUILD / "jupyter" / "share" / "jupyter" / "kernels" / f"d2l-{name}" / "kernel.json"


def make_environment(name, content):
    """Make environment `name` and its kernel unless they are up to date."""
    table = content["tool"]["d2l"]
    check_platform(name, table)
    gpu = on_gpu(name, table)
    folder, wanted = BUILD / "env" / name, fingerprint(name, content, gpu)
    stamp, python = folder / ".ready", folder / "bin" / "python"
    there = python.exists() and (name == "docs" or kernel_file(name).exists())
    if there and stamp.exists() and stamp.read_text() == wanted:
        return
    uv = find_uv(table["uv"])
    base = interpreter(uv, name, table["python"][name])
    tell(f"setting up: {name}")
    call([uv, "venv", "--clear", "--python", base, str(folder)], f"cannot make the environment {name}")
    install(uv, name, table, str(python), gpu)
    if name in FRAMEWORKS:
        make_kernel(name, str(python), table["kernel-environment"].get(name, {}))
    stamp.write_text(wanted)


def interpreter(uv, name, wanted):
    """Return a Python that the wheels of `name` accept; fetch one below `_build` if there is none."""
    find = [uv, "python", "find", "--no-project", wanted]
    own = {"UV_PYTHON_INSTALL_DIR": str(BUILD / "uv" / "python"), "UV_PYTHON_INSTALL_BIN": "0"}
    for environment in ({}, own):
        try:
            return call(find, "no Python", **environment).strip()
        except SetupError:
            continue
    tell(f"setting up: Python {wanted} for {name}")
    try:
        call([uv, "python", "install", wanted], "it cannot be fetched", **own)
        return call(find, "it cannot be found", **own).strip()
    except SetupError as error:
        raise LeftOutError(
            f"{name} needs Python {wanted}, this is {platform.python_version()}; {error}, or put one on PATH"
        ) from None


def install(uv, name, table, python, gpu):
    """Install the pins of environment `name`, and d2l_utils as it lies here."""
    wheels = wheel_folder()
    arguments = ["-r", f"requirements/{name}.txt"]
    if gpu and name in table["gpu"]:
        arguments = ["-r", str(gpu_pins(name)), table["gpu"][name]]
    if name == "pytorch" and not any(Path(part).glob("torch-*") for part in wheels.split()):
        arguments.append("--torch-backend=auto")
    links = {"UV_FIND_LINKS": ",".join(wheels.split())} if wheels else {}
    command = [uv, "pip", "install", "--python", python]
    call([*command, *arguments], f"cannot install requirements/{name}.txt", **links)
    call([*command, "--no-deps", "--editable", str(ROOT)], f"cannot install d2l_utils into {name}")


def wheel_folder():
    """Return the folder of wheels that pip is set to look into, or ''."""
    folder = os.environ.get("PIP_FIND_LINKS")
    if folder is None:
        asked = [sys.executable, "-m", "pip", "config", "get", "global.find-links"]
        folder = subprocess.run(asked, capture_output=True, text=True).stdout.strip()
    return folder


def gpu_pins(name):
    """Write the pins of environment `name` without its build for the CPU, which fills the same folder; return where."""
    pins = (ROOT / "requirements" / f"{name}.txt").read_text().splitlines(keepends=True)
    path = BUILD / "env" / f"{name}-gpu.txt"
    path.write_text("".join(line for line in pins if not line.startswith(f"{name}-cpu")))
    return path


def make_kernel(name, python, environment):
    """Register the kernel `d2l-<name>` below `_build/jupyter`."""
    variables = [part for item in environment.items() for part in ("--env", *item)]
    naming = ["--prefix", str(BUILD / "jupyter"), "--name", f"d2l-{name}", "--display-name", FRAMEWORKS[name]]
    command = [python, "-m", "ipykernel", "install", *naming, *variables]
    places = {
        "JUPYTER_PATH": str(BUILD / "jupyter" / "share" / "jupyter"),
        "IPYTHONDIR": str(BUILD / "jupyter" / "ipython"),
    }
    call(command, f"cannot register the kernel of {name}", **places)


def resolve_pins(uv):
    """Write requirements/ from the dependency groups of pyproject.toml.

    PyTorch's CUDA packages are left out: `uv pip install` adds them where the PyTorch that fits the machine wants them.
    """
    options = ["--universal", "--python-version", "3.11", "--quiet"]
    options += ["--no-annotate", "--no-header", "--no-emit-index-url"]
    for name in ["docs", *FRAMEWORKS]:
        pins = call([uv, "pip", "compile", "pyproject.toml", "--group", name, *options], f"cannot resolve {name}")
        kept = [line for line in pins.splitlines() if not line.startswith(("nvidia-", "cuda-", "triton"))]
        (ROOT / "requirements" / f"{name}.txt").write_text("\n".join(kept) + "\n")
        print(f"requirements/{name}.txt: {len(kept)} pins")


def make_all(names, content):
    """Make every environment; return the frameworks that this machine runs."""
    unknown = [name for name in names if name != "docs" and name not in FRAMEWORKS]
    if unknown:
        raise SetupError(f"unknown environment {unknown[0]!r}; known: docs {' '.join(FRAMEWORKS)}")
    if "pytorch" in names:
        check_compiler()
    there = []
    for name in names:
        try:
            make_environment(name, content)
        except LeftOutError as reason:
            if name == "docs":
                raise
            tell(f"skipped: {reason}")
        else:
            there += [name] if name in FRAMEWORKS else []
    if not there:
        raise SetupError(f"none of these runs on this machine: {' '.join(names)}")
    return there


def main(arguments=None):
    """Do what the command line says; return the exit code."""
    parser = argparse.ArgumentParser(prog="python3 -m book.setup.environments", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="docs, " + ", ".join(FRAMEWORKS))
    parser.add_argument("--pins", action="store_true", help="resolve requirements/ anew instead")
    parser.add_argument("--browser", action="store_true", help="look for the tests' browser instead, or fetch it")
    options = parser.parse_args(arguments)
    try:
        if options.pins:
            resolve_pins(find_uv(project()["tool"]["d2l"]["uv"]))
        elif options.browser:
            get_browser()
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
