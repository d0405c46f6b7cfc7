"""What is installed into an environment: pins, which are resolved here too, and d2l_utils. Standard library only."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from book import FRAMEWORKS, ROOT
from book.setup.programs import BUILD, call


def install(uv: str, name: str, settings: dict[str, Any], python: str, gpu: bool) -> None:
    """Install everything into environment `name`, with the build for the GPU if `gpu`.

    `uv` and `python` are the paths of uv and of the environment's Python, `settings` its table in pyproject.toml.
    """
    wheels = wheel_folders()
    arguments = ["-r", f"requirements/{name}.txt"]
    if gpu and "gpu-build" in settings:
        arguments = ["-r", str(gpu_pins(name, settings)), settings["gpu-build"]]
    if "gpu-option" in settings and not any(any(folder.glob(f"{settings['module']}-*")) for folder in wheels):
        arguments.append(settings["gpu-option"])
    links = {"UV_FIND_LINKS": ",".join(map(str, wheels))} if wheels else {}
    command = [uv, "pip", "install", "--python", python]
    call([*command, *arguments], f"cannot install requirements/{name}.txt", **links)
    alone = settings.get("without-dependencies", [])
    if alone:
        call([*command, "--no-deps", *alone], f"cannot install {' '.join(alone)}", **links)
    call([*command, "--no-deps", "--editable", str(ROOT)], f"cannot install d2l_utils into {name}")


def wheel_folders() -> list[Path]:
    """Return the folders of wheels that pip is set to look into."""
    found = os.environ.get("PIP_FIND_LINKS")
    if found is None:
        command = [sys.executable, "-m", "pip", "config", "get", "global.find-links"]
        found = subprocess.run(command, capture_output=True, text=True).stdout
    return [Path(part) for part in found.split()]


def gpu_pins(name: str, settings: dict[str, Any]) -> Path:
    """Write the pins of environment `name` without its build for the CPU, which fills the same folder; return where."""
    pins = (ROOT / "requirements" / f"{name}.txt").read_text().splitlines(keepends=True)
    replaced = f"{settings['cpu-build']}==" if "cpu-build" in settings else None
    kept = [line for line in pins if replaced is None or not line.startswith(replaced)]
    path = BUILD / "env" / f"{name}-gpu.txt"
    path.write_text("".join(kept))
    return path


def resolve_pins(uv: str) -> None:
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
