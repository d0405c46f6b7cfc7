"""Each notebook of the bundles in `_build/bundle`, run outside the project where only its framework is installed.

It takes minutes and downloads, so `make test` comes here for BUNDLE=1 alone, and CI with one framework. BUNDLE_PYTHON
names another Python than the one that runs the tests. No time is looked at, so two notebooks run at once.
"""

import os
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest

from book import MODULES, ROOT, project
from book.bundle import direct

BUNDLES = sorted((ROOT / "_build" / "bundle").glob("d2l-*.zip"))
LEFT = ("JUPYTER_", "IPYTHONDIR", "D2L_", "MPLCONFIGDIR", "PYTHONPATH")  # what ties a process to the project


def run(*command, folder):
    """Run a program in `folder` as somebody does who has no project."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(LEFT)}
    environment |= {"XDG_CACHE_HOME": str(folder / "cache")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr


def execute(env):
    """Return the command that runs a notebook."""
    return str(env / "bin" / "jupyter-execute"), "--timeout=600"


@pytest.mark.parametrize("bundle", BUNDLES, ids=[path.stem for path in BUNDLES])
def test_every_notebook_runs_where_only_jupyter_and_the_framework_are_installed(bundle, tmp_path):
    framework = bundle.stem.removeprefix("d2l-")
    env = tmp_path / "env"
    run(os.environ.get("BUNDLE_PYTHON", sys.executable), "-m", "venv", str(env), folder=tmp_path)
    only = [entry for entry in direct(framework, project()) if MODULES[framework] in entry]
    run(str(env / "bin" / "pip"), "install", "--quiet", "nbclient", "ipykernel", *only, folder=tmp_path)
    zipfile.ZipFile(bundle).extractall(tmp_path)
    notebooks = sorted((tmp_path / bundle.stem).glob("*.ipynb"))
    assert len(notebooks) > 1
    with ThreadPoolExecutor(2) as pool:
        done = [pool.submit(run, *execute(env), str(path), folder=path.parent) for path in notebooks]
        for notebook in done:
            notebook.result()
