"""Measure the build: `python benchmarks/building.py FRAMEWORK`, after `make book`.

Prints, as ratios within one run, the time of our pipeline for one section and framework, from nothing and after small
changes, over that of `jupyter nbconvert --execute` of the same notebook. Works on a copy of the project's sources.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECTION = "async-computation"


def seconds(*command, folder):
    """Run a command quietly and return the seconds it took; stop with its last words when it fails."""
    start = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"error: {' '.join(command[:6])}: {(done.stdout + done.stderr)[-400:]}")
    return time.perf_counter() - start


def copy_project(folder):
    """Copy the sources and the machine profile, which is not to be measured again."""
    hidden = shutil.ignore_patterns("_build", ".git", "__pycache__")
    shutil.copytree(ROOT, folder, ignore=hidden, dirs_exist_ok=True)
    (folder / "_build").mkdir()
    shutil.copy2(ROOT / "_build" / "machine.json", folder / "_build")


def build(folder, framework):
    """Do what `make book` does for one section, without its look at the environments; return the seconds."""
    book = [sys.executable, "-m", "book", "build", "--frameworks", framework, "--sections", SECTION]
    sphinx = [sys.executable, "-m", "sphinx", "-q", "-n", "-W", "-b", "html", "-c", "book/pages"]
    html = ["-d", "_build/doctrees/html", "_build/book", "_build/html"]
    return seconds(*book, folder=folder) + seconds(*sphinx, *html, folder=folder)


def append(path, text):
    """Add text to the end of a file."""
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def convert(folder, framework):
    """Execute the section's notebook by nbconvert; return the seconds."""
    options = ["--to", "html", "--execute", "--ExecutePreprocessor.timeout=300", "--output-dir", f"{folder}/plain"]
    notebook = folder / "_build" / "notebooks" / framework / f"{SECTION}.ipynb"
    return seconds(sys.executable, "-m", "nbconvert", *options, str(notebook), folder=folder)


def main():
    """Print the times and their ratios."""
    parser = argparse.ArgumentParser(description="Measure the build.")
    parser.add_argument("framework")
    framework = parser.parse_args().framework
    with tempfile.TemporaryDirectory() as name:
        folder, found = Path(name), {}
        copy_project(folder)
        found["from nothing"] = build(folder, framework)
        found["after no change"] = build(folder, framework)
        append(folder / "notebooks" / f"{SECTION}.md", "\nOne more sentence.\n")
        found["after a changed sentence"] = build(folder, framework)
        append(folder / "book" / "pages" / "_static" / "book.css", "\n/* One more remark. */\n")
        found["after a changed style sheet"] = build(folder, framework)
        plain = convert(folder, framework)
    print(f"{SECTION} in {framework:<21} seconds   over nbconvert --execute")
    for title, taken in ({"nbconvert --execute": plain} | found).items():
        print(f"{title:<38} {taken:9.2f}   {taken / plain:9.3f}")


if __name__ == "__main__":
    main()
