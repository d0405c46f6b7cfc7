"""What is installed into an environment: pins, which are resolved here too, and d2l_utils. Standard library only."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from book import FRAMEWORKS, ROOT
from book.setup.programs import BUILD, call

# What no environment gets from its pins: what is for Windows or PyPy alone, and what PyTorch brings for a GPU.
ELSEWHERE = re.compile(
    r"\S+ ; (sys_platform == 'win32'|os_name == 'nt'|implementation_name == 'pypy') |nvidia-|cuda-|triton"
)


def install(uv: str, name: str, settings: dict[str, Any], python: str, gpu: bool) -> None:
    """Install everything into environment `name`, with the build for the GPU if `gpu`.

    `uv` and `python` are the paths of uv and of the environment's Python, `settings` its table in pyproject.toml.
    """
    wheels = wheel_folders()
    options = ["--no-deps"] if "without-dependencies" in settings else []  # all is pinned
    arguments = ["-r", f"requirements/{name}.txt"]
    if gpu and "gpu-build" in settings:
        arguments = ["-r", str(gpu_pins(name, settings)), settings["gpu-build"]]
    elif "gpu-option" not in settings:
        options.append("--require-hashes")  # elsewhere too, uv compares those hashes that the pins have
    elif not any(any(folder.glob(f"{settings['module']}-*")) for folder in wheels):
        options.append(settings["gpu-option"])
    links = {"UV_FIND_LINKS": ",".join(map(str, wheels))} if wheels else {}
    command = [uv, "pip", "install", "--python", python]
    call([*command, *arguments, *options], f"cannot install requirements/{name}.txt", **links)
    build = ["--no-deps", "--build-constraints", "requirements/docs.txt", "--editable", str(ROOT)]
    call([*command, *build], f"cannot install d2l_utils into {name}")


def wheel_folders() -> list[Path]:
    """Return the folders of wheels that pip is set to look into."""
    found = os.environ.get("PIP_FIND_LINKS")
    if found is None:
        command = [sys.executable, "-m", "pip", "config", "get", "global.find-links"]
        found = subprocess.run(command, capture_output=True, text=True).stdout
    return [Path(part) for part in found.split()]


def pins(name: str) -> list[str]:
    """Return the pins of environment `name`, each with its hashes."""
    return split((ROOT / "requirements" / f"{name}.txt").read_text())


def split(text: str) -> list[str]:
    """Return the entries of a file of requirements, whose further lines are indented."""
    return re.split(r"\n(?=\S)", text.strip())


def without_hashes(pin: str) -> str:
    return pin.partition(" \\\n")[0]


def gpu_pins(name: str, settings: dict[str, Any]) -> Path:
    """Write the pins of environment `name` without its build for the CPU, which fills the same folder; return where."""
    replaced = f"{settings['cpu-build']}==" if "cpu-build" in settings else None
    kept = [pin for pin in pins(name) if replaced is None or not pin.startswith(replaced)]
    path = BUILD / "env" / f"{name}-gpu.txt"
    path.write_text("\n".join(kept) + "\n")
    return path


def resolve_pins(uv: str, content: dict[str, Any]) -> None:
    """Write requirements/ from the dependency groups of pyproject.toml, whose content is `content`.

    PyTorch's CUDA packages are left out: `uv pip install` adds them where the PyTorch that fits the machine wants them.
    Which build that is depends on the machine, and each has a hash of its own, so PyTorch is pinned without one.
    """
    options = ["--universal", "--python-version", "3.11", "--quiet", "--generate-hashes"]
    options += ["--no-annotate", "--no-header", "--no-emit-index-url"]
    for name in ["docs", *FRAMEWORKS]:
        settings = content["tool"]["d2l"]["frameworks"].get(name, {})
        resolved = call([uv, "pip", "compile", "pyproject.toml", "--group", name, *options], f"cannot resolve {name}")
        if alone := settings.get("without-dependencies"):
            path = BUILD / "env" / f"{name}-alone.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(alone))
            resolved += call([uv, "pip", "compile", str(path), "--no-deps", *options], f"cannot resolve {alone}")
        kept = [pin for pin in split(resolved) if not ELSEWHERE.match(pin)]
        if "gpu-option" in settings:
            kept = [without_hashes(pin) if pin.startswith(f"{settings['module']}==") else pin for pin in kept]
        (ROOT / "requirements" / f"{name}.txt").write_text("\n".join(kept) + "\n")
        print(f"requirements/{name}.txt: {len(kept)} pins")
