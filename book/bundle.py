"""A zip with one framework's notebooks that run without the project, on a laptop or a hosted Jupyter.

Beside the notebooks lie the wheel of d2l_utils with its data, what the framework's cells require, and pins for all that
this requires in turn. The first cell of each notebook installs what is missing.
"""

import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory
from typing import Any

from book import FRAMEWORKS, MODULES, ROOT, BookError, project
from book.cells import Cell, Notebook, new_code_cell
from book.hosted import bundle_name, repository
from book.layout import Edition, dump, read_notebook
from book.setup.packages import pins, without_hashes
from book.sources import slugs
from book.words import say
from d2l_lab.instruments.words import WORDS

FIRST = Template("""\
# $what
import os
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from pathlib import Path

${settings}wheel = "$wheel"
needed = "$modules".split()
missing = [name for name in needed if not find_spec(name)]
print("$lacking", ", ".join(missing) or "$nothing")
at = "" if Path(wheel).exists() else "$folder"
if missing and not at and not Path(wheel).exists():
    raise FileNotFoundError("$upload")
if "$module" in missing:
    %pip install --quiet -r {at}requirements.txt -c {at}pins.txt {at}{wheel}
elif missing:
    here = packages_distributions()["$module"][:1]
    here += filter(find_spec, ["numpy"])  # what has been built for it
    kept = " ".join(f"{name}=={version(name)}" for name in here)
    print("$keeping", kept)
    %pip install --quiet {kept}$others {at}{wheel}
""")


def readme(framework: str, python: str, wheel: str) -> str:
    """Return what a bundle says about itself; `python` is the versions that the framework has, `wheel` a file."""
    title = FRAMEWORKS[framework]
    command = f"`pip install -r requirements.txt -c pins.txt {wheel}`"
    steps = [
        say("Unzip this folder, or upload all of its files into one folder of a hosted Jupyter."),
        say("Start Jupyter there, with Python {python}, and open `index.ipynb`.", python=python),
        say(
            "The first cell of each notebook installs what is missing; a {framework} that is there is kept.",
            framework=title,
        ),
        say("On a machine with a GPU, install the framework's build for it first."),
    ]
    last = [
        say("{command} installs the versions that the notebooks were tested with.", command=command),
        say("The notebooks are meant for Linux and macOS; on Windows, use WSL."),
        say("No account or data set is needed."),
    ]
    heading = say("{title} in {framework}", title=say("Computational Performance"), framework=title)
    listed = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
    return f"# {heading}\n\n{listed}\n\n" + "\n".join(last) + "\n"


def direct(framework: str, content: dict[str, Any]) -> list[str]:
    """Return what a framework's own group in pyproject.toml, whose content is `content`, requires."""
    return [entry for entry in content["dependency-groups"][framework] if isinstance(entry, str)]


def name_of(requirement: str) -> str:
    """Return the name of the package that a requirement begins with."""
    return requirement.partition("==")[0].partition(";")[0].strip()


def first_cell(framework: str, wheel: str, content: dict[str, Any]) -> Cell:
    """Return the cell that installs what is missing."""
    settings = content["tool"]["d2l"]["frameworks"][framework].get("kernel-environment", {})
    module, home = MODULES[framework], repository(content)
    others = [name_of(entry) for entry in direct(framework, content) if module not in name_of(entry)]
    source = FIRST.substitute(
        what=say("Install what this notebook needs and this Python lacks; keep what is here"),
        lacking=say("Missing:"),
        nothing=say("nothing, so nothing is installed"),
        upload=say("upload {wheel} beside this notebook", wheel=wheel),
        keeping=say("Keeping"),
        settings="".join(f'os.environ["{name}"] = "{value}"\n' for name, value in settings.items()),
        wheel=wheel,
        folder=f"https://github.com/{home}/raw/bundle/{bundle_name(framework)}/" if home else "",
        module=module,
        modules=" ".join([module, *filter(str.isidentifier, others), "d2l_utils"]),
        others="".join(f" {name}" for name in others),
    )
    return new_code_cell("install", {}, source.rstrip("\n"))


def portable(notebook: Notebook, first: Cell) -> Notebook:
    """Return a reader's notebook for any Jupyter: its kernel is python3, and its first code cell `first`."""
    kernel = notebook["metadata"]["kernelspec"] | {"name": "python3"}
    has_code = any(cell["cell_type"] == "code" for cell in notebook["cells"])
    metadata = {name: value for name, value in notebook["metadata"].items() if name != "d2l"}
    cells = [first, *notebook["cells"]] if has_code else notebook["cells"]
    return notebook | {"cells": cells, "metadata": metadata | {"kernelspec": kernel}}


def build_wheel(folder: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise BookError(f"the wheel of d2l_utils cannot be built:\n{done.stderr.strip()}")
    return next(folder.glob("*.whl"))


def files_of(edition: Edition, framework: str, wheel: Path) -> dict[str, bytes]:
    """Return the files of a bundle by their names."""
    content = project()
    first = first_cell(framework, wheel.name, content)
    python = content["tool"]["d2l"]["frameworks"][framework]["python"]
    files = {
        "README.md": readme(framework, python, wheel.name).encode(),
        "requirements.txt": "".join(f"{entry}\n" for entry in direct(framework, content)).encode(),
        # Without hashes: given one, pip would refuse a wheel that has none, such as ours.
        "pins.txt": "".join(f"{without_hashes(pin)}\n" for pin in pins(framework)).encode(),
        wheel.name: wheel.read_bytes(),
    }
    if edition.language:
        from book.translations.kernel_words import words_of  # with Babel, which English does without

        files[WORDS] = words_of(edition).encode()
    for slug in (*slugs(edition), "index"):
        notebook = read_notebook(edition.notebook("notebooks", framework, slug), "`make notebooks` writes it")
        files[f"{slug}.ipynb"] = dump(portable(notebook, first)).encode()
    return files


def write_bundles(edition: Edition, frameworks: Sequence[str]) -> None:
    """Write a zip for each framework into `_build/bundle`, in the current language; equal content gives equal bytes."""
    folder = edition.build / "bundle"
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as place:
        wheel = build_wheel(Path(place))
        for framework in frameworks:
            name = bundle_name(framework)
            path = folder / f"{name}.zip"
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                for file, data in sorted(files_of(edition, framework, wheel).items()):
                    archive.writestr(zipfile.ZipInfo(f"{name}/{file}"), data, zipfile.ZIP_DEFLATED)
            print(f"{path.relative_to(edition.root)}: {path.stat().st_size / 1e6:.2f} MB")
