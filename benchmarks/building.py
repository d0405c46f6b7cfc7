"""Measure the build: `python benchmarks/building.py FRAMEWORK…`, after `make book`.

Prints, as ratios within one run, what our pipeline takes for the notebooks and pages of all sections, cold and after
small changes, against `jupyter nbconvert --execute` of the same notebooks. Works on a copy of the project's sources.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def seconds(*command, folder):
    """Run a command quietly and return the seconds it took; stop with its last words when it fails."""
    start = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"error: {' '.join(command[:6])}: {(done.stdout + done.stderr)[-400:]}")
    return time.perf_counter() - start


def copy_project(folder):
    """Copy the sources and the profile of the machine, whose measuring is not what is measured."""
    hidden = shutil.ignore_patterns("_build", ".git", "__pycache__")
    shutil.copytree(ROOT, folder, ignore=hidden, dirs_exist_ok=True)
    (folder / "_build").mkdir()
    shutil.copy2(ROOT / "_build" / "machine.json", folder / "_build")


def build(folder, frameworks):
    """Do what `make book` does, without its look at the environments; return the seconds."""
    book = [sys.executable, "-m", "book", "build", "--frameworks", *frameworks]
    sphinx = [sys.executable, "-m", "sphinx", "-q", "-n", "-W", "-b", "html", "-c", "book/pages"]
    html = ["-d", "_build/doctrees/html", "_build/book", "_build/html"]
    return seconds(*book, folder=folder) + seconds(*sphinx, *html, folder=folder)


def append(path, text):
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def main(frameworks):
    """Print the times and their ratios."""
    with tempfile.TemporaryDirectory() as name:
        folder, found = Path(name), {}
        copy_project(folder)
        found["cold build"] = build(folder, frameworks)
        found["after no change"] = build(folder, frameworks)
        append(folder / "notebooks" / "hardware.md", "\nOne more sentence.\n")
        found["after a changed sentence"] = build(folder, frameworks)
        append(folder / "book" / "pages" / "_static" / "book.css", "\n/* One more remark. */\n")
        found["after a changed style sheet"] = build(folder, frameworks)
        notebooks = sorted(map(str, (folder / "_build" / "notebooks").glob("*/*.ipynb")))
        options = ["--to", "html", "--execute", "--ExecutePreprocessor.timeout=300", "--output-dir", f"{folder}/plain"]
        nbconvert = [sys.executable, "-m", "nbconvert", *options]  # one by one: several would share a kernel
        plain = sum(seconds(*nbconvert, notebook, folder=folder) for notebook in notebooks)
    print(f"build of {len(notebooks)} notebooks                     seconds   over nbconvert --execute")
    for title, taken in ({"nbconvert --execute": plain} | found).items():
        print(f"{title:<38} {taken:9.2f}   {taken / plain:9.3f}")


if __name__ == "__main__":
    main(sys.argv[1:])
