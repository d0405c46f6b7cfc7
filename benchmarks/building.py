"""Measure the build: `python benchmarks/building.py FRAMEWORK…`, after `make book`.

Prints, as ratios within one run, what our pipeline takes for the notebooks of all sections, cold and after a change of
prose, against `jupyter nbconvert --execute` of the same notebooks. Works on a copy of the project's sources.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def seconds(*command, folder, **environment):
    """Run a command quietly and return the seconds it took; stop with its last lines when it fails."""
    start = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=os.environ | environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"error: {' '.join(command[:6])}: {(done.stdout + done.stderr)[-400:]}")
    return time.perf_counter() - start


def copy_project(folder, frameworks):
    """Copy the sources; take over environments, kernels and the card of the machine, which are not what is measured."""
    hidden = shutil.ignore_patterns("_build", ".git", "__pycache__")
    shutil.copytree(ROOT, folder, ignore=hidden, dirs_exist_ok=True)
    here, build = ROOT / "_build", folder / "_build"
    (build / "env").mkdir(parents=True)
    (build / "jupyter").symlink_to(here / "jupyter")
    for name in ("docs", *frameworks):
        (build / "env" / name).symlink_to(here / "env" / name)
    # Newer than all that make compares it with: otherwise make would make the linked environments anew.
    (build / "env" / f"{'+'.join(frameworks)}.mk").write_text(f"AVAILABLE := {' '.join(frameworks)}\n")
    for name in ("machine.json", "here", "card"):
        if (here / name).exists():
            shutil.copy2(here / name, build / name)


def main(frameworks):
    """Print the three times and their ratios."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_project(folder, frameworks)
        make = ["make", "book", f"FRAMEWORKS={' '.join(frameworks)}"]
        cold = seconds(*make, folder=folder)
        nothing = seconds(*make, folder=folder)
        for source in (folder / "notebooks").glob("*.md"):
            source.write_text(source.read_text() + "\nOne more sentence.\n")
        prose = seconds(*make, folder=folder)
        notebooks = sorted(map(str, (folder / "_build" / "notebooks").glob("*/*.ipynb")))
        options = ["--to", "html", "--execute", "--ExecutePreprocessor.timeout=300", "--output-dir", f"{folder}/plain"]
        nbconvert = [sys.executable, "-m", "nbconvert", *options]  # one by one: several would share a kernel
        plain = sum(seconds(*nbconvert, notebook, folder=folder) for notebook in notebooks)
    print(f"build of {len(notebooks)} notebooks                     seconds   over nbconvert --execute")
    for title, taken in (
        ("nbconvert --execute", plain),
        ("cold build", cold),
        ("after a change of prose", prose),
        ("after no change", nothing),
    ):
        print(f"{title:<38} {taken:9.2f}   {taken / plain:9.3f}")


if __name__ == "__main__":
    main(sys.argv[1:])
