"""Make the virtual environments and Jupyter kernels that the chapter runs in.

`python3 book/environments.py docs pytorch …` makes those that are missing or
out of date below `_build/env` and registers the kernels below `_build/jupyter`.
With `--list FILE` it writes the frameworks that this machine can run into a
Makefile fragment. It runs before anything is installed, so it imports the
standard library only.
"""

import argparse
import hashlib
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036  (said before the import below fails)
    sys.exit(
        f"error: Python 3.11 or newer is needed, this is {platform.python_version()}: "
        "install one and call make PYTHON=python3.11"
    )

import tomllib  # noqa: E402  (it came with Python 3.11)

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "_build"
FRAMEWORKS = {"pytorch": "PyTorch", "tensorflow": "TensorFlow", "jax": "JAX", "mxnet": "MXNet"}
NETWORK_WORDS = ("dns error", "connect", "timed out", "network", "resolve host", "retries exceeded")


class SetupError(Exception):
    """What went wrong and how to mend it, in one line."""


class NotHereError(SetupError):
    """This machine cannot run the framework; the book goes without its tab."""


def settings():
    """Return the table [tool.d2l] of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["d2l"]


def call(command, failure, **environment):
    """Run `command` quietly; raise SetupError(`failure`) with its last line."""
    done = subprocess.run(command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True)
    if done.returncode:
        said = (done.stderr or done.stdout).strip()
        cure = " (is there a network connection?)" if any(w in said.lower() for w in NETWORK_WORDS) else ""
        raise SetupError(f"{failure}{cure}: {' '.join(said.splitlines()[-4:])[-400:]}")
    return done.stdout


def check_compiler():
    """Raise SetupError unless a C++ compiler is on the path."""
    names = [os.environ.get("CXX"), "c++", "g++", "clang++"]
    if not any(shutil.which(name) for name in names if name):
        raise SetupError(
            "no C++ compiler found (tried $CXX, c++, g++, clang++), torch.compile needs one: "
            "install it (Debian: apt-get install g++; macOS: xcode-select --install)"
        )


def check_platform(name, table):
    """Raise NotHereError when `name` has no wheel for this machine."""
    machine = platform.machine().lower().replace("amd64", "x86_64")
    here = f"{platform.system().lower()}-{machine}"
    known = table["platforms"].get(name)
    if known and here not in known:
        raise NotHereError(f"{FRAMEWORKS[name]} has no wheel for {here} (only for {', '.join(known)})")


def find_browser():
    """Return the path of a Chromium on PATH, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def find_uv(version):
    """Return the path of uv; put it below `_build` when it is not at hand."""
    found = shutil.which("uv")
    if found:
        return found
    local = BUILD / "uv" / "bin" / "uv"
    if not local.exists():
        print("setting up: uv", flush=True)
        call(
            [sys.executable, "-m", "venv", str(BUILD / "uv")],
            "cannot make a virtual environment (Debian: apt-get install python3-venv)",
        )
        call(
            [str(BUILD / "uv" / "bin" / "python"), "-m", "pip", "install", "--quiet", f"uv=={version}"],
            f"cannot install uv {version}",
        )
    return str(local)


def wheel_folder():
    """Return the folder of wheels that pip is set to look into, or ''."""
    folder = os.environ.get("PIP_FIND_LINKS")
    if folder is None:
        asked = subprocess.run(
            [sys.executable, "-m", "pip", "config", "get", "global.find-links"], capture_output=True, text=True
        )
        folder = asked.stdout.strip()
    return folder


def has_gpu():
    """Tell whether an NVIDIA driver answers with at least one GPU."""
    if not shutil.which("nvidia-smi"):
        return False
    return "GPU " in subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout


def install_arguments(name, table, wheels):
    """Return what `uv pip install` installs for environment `name`."""
    arguments = ["-r", f"requirements/{name}.txt"]
    if name == "pytorch" and not any(Path(part).glob("torch-*") for part in wheels.split()):
        arguments.append("--torch-backend=auto")
    if name in table["gpu"] and has_gpu():
        arguments = ["-r", str(gpu_pins(name)), table["gpu"][name]]
    return arguments


def gpu_pins(name):
    """Write the pins of environment `name` without its build for the CPU, which fills the same folder; return where."""
    pins = (ROOT / "requirements" / f"{name}.txt").read_text().splitlines(keepends=True)
    path = BUILD / "env" / f"{name}-gpu.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line for line in pins if not line.startswith(f"{name}-cpu")))
    return path


def interpreter(uv, name, table):
    """Return a Python that the wheels of `name` accept, this one if it does."""
    wanted = table["python"][name]
    try:
        found = call([uv, "python", "find", "--no-project", wanted], "no Python")
    except SetupError:
        try:
            print(f"setting up: Python {wanted} for {name}", flush=True)
            call([uv, "python", "install", wanted], "no Python")
            found = call([uv, "python", "find", "--no-project", wanted], "no Python")
        except SetupError as error:
            raise NotHereError(
                f"{name} needs Python {wanted}, this is {platform.python_version()} and no other was "
                f"found: install one and put it on PATH ({str(error)[:120]})"
            ) from None
    return found.strip()


def fingerprint(name, arguments):
    """Return a hash of all that decides what environment `name` holds."""
    parts = [
        Path(__file__).read_text(),
        (ROOT / "pyproject.toml").read_text(),
        str(ROOT),
        (ROOT / "requirements" / f"{name}.txt").read_text(),
        *arguments,
    ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def make_environment(name, table):
    """Make environment `name` and its kernel unless they are up to date."""
    check_platform(name, table)
    wheels = wheel_folder()
    arguments = install_arguments(name, table, wheels)
    folder = BUILD / "env" / name
    stamp, wanted = folder / ".ready", fingerprint(name, arguments)
    if stamp.exists() and stamp.read_text() == wanted:
        return
    uv = find_uv(table["uv"])
    print(f"setting up: {name}", flush=True)
    python = str(folder / "bin" / "python")
    base = interpreter(uv, name, table)
    call([uv, "venv", "--clear", "--python", base, str(folder)], f"cannot make the environment {name}")
    install = [uv, "pip", "install", "--python", python]
    links = {"UV_FIND_LINKS": ",".join(wheels.split())} if wheels else {}
    call([*install, *arguments], f"cannot install requirements/{name}.txt", **links)
    call([*install, "--no-deps", "--editable", str(ROOT)], f"cannot install d2l_utils into {name}")
    if name in FRAMEWORKS:
        make_kernel(name, python, table["kernel-environment"].get(name, {}))
    stamp.write_text(wanted)


def make_kernel(name, python, environment):
    """Register the kernel `d2l-<name>` below `_build/jupyter`."""
    prefix = BUILD / "jupyter"
    variables = [part for item in environment.items() for part in ("--env", *item)]
    call(
        [
            python,
            "-m",
            "ipykernel",
            "install",
            "--prefix",
            str(prefix),
            "--name",
            f"d2l-{name}",
            "--display-name",
            FRAMEWORKS[name],
            *variables,
        ],
        f"cannot register the kernel of {name}",
        JUPYTER_PATH=str(prefix / "share" / "jupyter"),
    )


def resolve_pins(uv):
    """Write requirements/ from the dependency groups of pyproject.toml.

    PyTorch's CUDA packages are left out: `uv pip install` adds them where the
    PyTorch that fits the machine wants them.
    """
    for name in ["docs", *FRAMEWORKS]:
        pins = call(
            [
                uv,
                "pip",
                "compile",
                "pyproject.toml",
                "--group",
                name,
                "--universal",
                "--python-version",
                "3.11",
                "--no-annotate",
                "--no-header",
                "--no-emit-index-url",
                "--quiet",
            ],
            f"cannot resolve {name}",
        )
        kept = [line for line in pins.splitlines() if not line.startswith(("nvidia-", "cuda-", "triton"))]
        (ROOT / "requirements" / f"{name}.txt").write_text("\n".join(kept) + "\n")
        print(f"requirements/{name}.txt: {len(kept)} pins")
    return 0


def main(arguments=None):
    """Make the environments named on the command line; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="docs, " + ", ".join(FRAMEWORKS))
    parser.add_argument("--pins", action="store_true", help="resolve requirements/ anew instead")
    parser.add_argument("--list", type=Path, metavar="FILE", help="write the frameworks that are there into FILE")
    options = parser.parse_args(arguments)
    try:
        unknown = [name for name in options.names if name != "docs" and name not in FRAMEWORKS]
        if unknown:
            raise SetupError(f"unknown environment {unknown[0]!r}; known: docs {' '.join(FRAMEWORKS)}")
        if options.pins:
            return resolve_pins(find_uv(settings()["uv"]))
        check_compiler()
        there = make_all(options.names, settings())
    except SetupError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted: the next make goes on with the environment that is not finished", file=sys.stderr)
        return 130
    if options.list:
        options.list.write_text(f"AVAILABLE := {' '.join(there)}\n")
    return 0


def make_all(names, table):
    """Make every environment; return the frameworks that this machine runs."""
    there = []
    for name in names:
        try:
            make_environment(name, table)
        except NotHereError as reason:
            if name == "docs":
                raise
            print(f"skipped: {reason}", file=sys.stderr)
        else:
            there += [name] if name in FRAMEWORKS else []
    if not there:
        raise SetupError(f"none of these runs on this machine: {' '.join(names)}")
    return there


if __name__ == "__main__":
    sys.exit(main())
