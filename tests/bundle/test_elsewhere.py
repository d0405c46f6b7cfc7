"""Each notebook of the bundles in `_build/bundle`, run outside the project where only its framework is installed.

It takes minutes and downloads, so `make test` comes here for BUNDLE=1 alone, and CI with one framework. BUNDLE_PYTHON
names another Python than the one that runs the tests.
"""

import os
import subprocess
import sys
import zipfile

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


@pytest.mark.parametrize("bundle", BUNDLES, ids=[path.stem for path in BUNDLES])
def test_every_notebook_installs_what_it_needs(bundle, tmp_path):
    framework = bundle.stem.removeprefix("d2l-")
    env = tmp_path / "env"
    run(os.environ.get("BUNDLE_PYTHON", sys.executable), "-m", "venv", str(env), folder=tmp_path)
    only = [entry for entry in direct(framework, project()) if MODULES[framework] in entry]
    zipfile.ZipFile(bundle).extractall(tmp_path)
    home = tmp_path / bundle.stem
    install = ["install", "--quiet", "nbclient", "ipykernel", *only, "-c", str(home / "pins.txt")]
    run(str(env / "bin" / "pip"), *install, folder=tmp_path)  # MXNet alone would come with a NumPy that is too new
    notebooks = sorted(home.glob("*.ipynb"))
    assert len(notebooks) > 1
    for path in notebooks:  # one by one: kernels that start at once may choose the same port
        run(str(env / "bin" / "jupyter-execute"), "--timeout=600", str(path), folder=path.parent)
